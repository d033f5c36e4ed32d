"""Every table of the pipeline, declared once.

Types are Spark SQL types. This module does not import Spark, so that kernels may read column names
from it. Offsets are half-open ``[start, end)`` and count Unicode code points of the text that the
comment names. Densities are relative to the uniform distribution on the sphere, logs are natural.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

#: What becomes of the entities in a swap: in chunk ``side`` ('a' or 'b') ``old`` becomes ``new``.
EXCHANGED = "array<struct<side:string,category:string,old:string,new:string>>"

#: Replacements from a text to another, in order; offsets in the text before.
EDITS = (
    "array<struct<start:int,end:int,old:string,new:string,category:string,"
    "old_entity:string,new_entity:string>>"
)


@dataclass(frozen=True)
class Column:
    """A column: name, Spark SQL type, whether nulls may occur, and what it means."""

    name: str
    type: str
    comment: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """A table: name, what one row is, its columns, and the columns that identify a row."""

    name: str
    comment: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [c.name for c in self.columns]

    @property
    def ddl(self) -> str:
        """The schema as a Spark DDL string, usable in ``mapInPandas`` and ``createDataFrame``."""
        return ", ".join(f"`{c.name}` {c.type}" for c in self.columns)


def fields_of(ddl: str) -> list[tuple[str, str]]:
    """Read the names and types of a schema, or of the inside of a struct.

    Parameters
    ----------
    ddl : str
        As ``a string, `b` array<int>`` or ``a:string,b:array<int>``.

    Returns
    -------
    list of (str, str)
        Name and Spark SQL type, in order.

    Examples
    --------
    >>> fields_of("`order` int, found map<string,array<int>>")
    [('order', 'int'), ('found', 'map<string,array<int>>')]
    """
    parts, depth, start = [], 0, 0
    for i, character in enumerate(ddl):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append(ddl[start:i])
            start = i + 1
    found = []
    for part in [*parts, ddl[start:]]:
        text = part.strip()
        if text.startswith("`"):
            name, _, kind = text[1:].partition("`")
        else:
            end = min(k for k in (text.find(":"), text.find(" ")) if k > 0)
            name, kind = text[:end], text[end:]
        found.append((name, kind.lstrip(": ").strip()))
    return found


def arrow_schema(ddl: str) -> pa.Schema:
    """Return a schema as Arrow reads it, from the same words as Spark's."""
    import pyarrow as pa

    return pa.schema([(name, _arrow_type(kind)) for name, kind in fields_of(ddl)])


def _arrow_type(kind: str) -> pa.DataType:
    import pyarrow as pa

    outer, _, inner = kind.partition("<")
    inner = inner.removesuffix(">")
    if outer == "array":
        return pa.list_(_arrow_type(inner))
    if outer == "struct":
        return pa.struct([(name, _arrow_type(part)) for name, part in fields_of(inner)])
    if outer == "map":
        key, _, value = inner.partition(",")
        return pa.map_(_arrow_type(key.strip()), _arrow_type(value.strip()))
    return {
        "string": pa.string(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
    }[outer]


DOCUMENTS = Table(
    "documents",
    "One accepted document, cut down to its presentation part.",
    (
        Column("document_id", "string", "unique id of the document, as given in the input"),
        Column("metadata", "string", "what must stay secret, for example the company"),
        Column("period", "string", "cross-section the document belongs to, e.g. 2020Q3", True),
        Column("text", "string", "presentation part, original wording, never published"),
        Column(
            "identifiers",
            "array<struct<kind:string,value:string,placeholder:string>>",
            "direct identifiers known for this document and what replaces each",
        ),
        Column("covariates", "map<string,string>", "e.g. sector; for equal-covariate swaps"),
        Column("n_turns", "int", "speaker turns in the input; 0 when the input was one string"),
        Column("n_turns_kept", "int", "speaker turns in the presentation part"),
        Column("boundary", "string", "code of the rule that ended the presentation part"),
        Column(
            "qa_start_turn",
            "int",
            "0-based index of the first turn after the presentation; null where none follow",
            True,
        ),
        Column(
            "proposed_aliases",
            "array<string>",
            "company names found by frames such as 'we at X' that are not among the identifiers",
        ),
        Column(
            "known_words",
            "double",
            "share of the words that are frequent in English, which the recogniser knows; English "
            "prose has .3 to .6, other languages below .2; null where there is no word",
            True,
        ),
        Column(
            "mentions",
            "array<struct<span:int,start:int,end:int,label:string,fate:string>>",
            "given spans in text, by number; fate as in table given_spans, empty while they may be "
            "used; null where none were asked for",
            True,
        ),
    ),
    ("document_id",),
)

QUARANTINE = Table(
    "quarantine",
    "One input record that was not accepted.",
    (
        Column("document_id", "string", "id where it could be read", True),
        Column("position", "string", "where it stood in the input, e.g. calls.jsonl:17"),
        Column("reason", "string", "code, one of nes_spark.text.reading.REASONS"),
        Column("message", "string", "one line for a person; quotes no text of the document"),
    ),
    ("position",),
)

GIVEN_AWAY = Table(
    "given_away",
    "One word of a name that a chunk gave away and that still stands in its released text.",
    (
        Column("chunk_id", "string", "chunk"),
        Column("word", "string", "the word, or a whole name of ordinary words"),
    ),
    ("chunk_id", "word"),
)

CHUNKS = Table(
    "chunks",
    "One semantically uniform chunk of a document.",
    (
        Column("chunk_id", "string", "document_id + '#' + position, zero-padded to five digits"),
        Column("document_id", "string", "document"),
        Column("metadata", "string", "secret of the document"),
        Column("position", "int", "0-based position of the chunk in its document"),
        Column("start", "int", "offset of the chunk in documents.text"),
        Column("end", "int", "end offset (exclusive) of the chunk in documents.text"),
        Column("text", "string", "chunk text after suppression of direct identifiers"),
        Column("gap", "string", "white space between the chunk before and this one"),
        Column("n_words", "int", "white-space separated words of text"),
        Column("n_suppressed", "int", "direct identifiers replaced in this chunk"),
    ),
    ("chunk_id",),
)

LEAKS = Table(
    "leaks",
    "Direct identifiers still found in one released text, counted; no text is quoted.",
    (
        Column("chunk_id", "string", "chunk"),
        Column("document_id", "string", "document of the chunk"),
        Column(
            "identifier_document_id",
            "string",
            "document that the identifier belongs to; of several that share it the first",
        ),
        Column("kind", "string", "configured kind, e.g. company"),
        Column(
            "rule",
            "string",
            "how it was recognised: name, part, ticker, url, email, phone, date, literal, "
            "pattern; other_document for names of another document, which swapping may put there; "
            "swapped_in for a part of the document's own name, or a day, that came with a swap, "
            "and for a number or address that is one only with what came",
        ),
        Column("n", "bigint", "occurrences"),
    ),
    ("chunk_id", "identifier_document_id", "kind", "rule"),
)

RECOGNISED = Table(
    "recognised",
    "One name as the recogniser sees it: before anything that looks beyond the chunk.",
    (
        Column("document_id", "string", "document"),
        Column("chunk_id", "string", "chunk"),
        Column("category", "string", "the recogniser's, before the vote of the corpus"),
        Column("surface", "string", "the characters chunk.text[start:end]"),
        Column("start", "int", "offset in chunks.text"),
        Column("end", "int", "end offset (exclusive) in chunks.text"),
        Column("form", "string", "what spelling variants share: the vote and linking go by it"),
        Column("acronym", "string", "acronym in brackets right after it, '' for none"),
    ),
    ("chunk_id", "start"),
)

MENTIONS = Table(
    "mentions",
    "One named entity in a chunk; mentions of a chunk never overlap.",
    (
        Column("chunk_id", "string", "chunk"),
        Column("category", "string", "one of the configured categories"),
        Column("surface", "string", "the characters chunk.text[start:end]"),
        Column("entity", "string", "canonical name; mentions of one entity share it"),
        Column("start", "int", "offset in chunks.text"),
        Column("end", "int", "end offset (exclusive) in chunks.text"),
    ),
    ("chunk_id", "start"),
)

SWEPT = Table(
    "swept",
    "One form that the recogniser missed and that looks like a name. Secret, as the texts are.",
    (
        Column("form", "string", "what spelling variants share: no case, article or possessive"),
        Column("reason", "string", "the strongest of nes_spark.entities.sweep.REASONS"),
        Column("documents", "bigint", "distinct metadata whose documents use the form"),
        Column("occurrences", "bigint", "places in the chunks"),
        Column("treated", "boolean", "whether these places are mentions of category Name"),
    ),
    ("form",),
)

GIVEN_SPANS = Table(
    "given_spans",
    "What became of the spans that came with a document (entities.recognizer: given).",
    (
        Column("document_id", "string", "document"),
        Column(
            "fate",
            "string",
            "used, cut, overlapping, suppressed, unmapped, not_presented, outside_text; see "
            "nes_spark.text.given.FATES",
        ),
        Column("n", "int", "spans"),
    ),
    ("document_id", "fate"),
)

CELLS = Table(
    "cells",
    "One row a chunk: its cell in the entity combination table.",
    (
        Column("chunk_id", "string", "chunk"),
        Column("document_id", "string", "document"),
        Column("metadata", "string", "secret of the document"),
        Column(
            "entities",
            "map<string,array<string>>",
            "category -> sorted distinct entities; every configured category is a key",
        ),
        Column(
            "cell",
            "map<string,string>",
            "category -> those entities (recoded where configured) joined with ' & ', '' for none",
        ),
    ),
    ("chunk_id",),
)

OWN_NAMES = Table(
    "own_names",
    "Which entities of the corpus name a document: no swap may bring them into its chunks.",
    (
        Column("document_id", "string", "document"),
        Column("category", "string", "category"),
        Column("entity", "string", "canonical entity, mentioned in other documents"),
    ),
    ("document_id", "category", "entity"),
)

EMBEDDINGS = Table(
    "embeddings",
    "One unit vector a chunk.",
    (
        Column("chunk_id", "string", "chunk"),
        Column("vector", "array<float>", "float32, Euclidean norm 1"),
        Column("model_id", "string", "embedding model and the version of its weights"),
    ),
    ("chunk_id",),
)

ASSIGNMENTS = Table(
    "assignments",
    "The component of each chunk under one mixture setting.",
    (
        Column("setting", "string", "mixture setting, e.g. pkb-K10-eps0.001"),
        Column("chunk_id", "string", "chunk"),
        Column("component", "int", "argmax of the posterior, 0-based"),
        Column("log_density", "double", "log density under that component, relative to uniform"),
    ),
    ("setting", "chunk_id"),
)

SWAPS = Table(
    "swaps",
    "One accepted swap of a candidate. Who holds this table can undo the release.",
    (
        Column("setting", "string", "mixture setting"),
        Column("combination", "string", "swapped categories J joined with '+', configured order"),
        Column("draw", "int", "0-based Monte Carlo draw"),
        Column("order", "int", "1-based position in the global sequence of this draw"),
        Column("round", "int", "1-based round; more than 1 only where several rounds are allowed"),
        Column("priority", "int", "0; with uniques first: 2 minus sample uniques of the pair"),
        Column("time", "double", "ring of the pair's clock; restarts with round and priority"),
        Column("component", "int", "component both chunks belong to"),
        Column("chunk_a", "string", "the smaller chunk_id of the pair"),
        Column("chunk_b", "string", "the larger chunk_id of the pair"),
        Column(
            "exchanged",
            EXCHANGED,
            "what becomes of the entities: in chunk 'a' or 'b', entity old is replaced by new",
        ),
    ),
    ("setting", "combination", "draw", "order"),
)

#: Replacements in one text.
EDITS = (
    "array<struct<start:int,end:int,old:string,new:string,category:string,"
    "old_entity:string,new_entity:string>>"
)

REWRITES = Table(
    "rewrites",
    "A swapped chunk as it is after a swap of a candidate, and all edits up to then. Sealed.",
    (
        Column("setting", "string", "mixture setting"),
        Column("combination", "string", "swapped categories"),
        Column("draw", "int", "Monte Carlo draw"),
        Column("order", "int", "swap that produced this text"),
        Column("chunk_id", "string", "chunk"),
        Column(
            "partner_id",
            "string",
            "chunk it exchanged entities with, or took them from; null for placeholders alone",
            True,
        ),
        Column("text", "string", "text after the swap, must-change categories replaced too"),
        Column("cell", "map<string,string>", "post-swap cell of the chunk (z-tilde)"),
        Column(
            "edits",
            EDITS,
            "all replacements from chunks.text to text, in order; offsets in chunks.text",
        ),
    ),
    ("setting", "combination", "draw", "chunk_id", "order"),
)

PLAN = Table(
    "plan",
    "One accepted swap of plan 'whole'. Who holds this table can undo the release.",
    (
        Column("setting", "string", "mixture setting"),
        Column("unit", "string", "what is exchanged as a whole: chunk or document"),
        Column("draw", "int", "0-based Monte Carlo draw"),
        Column("order", "int", "1-based position in the sequence over all layers of this draw"),
        Column("neighbour", "int", "0: own component; k: the k-th nearest component was tried"),
        Column("layer", "int", "0-based number of the layer"),
        Column("combination", "string", "its categories J joined with '+', configured order"),
        Column("priority", "int", "0; with uniques first: 2 minus sample uniques of the pair"),
        Column("time", "double", "ring of the clock; restarts with neighbour, layer, priority"),
        Column("component", "int", "component of chunk_a; null for documents", True),
        Column(
            "chunk_a", "string", "the smaller id of the pair (of documents, where they are units)"
        ),
        Column("chunk_b", "string", "the larger id of the pair"),
        Column("exchanged", EXCHANGED, "what becomes of the entities, as in table swaps"),
    ),
    ("setting", "unit", "draw", "order"),
)

PLAN_LEFTOVERS = Table(
    "plan_leftovers",
    "A name that found no partner in one plan, and what becomes of it. Sealed.",
    (
        Column("setting", "string", "mixture setting"),
        Column("unit", "string", "chunk or document"),
        Column("draw", "int", "0-based Monte Carlo draw"),
        Column("chunk_id", "string", "chunk, or document where the unit is one"),
        Column("category", "string", "category"),
        Column("entity", "string", "canonical name"),
        Column("treatment", "string", "donor, general, placeholder, recode, drop, keep, ..."),
        Column("replacement", "string", "what comes in its place; null for none", True),
        Column("donor", "string", "chunk (document) whose name that was", True),
        Column(
            "reason",
            "string",
            "no_partner, shared (the partner has the name too, or may not take it), surplus (it "
            "has fewer names, or fewer of its sort), key (it meets nobody), or the status "
            "that a constraint gives a chunk which it keeps out",
        ),
    ),
    ("setting", "unit", "draw", "chunk_id", "category", "entity"),
)

LEFTOVERS = Table(
    "leftovers",
    "A name that found no partner in a sequence of plan 'whole', and what becomes of it. Sealed.",
    tuple(
        c
        if c.name != "unit"
        else Column("combination", "string", "its sequence, as in table swaps")
        for c in PLAN_LEFTOVERS.columns
    ),
    ("setting", "combination", "draw", "chunk_id", "category", "entity"),
)

FATES = Table(
    "fates",
    "What becomes of one name in one chunk under plan 'whole'; every name has one row. Sealed.",
    (
        Column("setting", "string", "mixture setting"),
        Column("unit", "string", "chunk or document"),
        Column("draw", "int", "0-based Monte Carlo draw"),
        Column("chunk_id", "string", "chunk"),
        Column("category", "string", "category"),
        Column("entity", "string", "canonical name"),
        Column("treatment", "string", "exchange, or a treatment of what is left over"),
        Column("replacement", "string", "what comes in its place; null for none", True),
        Column("order", "int", "of the exchange", True),
        Column("layer", "int", "of the exchange", True),
        Column("partner", "string", "chunk (document) that the new name came from", True),
        Column(
            "reason",
            "string",
            "'' for an exchange; that of table leftovers; not_reached (a prefix ends before), "
            "not_swapped (its category stays as it is), must_change",
        ),
    ),
    ("setting", "unit", "draw", "chunk_id", "category", "entity"),
)

COVERAGE = Table(
    "coverage",
    "What became of the mentions of one category; the sums are those of the corpus.",
    (
        Column("category", "string", "category"),
        Column(
            "fate",
            "string",
            "exchanged, shifted, replaced (everywhere), kept, or a treatment of what is left over: "
            "donor, general, placeholder, recode, summary, drop",
        ),
        Column(
            "reason",
            "string",
            "empty for exchanged; no_partner, shared, surplus, key, or a constraint's status for "
            "what was left over; not_reached (the release ends before); must_change, not_swapped; "
            "relative and not_understood for dates; no_plan where nothing says what becomes of it, "
            "which a gate refuses",
        ),
        Column("mentions", "bigint", "mentions"),
        Column("chunks", "bigint", "chunks that have any of them"),
    ),
    ("category", "fate", "reason"),
)

MEASURED = Table(
    "measured",
    "How often one attacker names documents, or chunks with names, before and after.",
    (
        Column(
            "unit",
            "string",
            "what is asked about and known: documents (half of each known), documents_background "
            "(texts of its own), documents_public_words (a few words of each), "
            "each_document_public_words (the same; whose is this one?), chunks_left_out "
            "(all other chunks), chunks_known (that one too), chunks_together (nothing but chunks "
            "released by themselves: which other one is of the same document?)",
        ),
        Column("attacker", "string", "attacker; -nameless: the released names are ignored"),
        Column("side", "string", "before or after"),
        Column("n", "int", "documents or chunks asked about"),
        Column("named", "double", "share named first"),
        Column("low", "double", "lower bound of the 95 % interval"),
        Column("high", "double", "upper bound"),
        Column("confident", "double", "share named first and with confidence"),
    ),
    ("unit", "attacker", "side"),
)

MEASURED_RISK = Table(
    "measured_risk",
    "How often one attacker names documents, or chunks with names, of a candidate of plan 'whole'.",
    (
        Column("setting", "string", "mixture setting"),
        Column("combination", "string", "swapped categories; '' for the release without swaps"),
        Column("n_swaps", "int", "swaps of the prefix; 0 for the release without swaps"),
        Column("unit", "string", "as in table measured"),
        Column("attacker", "string", "as in table measured"),
        Column("n", "int", "documents or chunks asked about"),
        Column("named", "double", "share named first"),
        Column("low", "double", "lower bound of the 95 % interval"),
        Column("high", "double", "upper bound"),
        Column("confident", "double", "share named first and with confidence"),
    ),
    ("setting", "combination", "n_swaps", "unit", "attacker"),
)

REVIEW = Table(
    "review",
    "Released chunks that attackers still name, those to read first in front.",
    (
        Column("place", "int", "1-based place in the list"),
        Column("chunk_id", "string", "chunk"),
        Column("left_out", "array<string>", "attackers that name it without holding it"),
        Column("confident", "array<string>", "those of them that are confident"),
        Column("known", "array<string>", "attackers that name it when they hold the original"),
    ),
    ("place",),
)

POST_DENSITY = Table(
    "post_density",
    "The log density of one released text under the component of the chunk before the swap.",
    (
        Column("setting", "string", "mixture setting"),
        Column("combination", "string", "swapped categories; '' for what every release replaces"),
        Column("draw", "int", "Monte Carlo draw"),
        Column("order", "int", "swap that produced the text; 0 for what every release replaces"),
        Column("chunk_id", "string", "chunk"),
        Column("log_density", "double", "under the pre-swap component, relative to uniform"),
    ),
    ("setting", "combination", "draw", "chunk_id", "order"),
)

JUDGED = Table(
    "judged",
    "One text that the judge read for the candidates. Secret, as the texts are.",
    (
        Column("setting", "string", "mixture setting"),
        Column("combination", "string", "swapped categories; '' where nothing was exchanged"),
        Column("draw", "int", "Monte Carlo draw"),
        Column(
            "order",
            "int",
            "swap that produced the text; 0: nothing was exchanged; -1: as suppressed",
        ),
        Column("chunk_id", "string", "chunk"),
        Column("document_id", "string", "document"),
        Column("component", "int", "component of the chunk before"),
        Column("weight", "double", "changed chunks of the sequence that it stands for; 0 for -1"),
        Column("cosine", "double", "with the chunk as suppressed, rounded to 5 decimals"),
        Column("digest", "string", "SHA-256 of the text"),
        Column("vector", "array<float>", "float32, norm 1; null for an empty text", True),
    ),
    ("setting", "combination", "draw", "order", "chunk_id"),
)

FIDELITY = Table(
    "fidelity",
    "How much of the changed chunks one candidate keeps, by the judge (nes_spark.utility.judge).",
    (
        Column("setting", "string", "mixture setting"),
        Column("combination", "string", "swapped categories; '' where nothing was exchanged"),
        Column("n_swaps", "int", "swaps; 0: only what is replaced everywhere is"),
        Column(
            "fidelity",
            "double",
            "mean cosine of a changed chunk as suppressed and as released; 1 where none changed; "
            "null where the sample holds none of them",
            True,
        ),
        Column("fidelity_se", "double", "its standard error, by documents; null for one", True),
        Column("corpus", "double", "the same over all chunks: unchanged ones count 1", True),
        Column("corpus_se", "double", "its standard error", True),
        Column(
            "by_document",
            "map<string,double>",
            "what each document of the sample adds to that error: its square is the sum of their "
            "squares, that of a difference of two candidates the sum of squared differences",
        ),
        Column("chunks", "int", "changed chunks that the figures rest on"),
        Column("changed", "double", "chunks that the candidate changes, mean over draws"),
    ),
    ("setting", "combination", "n_swaps"),
)

UTILITY = Table(
    "utility",
    "One measure of what the chosen release cost, or of an anchor to compare it with.",
    (
        Column(
            "subject",
            "string",
            "release, or an anchor on the same chunks: unchanged, names_blanked, any_partner, "
            "half_deleted, random_other (nes_spark.utility.judge.SUBJECTS)",
        ),
        Column(
            "measure",
            "string",
            "fidelity, topic_agreement, DU, pMSE, task_agreement/<task>; below_blanking: how much "
            "lower fidelity is than that of the same names blanked",
        ),
        Column("value", "double", "of the changed chunks, DU of all; null: see reason", True),
        Column("standard_error", "double", "by documents; null where there is none", True),
        Column("corpus", "double", "over all chunks; null where that has no meaning", True),
        Column("chunks", "int", "changed chunks that the figure rests on"),
        Column("changed", "bigint", "chunks that the release changed"),
        Column("reason", "string", "why there is no figure; empty where there is one"),
    ),
    ("subject", "measure"),
)

RISK_FITS = Table(
    "risk_fits",
    "The Ewens-Pitman fit of one marginal table z_J.",
    (
        Column("combination", "string", "categories J joined with '+'"),
        Column("n", "bigint", "chunks in the table; those without an entity of J as configured"),
        Column("k", "bigint", "non-empty cells"),
        Column("s1", "bigint", "sample uniques"),
        Column("theta", "double", "strength parameter", True),
        Column("alpha", "double", "discount parameter", True),
        Column("theta_se", "double", "standard error of theta", True),
        Column("alpha_se", "double", "standard error of alpha", True),
        Column("log_likelihood", "double", "log of the exchangeable partition probability", True),
        Column("converged", "boolean", "whether the maximum was found"),
        Column("theta_low", "double", "95% profile-likelihood interval of theta", True),
        Column("theta_high", "double", "its upper end", True),
        Column("alpha_low", "double", "95% profile-likelihood interval of alpha", True),
        Column("alpha_high", "double", "its upper end", True),
        Column("expected", "array<double>", "expected s_1..s_5 at the estimates", True),
        Column("fit_p_value", "double", "chi-square of s_1..s_5 and rest; null: untestable", True),
        Column("warning", "string", "what to know before relying on the fit; empty for nothing"),
        Column("reason", "string", "why there is no estimate; empty where there is one"),
        Column("sizes", "map<bigint,bigint>", "frequency of frequencies: size -> number of cells"),
    ),
    ("combination",),
)

SCORES = Table(
    "scores",
    "Risk and utility of one candidate release in one draw.",
    (
        Column("setting", "string", "mixture setting"),
        Column("population", "double", "population size N"),
        Column("combination", "string", "swapped categories"),
        Column("draw", "int", "Monte Carlo draw"),
        Column("n_swaps", "int", "swaps made, from 1"),
        Column("r", "double", "swap rate 2 x swaps / n"),
        Column("n", "bigint", "chunks"),
        Column("s1", "bigint", "sample uniques of z_J"),
        Column("swapped_uniques", "bigint", "swapped chunks that are sample uniques of z_J"),
        Column("theta", "double", "strength parameter"),
        Column("alpha", "double", "discount parameter"),
        Column("p_hat", "double", "population uniques among sample uniques, unclipped"),
        Column("p_hat_clipped", "double", "p_hat clipped to [0, 1]; enters DR"),
        Column("stays_unique", "double", "pi(N): a sample unique stays unique among N"),
        Column("uniques_left", "bigint", "sample uniques of z_J that were not swapped"),
        Column("log_f_pre", "double", "sum over chunks of the log density before"),
        Column("log_f_base", "double", "the same for the release without swaps"),
        Column("log_f_post", "double", "the same after, under the pre-swap labels"),
        Column("DR", "double", "disclosure risk"),
        Column("DU", "double", "data utility"),
        Column("DU_above_one", "boolean", "the swaps raised the likelihood: an extreme case"),
    ),
    ("setting", "population", "combination", "draw", "n_swaps"),
)

CANDIDATES = Table(
    "candidates",
    "One candidate release, averaged over draws (one draw, where the seed is decided too).",
    (
        Column("setting", "string", "mixture setting"),
        Column("population", "double", "population size N"),
        Column("combination", "string", "swapped categories; '' for the release without swaps"),
        Column("n_swaps", "int", "swaps; 0 for the release without swaps"),
        Column("r", "double", "swap rate"),
        Column("draw", "int", "the draw, where the seed is decided too; null for averages", True),
        Column("draws", "int", "draws that reached this number of swaps"),
        Column("incomplete", "boolean", "other draws did not: an average over lucky ones"),
        Column("DR", "double", "mean disclosure risk"),
        Column("DR_se", "double", "its standard error; null for one draw", True),
        Column("DU", "double", "mean data utility"),
        Column("DU_se", "double", "its standard error; null for one draw", True),
        Column("DU_above_one", "boolean", "mean DU above 1; counts as 1 on the frontier"),
        Column("uniques_left", "double", "mean sample uniques that were not swapped", True),
        Column("uniques_expected", "double", "how many of them stay unique among N", True),
        Column("on_frontier", "boolean", "not dominated within its setting and population"),
        Column("chosen", "boolean", "the release that was chosen"),
    ),
    ("setting", "population", "combination", "n_swaps", "draw"),
)

STATUS = Table(
    "status",
    "What became of each chunk under the chosen release; every chunk has one row.",
    (
        Column("chunk_id", "string", "chunk"),
        Column(
            "status",
            "string",
            "swapped, dropped (not published), summarised (published as a summary), unpaired, "
            "no_valid_partner, same_metadata_only, alone_in_component, "
            "low_concentration, no_entity; see nes_spark.swapping.stages.chunk_status",
        ),
    ),
    ("chunk_id",),
)

WITHHELD = Table(
    "withheld",
    "One chunk that output.withhold lists, and what is published in its place.",
    (
        Column("chunk_id", "string", "chunk"),
        Column("instead", "string", "what was to be: summary, brief (one of it), or nothing"),
        Column("summary", "string", "null where nothing is published", True),
    ),
    ("chunk_id",),
)

PREDICTIONS = Table(
    "predictions",
    "One guess of an adversary.",
    (
        Column("draw", "int", "Monte Carlo draw"),
        Column("chunk_id", "string", "chunk"),
        Column("document_id", "string", "document"),
        Column("side", "string", "pre or post"),
        Column("model", "string", "adversary"),
        Column("answer", "string", "the label guessed; null where there was none", True),
        Column("outcome", "string", "answered, refused, empty, verbose, malformed"),
        Column("correct", "boolean", "whether the answer is the document's metadata"),
        Column(
            "rank",
            "int",
            "place of the truth among the candidates, from 1; null for language models and for a "
            "truth that the adversary does not know",
            True,
        ),
        Column(
            "evidence",
            "array<string>",
            "what spoke most for the answer, strongest first; empty for language models",
        ),
    ),
    ("draw", "chunk_id", "side", "model"),
)

LANGUAGE_PREDICTIONS = Table(
    "language_predictions",
    "One guess of a language model (nes-spark audit).",
    PREDICTIONS.columns,
    PREDICTIONS.key,
)

PARTNER_GUESSES = Table(
    "partner_guesses",
    "Whom an adversary who knows about swapping takes for the partner of a chunk. Sealed.",
    (
        Column("draw", "int", "Monte Carlo draw"),
        Column("chunk_id", "string", "a released chunk that could have been swapped"),
        Column("answer", "string", "chunk taken for its partner; null without candidates", True),
        Column("score", "double", "evidence that these two exchanged entities", True),
        Column("candidates", "int", "chunks it could have exchanged entities with"),
        Column("swapped", "boolean", "whether it was swapped in truth"),
        Column("rank", "int", "place of the true partner; null when not swapped", True),
        Column("correct", "boolean", "whether the answer is the true partner"),
        Column(
            "match",
            "string",
            "chunk it is paired with when the adversary undoes as many swaps as the rate says; "
            "null when left alone",
            True,
        ),
        Column("match_correct", "boolean", "whether that pair is a true swap"),
    ),
    ("draw", "chunk_id"),
)

ATTACKS = Table(
    "attacks",
    "Measured success of the linkage adversary against one candidate release.",
    (
        Column("setting", "string", "mixture setting"),
        Column("combination", "string", "swapped categories"),
        Column("n_swaps", "int", "swaps made, from 1"),
        Column("model", "string", "adversary"),
        Column("draws", "int", "draws that reached this number of swaps"),
        Column("accuracy_pre", "double", "share of swapped chunks identified before swapping"),
        Column("accuracy_post", "double", "the same after, mean over draws"),
        Column("hits5_post", "double", "truth among the first five after, mean over draws"),
        Column("corpus_accuracy", "double", "share of all chunks identified in the release"),
    ),
    ("setting", "combination", "n_swaps", "model"),
)

TABLES: dict[str, Table] = {
    t.name: t
    for t in (
        DOCUMENTS,
        QUARANTINE,
        CHUNKS,
        LEAKS,
        GIVEN_AWAY,
        RECOGNISED,
        MENTIONS,
        SWEPT,
        GIVEN_SPANS,
        CELLS,
        OWN_NAMES,
        EMBEDDINGS,
        ASSIGNMENTS,
        SWAPS,
        PLAN,
        PLAN_LEFTOVERS,
        LEFTOVERS,
        FATES,
        COVERAGE,
        MEASURED,
        MEASURED_RISK,
        REVIEW,
        REWRITES,
        POST_DENSITY,
        JUDGED,
        FIDELITY,
        UTILITY,
        RISK_FITS,
        SCORES,
        CANDIDATES,
        STATUS,
        WITHHELD,
        PREDICTIONS,
        LANGUAGE_PREDICTIONS,
        PARTNER_GUESSES,
        ATTACKS,
    )
}
