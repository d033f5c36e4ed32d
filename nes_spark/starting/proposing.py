"""Which column is what: what was told, what is beyond doubt, and what must still be told."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nes_spark.config.hiding import READERS, USUAL
from nes_spark.config.sections import IdentifierKind, default_kinds
from nes_spark.errors import ConfigError, InputError
from nes_spark.starting.looking import CITATION, Column, Look
from nes_spark.text.kinds import title_placeholder

#: A column is worth hiding when its values stand in the text of this share of the records.
IN_TEXT = 0.02
#: Kinds without a column of their own: they are found by their form, in any text.
BY_FORM = ("url", "email", "phone", "security")
#: From this share of texts with citations on they are judgments, whose own number names them.
CITED = 0.1
RULES = ("company", "person", "ticker", "url", "email", "phone", "security", "date", "literal")
_KIND = re.compile(r"[a-z][a-z0-9_]{0,39}")

#: Asks a person: the option, the question, the answers there are, the one that is likely.
Ask = Callable[[str, str, Sequence[str], str | None], str]


@dataclass(frozen=True)
class Told:
    """What options say; None where they say nothing."""

    secret: str | None = None
    document_id: str | None = None
    text: str | None = None
    turns: str | None = None
    period: str | None = None
    identifiers: tuple[str, ...] = ()
    no_identifiers: bool = False
    presentation: str | None = None
    against: str | None = None


@dataclass(frozen=True)
class Proposal:
    """Everything that a configuration needs to know about the files.

    Attributes
    ----------
    look : Look
        What was seen.
    secret, document_id, period : Column or None
        Columns; no ``document_id`` for texts as files, which have their names.
    body : Column
        Text or turns.
    identifiers : dict
        Kind -> columns.
    kinds : dict
        Kind -> how it is searched for, in the order in which they are declared.
    calls : bool
        Whether these are earnings calls, of which only the presentation is used.
    against : str
        Whom the release is to hide from, one of :data:`nes_spark.config.hiding.READERS`.
    unused : tuple of Column
        Columns that stay out.
    """

    look: Look
    secret: Column
    document_id: Column | None
    body: Column
    period: Column | None = None
    identifiers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kinds: Mapping[str, IdentifierKind] = field(default_factory=dict)
    calls: bool = False
    against: str = USUAL
    unused: tuple[Column, ...] = ()


def propose(look: Look, told: Told, ask: Ask | None = None) -> Proposal:
    """Decide which column is what.

    Parameters
    ----------
    look : Look
        What the files hold.
    told : Told
        Options.
    ask : callable, optional
        Asks a person for what is not told; without it, what is missing is an error.

    Returns
    -------
    Proposal

    Raises
    ------
    ConfigError
        When something that cannot be left open was not told: one line that names the option.
    InputError
        When an option names a column that is not there or cannot be used so.
    """
    body = _body(look, told, ask)
    short = [c for c in look.columns if c.kind in ("label", "number") and c is not body]
    # What an option gives another role is an id only where nothing else can be one.
    given = {name for kind in told.identifiers for name in _parse(kind)[1]}
    given |= {name for name in (told.secret, told.period) if name is not None}
    apart = [c for c in short if c.name not in given and _nearly_unique(c, look)]
    document_id = _document_id(look, told, apart or short, ask)
    free = [c for c in short if c is not document_id]
    secret = _secret(look, told, free, ask)
    free = [c for c in look.columns if c not in (secret, document_id, body)]
    period = _period(look, told, free, ask)
    identifiers = _identifiers(look, told, secret, [c for c in free if c is not period], ask)
    used = {name for names in identifiers.values() for name in names}
    roles = (secret, document_id, body, period)
    return Proposal(
        look,
        secret,
        document_id,
        body,
        period,
        {kind: tuple(names) for kind, names in identifiers.items()},
        _kinds(look, identifiers, told),
        _is_call(look, told),
        _against(told, ask),
        tuple(c for c in look.columns if c not in roles and c.name not in used),
    )


def _named(look: Look, option: str, name: str) -> Column:
    found = look.column(name)
    if found is None:
        listed = ", ".join(c.name for c in look.columns)
        raise InputError(f"{option} {name}: no such column; there are {listed}")
    if not found.filled:
        raise InputError(f"{option} {name}: the column is empty in all records looked at")
    return found


def _missing(option: str, why: str, choices: Sequence[Column]) -> ConfigError:
    listed = ", ".join(c.name for c in choices)
    shown = f"; columns that may be it: {listed}" if listed else ""
    return ConfigError(f"{option} is missing: {why}{shown}")


def _body(look: Look, told: Told, ask: Ask | None) -> Column:
    if look.texts is not None:
        if told.text or told.turns:
            raise InputError("--text and --turns: the files are the texts; leave these options out")
        return look.texts
    if told.text and told.turns:
        raise InputError("--text and --turns: give one of them")
    if told.text:
        found = _named(look, "--text", told.text)
        if found.kind not in ("text", "label"):
            raise InputError(f"--text {found.name}: holds {found.kind}, not one string a document")
        return found
    if told.turns:
        found = _named(look, "--turns", told.turns)
        if found.kind != "turns":
            raise InputError(
                f"--turns {found.name}: holds {found.kind}, not arrays of objects with speech"
            )
        return found
    found_bodies = [c for c in look.columns if c.kind in ("text", "turns")]
    if len(found_bodies) == 1:
        return found_bodies[0]
    if ask is not None and found_bodies:
        names = [c.name for c in found_bodies]
        return _named(
            look,
            "--text",
            ask("--text", "Which column holds the text? (No other is released.)", names, names[0]),
        )
    why = (
        "several columns hold long texts and one is read; name it, or join them into one before"
        if found_bodies
        else "no column holds texts of some length; name the column (--text or --turns)"
    )
    raise _missing("--text", why, found_bodies)


#: Share of records that an id tells apart.
_NEARLY = 0.9


def _document_id(look: Look, told: Told, short: Sequence[Column], ask: Ask | None) -> Column | None:
    if look.texts is not None:
        return None
    if told.document_id:
        found = _named(look, "--id", told.document_id)
        if not _nearly_unique(found, look):
            raise InputError(
                f"--id {found.name}: must be filled and different in nearly every record; "
                f"{found.distinct} values in {look.records} records"
            )
        return found
    unique = [c for c in short if c.filled == 1 and c.distinct == look.records]
    likely = [c for c in unique if re.search(r"(?:^|_|\b)(?:id|key|number|no|nr)$", c.name.lower())]
    if len(likely) == 1:
        return likely[0]
    # "dated" is no id because one row of "doc_ref" stands there twice
    others = [
        c
        for c in look.columns
        if c.kind in ("label", "number")
        and c not in unique
        and _nearly_unique(c, look)
        and c.days < 0.5
    ]
    doubted = len(unique) == 1 and bool(others) and not _looks_like_an_id(unique[0])
    if len(unique) == 1 and not doubted:
        return unique[0]
    if ask is not None and unique:
        names = [c.name for c in (*others, *unique)] if doubted else [c.name for c in unique]
        asked = ask(
            "--id",
            "Which column tells documents apart?",
            names,
            names[0] if doubted else (likely or unique)[0].name,
        )
        return _named(look, "--id", asked)
    nearly = [c for c in short if _nearly_unique(c, look)]
    why = "no column is filled and different in every record; add one to the files"
    if doubted:
        found = others[0]
        twice = round(found.filled * look.records) - found.distinct
        why = (
            f"{found.name} has {found.distinct} values in {look.records} records "
            f"({twice} duplicates), and {unique[0].name}, which is different in every record, does "
            "not look like an id; name one of them: documents without an id of their own are put "
            "aside"
        )
        raise _missing("--id", why, [*others, *unique])
    if unique:
        why = "several columns are different in every record"
    elif nearly:
        found = nearly[0]
        why = (
            f"{found.name} has {found.distinct} values in {look.records} records: name it, and "
            "documents without an id of their own are put aside"
        )
    raise _missing("--id", why, unique or nearly)


#: An id has figures and hardly more characters.
_ID_CHARACTERS = 24


def _looks_like_an_id(column: Column) -> bool:
    """Whether the values of a column have figures, are short, and are neither days nor names."""
    short = column.lengths is None or column.lengths[1] <= _ID_CHARACTERS
    return short and column.digits >= 0.9 and column.days < 0.5 and column.names < 0.5


def _nearly_unique(column: Column, look: Look) -> bool:
    """Whether a run can tell documents by a column; it puts aside what has no id of its own."""
    return column.filled >= _NEARLY and column.distinct >= _NEARLY * look.records


def _secret(look: Look, told: Told, free: Sequence[Column], ask: Ask | None) -> Column:
    choices = [c for c in free if c.filled and c.distinct > 1 and not c.period]
    if told.secret:
        found = _named(look, "--secret", told.secret)
        if found.kind not in ("label", "number"):
            raise InputError(f"--secret {found.name}: holds {found.kind}, not one value a document")
        if found.distinct < 2:
            raise InputError(
                f"--secret {found.name}: has one and the same value in all records looked at; "
                "swapping needs at least two"
            )
        return found
    if ask is None:
        raise _missing(
            "--secret", "the column with what nobody may be able to tell from a text", choices
        )
    if not choices:
        raise InputError("no column has at least two short values: there is no secret to keep")
    names = [c.name for c in choices]
    likely = max(choices, key=lambda c: (c.in_text, -c.distinct)).name
    question = "Which column holds what nobody may be able to tell from a text?"
    return _named(look, "--secret", ask("--secret", question, names, likely))


def _period(look: Look, told: Told, free: Sequence[Column], ask: Ask | None) -> Column | None:
    if told.period is not None:
        return None if told.period == "none" else _named(look, "--period", told.period)
    likely = [c for c in free if c.period and c.distinct < look.records]
    if ask is None or not likely:
        return None
    names = ["none", *(c.name for c in likely)]
    question = "Which column tells cross-sections apart (a quarter, a year)?"
    asked = ask("--period", question, names, likely[0].name)
    return None if asked == "none" else _named(look, "--period", asked)


#: What becomes of a text, by whom it is to hide from.
_WHOM = """\
Who must not be able to tell whose a text is?
   names    who knows names: they are exchanged, and dates move
   words    who knows what each is about too: figures change, a tenth of the words goes,
            and passages are short
   memory   a language model that remembers the texts: passages of fifty words by
            themselves, three tenths of their words gone"""


def _against(told: Told, ask: Ask | None) -> str:
    if told.against is not None or ask is None:
        return told.against or USUAL
    return ask("--against", _WHOM, READERS, USUAL)


def kind_of(column: str) -> str:
    """Return a name for a kind of identifier made of a column's name.

    Examples
    --------
    >>> kind_of("case.Judges"), kind_of("company_name"), kind_of("MRN #")
    ('judge', 'company', 'mrn')
    """
    words = re.findall(r"[a-z0-9]+", column.rpartition(".")[2].lower())
    words = [w for w in words if w not in ("name", "names", "id", "ids", "list")] or words
    name = "_".join(words)
    if name.endswith("s") and not name.endswith(("ss", "us", "is")):
        name = f"{name[:-3]}y" if name.endswith("ies") else name[:-1]
    return name if _KIND.fullmatch(name) else "identifier"


def unsearched(proposal: Proposal) -> list[Column]:
    """Return the columns whose values stand in the texts, and for which nobody will look."""
    return [c for c in proposal.unused if _stands_in_texts(c, proposal.look)]


def _stands_in_texts(column: Column, look: Look) -> bool:
    return column.in_text >= IN_TEXT and column.kind != "turns" and not _sorts(column, look)


def _identifiers(
    look: Look, told: Told, secret: Column, free: Sequence[Column], ask: Ask | None
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {kind_of(secret.name): [secret.name]}
    seen = [c for c in free if _stands_in_texts(c, look)]
    if told.identifiers and told.no_identifiers:
        raise InputError("--identifier and --no-identifiers: give one of them")
    if told.identifiers:
        for given in told.identifiers:
            kind, columns, _ = _parse(given)
            for name in columns:
                column = _named(look, "--identifier", name)
                if column.kind in ("text", "turns"):
                    raise InputError(f"--identifier {kind}={name}: holds texts, not names")
                if name not in found.setdefault(kind, []):
                    found[kind].append(name)
        return found
    if told.no_identifiers or not seen:
        return found
    if ask is None:
        listed = ", ".join(c.name for c in seen)
        hint = " ".join(f"--identifier {kind_of(c.name)}={c.name}" for c in seen)
        raise ConfigError(
            f"--identifier is missing: values of {listed} stand in the texts; give {hint} to have "
            "them replaced, or --no-identifiers"
        )
    for column in seen:
        share = f"{column.in_text:.0%}"
        question = f"Values of {column.name} stand in the text of {share}. Replace them?"
        if ask("--identifier", question, ["yes", "no"], "yes") == "yes":
            found.setdefault(kind_of(column.name), []).append(column.name)
    return found


#: Share of the records that a column of sorts has different values for, at most.
_SORTS = 0.1


def _sorts(column: Column, look: Look) -> bool:
    """Whether a column sorts texts by ordinary words ("letter", "referral"), which name nobody."""
    few = column.distinct <= max(2, _SORTS * look.records)
    return few and column.ordinary >= 0.9


def _parse(given: str) -> tuple[str, list[str], str | None]:
    head, separator, columns = given.partition("=")
    kind, _, rule = head.partition(":")
    names = [c.strip() for c in columns.split(",") if c.strip()]
    if not separator or not names or not _KIND.fullmatch(kind):
        raise InputError(
            f"--identifier {given!r}: must be KIND=COLUMN[,COLUMN], for example judge=judges; "
            "a kind is a word of small letters"
        )
    if rule and rule not in RULES:
        raise InputError(f"--identifier {given!r}: no rule {rule!r}; there are {', '.join(RULES)}")
    return kind, names, rule or None


def _kinds(
    look: Look, identifiers: Mapping[str, Sequence[str]], told: Told
) -> dict[str, IdentifierKind]:
    """Declare what is used; kinds that need no column come last, by their form."""
    known = default_kinds()
    rules = {kind: rule for kind, _, rule in map(_parse, told.identifiers)}
    kinds: dict[str, IdentifierKind] = {}
    for kind, names in identifiers.items():
        rule = rules.get(kind)
        if rule is None and kind in known:
            kinds[kind] = known[kind]
            continue
        columns = [c for n in names if (c := look.column(n)) is not None]
        # a pseudonym beside the name of whom it stands for makes no company of that person
        coded = [c.kind == "number" or c.digits >= 0.5 for c in columns]
        called = [c for c, code in zip(columns, coded, strict=True) if not code]
        people = bool(called) and min(c.names for c in called) >= 0.5
        # "2018 IEHC 283", "F1026": parts of them are years and counts in any text
        numbers = columns and all(coded)
        days = columns and min(c.days for c in columns) >= 0.5
        listed = "date" if days else "literal" if numbers else "company"
        chosen = rule or ("person" if people else listed)
        plain = title_placeholder(kind)
        many = chosen == "person"
        kinds[kind] = IdentifierKind.model_validate(
            {"placeholder": f"{plain[:-1]} #]" if many else plain, "rule": chosen}
        )
    if _is_call(look, told):  # speakers, aliases and people whom a call presents
        for kind in ("company", "person"):
            if known[kind].rule not in {k.rule for k in kinds.values()}:
                kinds[kind] = known[kind]
    elif "person" in {k.rule for k in kinds.values()} and kinds.get("person") in (
        None,
        known["person"],
    ):
        # first, and so that of people whom a text presents: a columnist is not "[Columnist 1]"
        # beside them; and nobody is an executive but in calls
        others = {kind: of for kind, of in kinds.items() if kind != "person"}
        kinds = {"person": IdentifierKind(placeholder="[Person #]", rule="person"), **others}
    for kind in BY_FORM:
        kinds.setdefault(kind, known[kind])
    if look.cited >= CITED and "citation" not in kinds:
        kinds["citation"] = IdentifierKind(
            placeholder="[Citation]", rule="pattern", pattern=CITATION
        )
    return kinds


def _is_call(look: Look, told: Told) -> bool:
    if told.presentation is not None:
        return told.presentation == "earnings_call"
    return look.calls >= 0.5
