"""Direct identifiers of a document: which there are, where they stand, and their suppression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nes_spark.config import IdentifierKind, IdentifiersConfig
from nes_spark.config.sections import METADATA_KIND
from nes_spark.errors import ConfigError
from nes_spark.text.aliases import mine_aliases
from nes_spark.text.defining import defined_names
from nes_spark.text.forms import is_name, name_words, squeeze
from nes_spark.text.kinds import title_placeholder
from nes_spark.text.matching import Identifier, Match, Matcher
from nes_spark.text.numbering import (
    find_all,
    number_identifiers,
    number_matches,
    replace_matches,
)
from nes_spark.text.people import mine_people
from nes_spark.text.presentation import Turn


def match_identifiers(
    text: str,
    identifiers: Iterable[Any],
    kinds: Mapping[str, IdentifierKind] | None = None,
    allow: Iterable[str] = (),
) -> list[Match]:
    """Return the occurrences of direct identifiers in a text; see :class:`Matcher`."""
    return Matcher(identifiers, kinds, allow).find(text)


def find_identifiers(
    text: str,
    identifiers: Iterable[Any],
    kinds: Mapping[str, IdentifierKind] | None = None,
    allow: Iterable[str] = (),
) -> list[tuple[int, int, str]]:
    """Return where direct identifiers stand in a text.

    Parameters
    ----------
    text : str
        Any text.
    identifiers : iterable of Identifier, rows or mappings
        With fields ``kind``, ``value`` and ``placeholder``.
    kinds : mapping of str to IdentifierKind, optional
        Configured kinds; the default ones when omitted. Kinds with the rules ``url``, ``email``,
        ``phone`` and ``pattern`` are found without being listed among the identifiers.
    allow : iterable of str
        Forms that are never found.

    Returns
    -------
    list of (start, end, kind)
        Half-open offsets in code points, ascending, without overlaps.

    Examples
    --------
    >>> names = [Identifier("company", "Monro Inc", "[Company Name]")]
    >>> find_identifiers("MONRO's site is monro.com.", names)
    [(0, 5, 'company'), (16, 25, 'url')]
    """
    return [(m.start, m.end, m.kind) for m in match_identifiers(text, identifiers, kinds, allow)]


def suppress(
    text: str,
    identifiers: Iterable[Any],
    kinds: Mapping[str, IdentifierKind] | None = None,
    allow: Iterable[str] = (),
) -> tuple[str, list[Match]]:
    """Replace the direct identifiers in a text by placeholders (paper, section 3.1.3).

    Parameters are those of :func:`find_identifiers`.

    Returns
    -------
    (str, list of Match)
        The new text, and what was replaced, with offsets in the old one. Possessives stay:
        ``Acme's`` becomes ``[Company Name]'s``.

    Examples
    --------
    >>> suppress("Thanks, Ann. Acme Inc. grew.", [
    ...     Identifier("company", "Acme", "[Company Name]"),
    ...     Identifier("person", "Ann Roe", "[Executive 1]")])[0]
    'Thanks, [Executive 1]. [Company Name] grew.'
    """
    matches = number_matches(find_all(text, Matcher(identifiers, kinds, allow)))
    return replace_matches(text, matches), matches


def speaker_names(turns: Sequence[Turn], kept: Sequence[int] = ()) -> list[str]:
    """Return the names among the speaker labels of a call.

    Labels such as "Operator" or "Speaker 3" are no names. Those who speak in the turns `kept` come
    first.
    """
    order = [turns[i] for i in kept] + list(turns)
    labels = dict.fromkeys(re.sub(r"\s+", " ", t.speaker).strip() for t in order)
    names = []
    for label in labels:
        clean = re.sub(r"['’]s$", "", label)
        if is_name(clean):
            names.append(clean)
    return names


def known_identifiers(
    text: str,
    given: Mapping[str, Sequence[str]],
    config: IdentifiersConfig,
    turns: Sequence[Turn] = (),
    kept: Sequence[int] = (),
    secret: tuple[str, str] | None = None,
) -> tuple[list[Identifier], list[str]]:
    """List the direct identifiers of a document, numbered.

    Parameters
    ----------
    text : str
        The document's text; decides the order of first appearance.
    given : mapping of str to sequence of str
        Kind -> values from the input.
    config : IdentifiersConfig
        Kinds, and whether speakers and mined aliases count.
    turns : sequence of Turn
        All turns of the call, for speaker names and aliases.
    kept : sequence of int
        Positions of the turns that `text` is made of.
    secret : (str, str), optional
        The column and the value that must stay secret; see :func:`secret_identifiers`.

    Returns
    -------
    (list of Identifier, list of str)
        The identifiers with placeholders in which ``#`` is numbered by order of first appearance
        in `text` (those that do not appear come last), and the aliases that were mined but, with
        ``mined_aliases: propose``, not used.

    Raises
    ------
    ConfigError
        When a kind of `given` is not declared.
    """
    values: list[tuple[str, str]] = []
    for kind, group in given.items():
        if kind not in config.kinds:
            raise ConfigError(
                f"kind {kind!r} of a direct identifier is not declared; declared are "
                f"{', '.join(sorted(config.kinds)) or 'none'} (identifiers.kinds)"
            )
        people_only = config.kinds[kind].rule == "person"
        values.extend((kind, v) for v in group if not people_only or is_name(v))
    by_rule: dict[str, str] = {}
    for name, kind_config in config.kinds.items():
        by_rule.setdefault(kind_config.rule, name)
    people = list(dict.fromkeys(v for k, v in values if config.kinds[k].rule == "person"))
    speakers = speaker_names(turns, kept)
    if config.speakers and (person := by_rule.get("person")):
        known = {squeeze(" ".join(name_words(p))) for p in people}
        # Presenters first: a first name that several people share is taken for theirs.
        front = [s for s in speakers if squeeze(" ".join(name_words(s))) not in known]
        values.extend((person, name) for name in front)
        people += front
    proposed: list[str] = []
    companies = [v for k, v in values if k == by_rule.get("company")]
    if config.mined_aliases != "off" and (company := by_rule.get("company")):
        symbols = [v for k, v in values if config.kinds[k].rule == "ticker"]
        mined = mine_aliases(turns or [Turn(text)], companies, [*people, *speakers], symbols)
        if config.mined_aliases == "use":
            values.extend((company, alias) for alias in mined)
            companies += mined
        else:
            proposed = mined
    if config.mined_people and (person := by_rule.get("person")):
        last = max(kept, default=len(turns) - 1)
        presented = mine_people(turns[: last + 1] or [Turn(text)], companies, people)
        values.extend((person, name) for name in presented)
    unique = list(dict.fromkeys((k, v) for k, v in values if squeeze(v)))
    plain = [Identifier(k, v, config.kinds[k].placeholder) for k, v in unique]
    matcher = Matcher.of(plain, config)
    if more := [pair for pair in defined_names(text, matcher) if pair not in unique]:
        plain += [Identifier(k, v, config.kinds[k].placeholder) for k, v in more]
        matcher = Matcher.of(plain, config)
    if secret is not None and (whole := secret_identifiers(*secret, matcher)):
        plain += whole
        matcher = Matcher.of(plain, config)
    if any("#" in i.placeholder for i in plain):
        plain = number_identifiers(text, plain, matcher)
    return plain, proposed


def secret_identifiers(column: str, value: str, known: Matcher) -> list[Identifier]:
    """Return what must be searched for so that the value that must stay secret is always found.

    Parameters
    ----------
    column : str
        Input column that holds it; the placeholder is made of its name: ``court`` gives
        ``[Court]``.
    value : str
        The value.
    known : Matcher
        Of what is searched for already.

    Returns
    -------
    list of Identifier
        Nothing where the known identifiers find the whole value, in small letters too; else one of
        kind :data:`~nes_spark.config.sections.METADATA_KIND`, which is found by whole forms and
        which ``allow`` does not touch. A value that is one ordinary word, or a person's name made
        of such, is found with its capitals only: "harbor" and "will grant" are said anywhere.
    """
    own = [item for item in known.items if squeeze(item.value) == squeeze(value)]
    if known.covers(value):
        plain = len(re.findall(r"[^\W_]+", value)) < 2
        person = any(known.rule_of(item.kind) == "person" for item in own)
        if plain or person or known.covers(value.lower()):
            return []
    placeholder = own[0].placeholder if own else title_placeholder(column)
    return [Identifier(METADATA_KIND, value, placeholder)]
