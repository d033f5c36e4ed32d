"""What a report is made of: small tables and counts, no Spark, and no text unless allowed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from nes_spark.plain import plain
from nes_spark.releases.choice import Choice
from nes_spark.releases.publishing import Gate

if TYPE_CHECKING:
    import pandas as pd


#: Pairs of chunks that a report shows at most.
MAX_EXAMPLES = 12


@dataclass(frozen=True)
class ExampleSide:
    """One chunk of a swapped pair, before the swap, with what was replaced in it.

    Attributes
    ----------
    text : str
        Chunk after suppression, before the swap.
    edits : sequence of (int, int, str)
        Half-open offsets in ``text``, ascending and disjoint, and what stands there afterwards.
    """

    text: str
    edits: Sequence[tuple[int, int, str]]

    def pieces(self) -> list[tuple[str, str, str]]:
        """Return (text, old, new) pieces in order: plain text, or an exchange."""
        found: list[tuple[str, str, str]] = []
        done = 0
        for start, end, new in sorted(self.edits):
            if start < done or end > len(self.text):
                raise ValueError("the edits of an example must be disjoint and inside its text")
            if start > done:
                found.append((self.text[done:start], "", ""))
            found.append(("", self.text[start:end], new))
            done = end
        if done < len(self.text):
            found.append((self.text[done:], "", ""))
        return found


@dataclass(frozen=True)
class Example:
    """A swapped pair of chunks; the component that both belong to is shown where it is known."""

    component: int | None
    first: ExampleSide
    second: ExampleSide


@dataclass(frozen=True)
class ComponentRow:
    """One component of the chosen mixture.

    Attributes
    ----------
    component : int
        Number, from 0.
    weight, concentration : float
        Of the mixture.
    capped : bool
        Whether it closed on a point and was held at the ceiling of the concentration.
    chunks, documents : int
        Chunks assigned to it, and documents they are from.
    effective_documents : float
        Inverse Herfindahl index of its chunks over documents.
    typical : sequence of (str, str)
        Id in the release and, only when examples are allowed, beginning of the most typical chunks.
    """

    component: int
    weight: float
    concentration: float
    chunks: int
    documents: int
    effective_documents: float = 0.0
    capped: bool = False
    typical: Sequence[tuple[str, str]] = ()

    @property
    def can_swap(self) -> bool:
        """Whether its chunks are of at least two documents: else none of them can be swapped."""
        return self.documents >= 2


@dataclass(frozen=True)
class ReviewRow:
    """A released chunk that attackers still name.

    Attributes
    ----------
    chunk : str
        Its id in the release.
    kinds : sequence of str
        What they went by (:data:`nes_spark.audit.review.KINDS`).
    attackers, confident, known : int
        Attackers that name it without holding it, those that are confident, and those that name it
        when they hold the original.
    kept : mapping of str to int
        Category to recognised mentions that stand in it as they did.
    text : str
        How it begins. Only when examples are allowed.
    missed : sequence of str
        Attackers that name another chunk of the list, and not this one.
    """

    chunk: str
    kinds: Sequence[str]
    attackers: int
    confident: int
    known: int
    kept: Mapping[str, int] = field(default_factory=dict)
    text: str = ""
    missed: Sequence[str] = ()


@dataclass(frozen=True)
class Identified:
    """A swapped chunk that an adversary still names.

    Attributes
    ----------
    chunk : str
        Its id in the release.
    answer : str
        The secret that the adversary named.
    evidence : sequence of str
        Entities, and combinations of them, that spoke most for it.
    """

    chunk: str
    answer: str
    evidence: Sequence[str]


@dataclass(frozen=True)
class ReportData:
    """Everything that the report of a run shows.

    Attributes
    ----------
    name, period : str, str or None
        Name of the run and its cross-section; None for all periods.
    figures : mapping
        As :func:`nes_spark.run.figures_stages.corpus_figures` returns it: documents_in, documents,
        metadata, quarantined (reason -> documents), chunks, words, suppressed, and categories
        (category -> mentions, entities, chunks).
    candidates : pandas.DataFrame
        Table ``candidates`` with all settings and populations.
    choice : Choice
        The chosen release.
    categories : mapping
        Category -> S, F, C or U (paper, section 2.3), in the configured order.
    risk_fits : pandas.DataFrame
        Table ``risk_fits``.
    p_hats : pandas.DataFrame
        As :func:`nes_spark.risk.p_hat_table` returns it.
    stays : pandas.DataFrame
        As :func:`nes_spark.risk.tables.stays_unique_table` returns it.
    components : sequence of ComponentRow
        Components of the chosen setting that have chunks, by number.
    statuses : mapping
        Status -> chunks (table ``status``).
    gates : sequence of Gate
        What was checked.
    seconds, rows : mapping
        Output of a stage -> wall time in seconds, and rows.
    taken : mapping
        Output of a stage -> words on what was taken from an earlier run, where something was.
    provenance : mapping
        What the run was made with: label -> value, for example configuration and seed
        fingerprints, code version, recogniser, embedding model. Never the seed.
    key_location : str
        Where the sealed ledger lies.
    key_encrypted : bool
        Whether it is encrypted.
    audit : sequence of mapping
        One per adversary: model, chunks, documents, draws, pre and post (mean, sd), mcnemar
        (table, p_value, exact_p_value), drop (drop, low, high), warnings; see
        :meth:`nes_spark.audit.summary.AdversaryResult.to_dict`.
    secret_name : str
        What the metadata is, in the words of the reader: "company name", "hospital".
    choice_line : tuple of float or None
        Slope and offset of the line of rule ``line``, drawn into the risk-utility figure.
    partners : mapping or None
        What the adversary who knows of swapping reached; see
        :meth:`nes_spark.audit.summary.PartnerResult.to_dict`.
    identified : sequence of Identified
        Chunks that the linkage adversary still names. Only when examples are allowed.
    selection : sequence of mapping
        Fields of :class:`nes_spark.mixture.selection.Selection`, one per mixture setting.
    agreement, variation, tasks, recoding, linking, options, attacks : pandas.DataFrame or None
        See :class:`nes_spark.run.findings.Findings`.
    exchanged : sequence of (str, str, str, int)
        Category, entity, entity it was exchanged with, times. Only when examples are allowed.
    examples : sequence of Example
        Only when examples are allowed.
    alone : bool
        Whether each chunk is released by itself.
    hide_more : sequence of (str, str)
        Options of ``nes-spark run`` that would hide more, and what goes then; empty where hardly
        anything can be named.
    keep_more : sequence of (str, str)
        Options that would leave more of the meaning, and what stays then; empty where much is left.
    review : sequence of ReviewRow
        Released chunks to read first; on a page of their own, which is not tracked.
    measured : pandas.DataFrame or None
        Table ``measured``: documents that each attacker names; None where it was not measured.
    coverage : pandas.DataFrame or None
        Table ``coverage`` of plan ``whole``.
    utility : pandas.DataFrame or None
        Table ``utility``: what the release cost, beside anchors; None where the judge is off.
    """

    name: str
    figures: Mapping[str, Any]
    candidates: pd.DataFrame
    choice: Choice
    categories: Mapping[str, str]
    risk_fits: pd.DataFrame
    p_hats: pd.DataFrame
    stays: pd.DataFrame
    components: Sequence[ComponentRow]
    statuses: Mapping[str, int]
    gates: Sequence[Gate]
    period: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    key_location: str = "sealed"
    key_encrypted: bool = False
    audit: Sequence[Mapping[str, Any]] = ()
    secret_name: str = "metadata"
    choice_line: tuple[float, float] | None = None
    partners: Mapping[str, Any] | None = None
    identified: Sequence[Identified] = ()
    selection: Sequence[Mapping[str, Any]] = ()
    agreement: pd.DataFrame | None = None
    variation: pd.DataFrame | None = None
    tasks: pd.DataFrame | None = None
    recoding: pd.DataFrame | None = None
    linking: pd.DataFrame | None = None
    options: pd.DataFrame | None = None
    attacks: pd.DataFrame | None = None
    exchanged: Sequence[tuple[str, str, str, int]] = ()
    examples: Sequence[Example] = ()
    review: Sequence[ReviewRow] = ()
    measured: pd.DataFrame | None = None
    coverage: pd.DataFrame | None = None
    utility: pd.DataFrame | None = None
    alone: bool = False
    hide_more: Sequence[tuple[str, str]] = ()
    keep_more: Sequence[tuple[str, str]] = ()

    @property
    def documents_named(self) -> dict[str, Any] | None:
        """What the strongest attackers name, before and after; None where it was not measured."""
        from nes_spark.audit.measured import strongest

        return None if self.measured is None else strongest(self.measured)

    @property
    def chunks_named(self) -> dict[str, dict[str, Any]]:
        """The same for chunks with names, left out and known; empty where there are none."""
        from nes_spark.audit.measured import chunks_named

        return {} if self.measured is None else chunks_named(self.measured)

    @property
    def public_words_named(self) -> dict[str, dict[str, Any]] | None:
        """What who knows public words names, before and after; None where that was not asked."""
        from nes_spark.audit.measured import named_by_words

        return None if self.measured is None else named_by_words(self.measured) or None

    @property
    def chunks_together(self) -> dict[str, Any]:
        """Who puts most chunks of one document together; empty where that was not asked."""
        from nes_spark.audit.measured import chunks_together

        return {} if self.measured is None else chunks_together(self.measured)

    @property
    def passed(self) -> bool:
        """Whether all gates hold."""
        return all(gate.passed for gate in self.gates)

    @property
    def space(self) -> pd.DataFrame:
        """Candidates of the chosen setting and population, by combination and swaps."""
        return (
            self.choice.space(self.candidates)
            .sort_values(["combination", "n_swaps"])
            .reset_index(drop=True)
        )

    def without_texts(self) -> ReportData:
        """Return the same without texts and names: what may be shown."""
        if not self.holds_texts:
            return self
        return replace(
            self,
            identified=(),
            exchanged=(),
            examples=(),
            review=[replace(row, text="") for row in self.review],
            components=[
                replace(row, typical=[(chunk, "") for chunk, _ in row.typical])
                for row in self.components
            ],
        )

    @property
    def holds_texts(self) -> bool:
        """Whether anything in it quotes a document."""
        excerpts = any(text for row in self.components for _, text in row.typical)
        review = any(row.text for row in self.review)
        return bool(self.identified or self.exchanged or self.examples or excerpts or review)

    def to_json(self) -> str:
        """Return everything as JSON, for :meth:`from_json`."""
        content = {f.name: _stored(getattr(self, f.name)) for f in fields(self)}
        return json.dumps(content | {"choice": _stored(self.choice.to_dict())})

    @classmethod
    def from_json(cls, content: str) -> ReportData:
        """Read what :meth:`to_json` wrote; the report of both is the same.

        Raises
        ------
        ValueError
            When it was written by a version with other fields.
        """
        values = json.loads(content)
        if set(values) != {f.name for f in fields(cls)}:
            raise ValueError("the report's data are of another version")
        values = {name: _restored(value) for name, value in values.items()}
        values["choice"] = Choice.from_dict(values["choice"])
        values["gates"] = [Gate(**gate) for gate in values["gates"]]
        values["components"] = [ComponentRow(**row) for row in values["components"]]
        values["identified"] = [Identified(**row) for row in values["identified"]]
        values["review"] = [ReviewRow(**row) for row in values["review"]]
        values["examples"] = [
            Example(e["component"], ExampleSide(**e["first"]), ExampleSide(**e["second"]))
            for e in values["examples"]
        ]
        return cls(**values)


_TABLE = "table of the report"


def _stored(value: Any) -> Any:
    """Turn tables and dataclasses into what JSON knows; NaN becomes null."""
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        rows = [
            [None if pd.api.types.is_scalar(cell) and pd.isna(cell) else cell for cell in row]
            for row in value.itertuples(index=False, name=None)
        ]
        return {_TABLE: {"columns": list(value.columns), "rows": plain(rows, missing=True)}}
    if is_dataclass(value) and not isinstance(value, type):
        return _stored(asdict(value))
    if isinstance(value, Mapping):
        return {str(name): _stored(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_stored(part) for part in value]
    return plain(value, missing=True)


def _restored(value: Any) -> Any:
    import pandas as pd

    if isinstance(value, dict) and set(value) == {_TABLE}:
        return pd.DataFrame(value[_TABLE]["rows"], columns=value[_TABLE]["columns"])
    return value


def edits_of(records: Iterable[Mapping[str, Any]]) -> list[tuple[int, int, str]]:
    """Turn the ``edits`` of a row of table ``rewrites`` into those of an :class:`ExampleSide`."""
    return [(int(e["start"]), int(e["end"]), str(e["new"])) for e in records]
