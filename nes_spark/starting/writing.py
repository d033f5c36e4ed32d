"""A configuration for somebody's files, with a comment for every choice."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from nes_spark.config import Config, build_config
from nes_spark.config.hiding import FURTHER, PASSAGE, TELLING
from nes_spark.config.sections import IdentifierKind
from nes_spark.starting.proposing import Proposal

#: Characters of a chunk, by and large: what the number of components goes by.
_CHUNK = 400
#: Characters of a word, with what stands behind it.
_WORD = 6
#: Chunks that a component should have.
_PER_COMPONENT = 60
#: Characters of a line behind which comments are set below each other.
_WIDE = 36
_PLAIN = re.compile(r"[A-Za-z_][\w./-]*")


def components_for(documents: int, characters: int, secrets: int) -> int:
    """Return how many mixture components a corpus can bear, from 2 to 30.

    Parameters
    ----------
    documents, characters : int
        Documents, and characters of one.
    secrets : int
        Different secrets. Of few, more components than half of them would each be the texts of one,
        which finds nobody to exchange names with.
    """
    chunks = documents * max(1, characters / _CHUNK)
    return int(min(30, max(2, min(chunks // _PER_COMPONENT, secrets // 2))))


def terms_for(characters: int) -> int:
    """Return how many terms a document of so many characters has: one word in fifty.

    Parameters
    ----------
    characters : int
        Characters of a usual document.

    Returns
    -------
    int
        From 5 to 100.

    Examples
    --------
    >>> terms_for(18_000), terms_for(1_200), terms_for(120)
    (60, 5, 5)
    """
    return min(100, max(5, round(characters / _WORD / 50)))


def _scalar(value: str) -> str:
    """A string as YAML has it, quoted where YAML would read something else."""
    if _PLAIN.fullmatch(value) and yaml.safe_load(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _lines(pairs: list[_Line], indent: int) -> list[str]:
    """Lines of YAML with their comments set below each other, but behind a long line."""
    widths = [len(text) for text, comment in pairs if comment]
    width = max((w for w in widths if w <= _WIDE), default=0)
    pad = " " * indent
    return [
        f"{pad}{text.ljust(width) if comment else text}{'   # ' + comment if comment else ''}"
        for text, comment in pairs
    ]


def write_configuration(proposal: Proposal, name: str, metadata_table: str | None = None) -> str:
    """Return a configuration in YAML, every choice with its reason.

    Parameters
    ----------
    proposal : Proposal
        Which column is what.
    name : str
        Shown in the report and in MLflow.
    metadata_table : str, optional
        For texts as files.

    Returns
    -------
    str
        It is valid: it was read back and checked.

    Raises
    ------
    ConfigError
        When what was told makes no valid configuration.
    """
    from nes_spark.run.checks import check_config

    text = "\n".join(_content(proposal, name, metadata_table)) + "\n"
    check_config(read_back(text))
    return text


def read_back(text: str) -> Config:
    """Validate a configuration that was just written."""
    content: Any = yaml.safe_load(text)
    return build_config(content, "the new configuration")


#: A line of YAML and its comment.
_Line = tuple[str, str]
#: Categories of names.
_CATEGORIES = "Organization, Person, Event, Product, Location, Date, Name"
_KINDS = """\
  # How each kind is searched for and what replaces it; '#' is numbered in each document.
  # company: also short forms, initials, web domains. person: also surnames, first names.
  # date: a listed day, however it is written. literal: the very words, or
  # the long number in them.
  # url, email, phone, security: by their form, in any text. pattern: a regular expression.
  # What must stay secret is searched for whether or not a kind lists it.
  kinds:"""
_NOT_ENGLISH = """\
# CAREFUL: only {share:.0%} of the texts look like English. The bundled recogniser misses names
# in other languages: set entities.recognizer to the name of a spaCy pipeline for yours."""
_HEAD = """\
# Written by 'nes-spark init' after a look at {seen} records.
# Keys that are not here keep their defaults: 'nes-spark config' lists all with their ranges,
# 'nes-spark config KEY' explains one. Try it:
#   nes-spark run THIS_FILE --plan         what will be done, without doing it
#   nes-spark run THIS_FILE --output out
name: {name}
"""


def _content(proposal: Proposal, name: str, metadata_table: str | None) -> list[str]:
    look, body, calls = proposal.look, proposal.body, proposal.calls
    seen = f"{look.records:,}" if look.whole else f"{look.records:,} of about {look.estimate:,}"
    source = [
        (f"path: {json.dumps(look.path, ensure_ascii=False)}", "--input overrides it"),
        (f"format: {look.format}", "jsonl, csv, parquet, or text (one file a document)"),
    ]
    if metadata_table is not None:
        table = json.dumps(metadata_table, ensure_ascii=False)
        source.append((f"metadata_table: {table}", "whose each file is"))
    names = [
        (f"{_scalar(kind)}: [{', '.join(_scalar(n) for n in columns)}]", "")
        for kind, columns in proposal.identifiers.items()
    ]
    part = (
        ("method: earnings_call", "only what is said before the questions; none: everything")
        if calls
        else ("method: none", "the whole text; earnings_call: what comes before the questions")
    )
    speakers = str(body.kind == "turns" or calls).lower()
    aliases = "use" if calls else '"off"'
    frames = [
        (f"speakers: {speakers}", "names of speakers count as people"),
        (f"mined_aliases: {aliases}", "names found by frames ('welcome to the X call')"),
        ("mined_people: true", "people whom a text presents ('Ann Roe, our CFO')"),
    ]
    kinds = [
        f"    {_scalar(kind)}: {{placeholder: {json.dumps(found.placeholder)}, rule: {found.rule}"
        f"{_pattern(found)}}}"
        for kind, found in proposal.kinds.items()
    ]
    unused = ", ".join(c.name for c in proposal.unused)
    length = (body.lengths or (0, 0, 0))[1]
    # the first records tell of all: of secrets that hardly come again there are as many more
    secrets = proposal.secret.distinct
    if 2 * secrets > look.records:
        secrets = int(secrets * max(1.0, look.estimate / look.records))
    components = components_for(look.estimate, length, secrets)
    required = next(iter(proposal.identifiers))
    short = f"max_words: {PASSAGE}", "the less a passage holds, the less it tells by itself"
    apart = "publish: chunks", "passages by themselves: no file says which are of one text"
    share = body.english or 0.0
    return [
        *([_NOT_ENGLISH.format(share=share)] if share < 0.5 else []),
        _HEAD.format(seen=seen, name=_scalar(name)),
        "input:",
        *_lines(source, 2),
        "  columns:",
        *_lines(_columns(proposal), 4),
        "    # Direct identifiers that the files list: kind -> columns. They are replaced before",
        "    # anything else looks at a text. Each kind is declared under identifiers.kinds.",
        "    identifiers:",
        *_lines(names, 6),
        *([f"    # Columns that are not used: {unused}"] if unused else []),
        "",
        "presentation:",
        *_lines([part], 2),
        "",
        "identifiers:",
        _KINDS,
        *kinds,
        *_lines(frames, 2),
        "  # allow: [Zoom]      # forms that stay although a rule takes them for an identifier",
        "",
        *_section("chunking", short, on=proposal.against != "names"),
        "",
        "entities:",
        *_lines(_entities(proposal, terms_for(length)), 2),
        "",
        *_section(
            "mixture",
            (f"n_components: {components}", "topics within which names are exchanged"),
        ),
        "",
        "releases:",
        *_lines(_releases(proposal), 2),
        "",
        *_section(
            "swapping",
            ("matching: similar", "names of like shape and kind meet: sentences stay fluent"),
        ),
        "",
        *_section(
            "choice",
            ("rule: lowest_risk", "publish the candidate with the least risk that is left"),
        ),
        "",
        *_section(
            "gates",
            (f"require: [{required}]", "quarantine documents that have none to search for"),
            on=False,
        ),
        "",
        *_section("output", apart, on=proposal.against == "memory"),
    ]


def _entities(proposal: Proposal, terms: int) -> list[_Line]:
    more = proposal.against != "names"
    instead = [] if more else [(f"categories: [{_CATEGORIES}]", ""), ("# With further:", "")]
    telling = TELLING[proposal.against] or TELLING["words"]
    currency = proposal.body.currency
    return [
        ("recognizer: bundled", "made for business English; or the name of a spaCy pipeline"),
        ("sweep: treat", "what looks like a name but was not recognised: category Name"),
        *_on(
            more,
            (f"telling: {telling}", "share of all words to leave out, those that tell most"),
        ),
        *instead,
        *_on(
            more,
            (f"categories: [{_CATEGORIES}, {', '.join(FURTHER)}]", ""),
            (f"terms: {terms}", "of each document: one word in fifty"),
        ),
        *_on(
            more and currency is not None,
            (f"currency: {currency or 'USD'}", "of most texts: amounts of others come in with it"),
        ),
    ]


def _releases(proposal: Proposal) -> list[_Line]:
    further = f"further: [{', '.join(FURTHER)}]"
    return [
        ("plan: whole", "until nothing that can be exchanged stays; pairs: the paper"),
        ("swap: [Organization, Person, Product, Location, Name]", "kinds of names exchanged"),
        ('must_change: {Event: "[Event]"}', "replaced everywhere"),
        ("shift: [Date]", "by a secret number of days a document; order and gaps stay"),
        ("leftover: [donor, placeholder]", "for a name without a partner: the first that applies"),
        *_on(
            proposal.against != "names",
            (further, "figures, and words that set a text apart: they tell too"),
        ),
        *_on(
            False,
            ("donors: 96", "chunks among whose names the likest are looked for"),
            ("fitting: false", "a near word for a term, not [Term]: hides more, reads worse"),
        ),
    ]


def _section(name: str, line: _Line, on: bool = True) -> list[str]:
    """A section of one line, as a comment where it is not on."""
    lines = [f"{name}:", *_lines([line], 2)]
    return lines if on else [f"# {text}" for text in lines]


def _on(holds: bool, *lines: _Line) -> list[_Line]:
    """Lines, as comments where something does not hold."""
    return [(text if holds else f"# {text}", comment) for text, comment in lines]


def _pattern(kind: IdentifierKind) -> str:
    """What a kind with a pattern has besides its rule; a judgment's number leads to its parties."""
    return "" if kind.pattern is None else f", pattern: {json.dumps(kind.pattern)}"


def _columns(proposal: Proposal) -> list[_Line]:
    secret, body, period = proposal.secret, proposal.body, proposal.period
    pairs = []
    if proposal.document_id is not None:
        pairs.append((f"document_id: {_scalar(proposal.document_id.name)}", "unique"))
    pairs.append(
        (f"metadata: {_scalar(secret.name)}", "what nobody may be able to tell from a text")
    )
    if period is not None:
        pairs.append(
            (
                f"period: {_scalar(period.name)}",
                "--period VALUE takes the documents of one; stands in the release",
            )
        )
    if body.kind == "turns":
        pairs.append((f"turns: {_scalar(body.name)}", "an array of speaker turns"))
        pairs.append((f"turn_text: {_scalar(body.turn_text or 'text')}", "what is said"))
        if body.turn_speaker:
            pairs.append((f"turn_speaker: {_scalar(body.turn_speaker)}", "who says it"))
    elif proposal.look.texts is None:
        pairs.append((f"text: {_scalar(body.name)}", "the whole text as one string"))
    else:
        pairs.append(("text: text", "the content of each file"))
    return pairs
