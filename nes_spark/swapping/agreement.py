"""Does recognition find on the rewritten text what the swaps say is there?

z-tilde, the table after swapping, is computed from the swaps (paper, section 2): a chunk's new cell
follows from its entities and the exchange. A recogniser that reads the new text may disagree,
because an entity stands in another context now. It also disagrees with itself on the old text when
it reads one chunk at a time: names were linked within documents and made consistent over the corpus
before. So three numbers are counted for each category: agreement with the old cells on the old text
(the recogniser with itself), with the new cells on the new text, and the latter among the cells for
which the former holds. The last one says what swapping did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nes_spark.entities.cells import cell_value
from nes_spark.entities.mentions import Mention
from nes_spark.swapping.rewriting import entity_of, resolve_overlaps

Recogniser = Callable[[list[str]], list[list[Mention]]]


@dataclass(frozen=True)
class SwappedChunk:
    """A swapped chunk before and after.

    Attributes
    ----------
    text, text_after : str
        Chunk text before and after.
    cell, cell_after : mapping of str to str
        Cell of z and of z-tilde.
    mentions : sequence of Mention
        Mentions before, of the chunk and of its partner: they say which surface stands for which
        entity.
    """

    text: str
    text_after: str
    cell: Mapping[str, str]
    cell_after: Mapping[str, str]
    mentions: Sequence[Mention]


@dataclass
class Agreement:
    """Counts over swapped chunks for one category (or all); ``share*`` are None for 0 of 0.

    Attributes
    ----------
    n : int
        Cells compared.
    before : int
        Cells that recognition on the text before finds as they are in z.
    after : int
        Cells that recognition on the text after finds as they are in z-tilde.
    both : int
        Cells for which both hold.
    """

    n: int = 0
    before: int = 0
    after: int = 0
    both: int = 0

    @property
    def share_before(self) -> float | None:
        """The recogniser's agreement with itself."""
        return self.before / self.n if self.n else None

    @property
    def share_after(self) -> float | None:
        """Agreement of recognition with z-tilde."""
        return self.after / self.n if self.n else None

    @property
    def share_given_before(self) -> float | None:
        """Agreement with z-tilde where the recogniser agrees with itself."""
        return self.both / self.before if self.before else None

    def add(self, before: bool, after: bool) -> None:
        """Count one cell."""
        self.n += 1
        self.before += before
        self.after += after
        self.both += before and after


@dataclass
class CellsAgreement:
    """Agreement over all categories and by category."""

    total: Agreement = field(default_factory=Agreement)
    categories: dict[str, Agreement] = field(default_factory=dict)


def cells_agreement(
    chunks: Iterable[SwappedChunk],
    recogniser: Recogniser,
    categories: Sequence[str],
    must_change: Mapping[str, str] | None = None,
    recoding: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    batch_size: int = 64,
) -> CellsAgreement:
    """Compare z-tilde from the swaps with what a recogniser finds on the rewritten texts.

    Parameters
    ----------
    chunks : iterable of SwappedChunk
    recogniser : callable
        ``list[str] -> list[list[Mention]]``, as ``load_recognizer`` gives it. A mention without
        canonical name gets the entity that the same surface (case ignored) stands for in the
        chunk or its partner, else its surface.
    categories : sequence of str
        Categories to compare.
    must_change : mapping, optional
        Category -> placeholder. A placeholder is no entity, so agreement there means that
        recognition finds none.
    recoding : mapping, optional
        As for ``cell_of``.
    batch_size : int
        Chunks per call of the recogniser.

    Returns
    -------
    CellsAgreement
        Only counts; no text.
    """
    result = CellsAgreement(categories={c: Agreement() for c in categories})
    block: list[SwappedChunk] = []
    for chunk in chunks:
        block.append(chunk)
        if len(block) == batch_size:
            _compare(block, recogniser, result, must_change or {}, recoding or {})
            block = []
    if block:
        _compare(block, recogniser, result, must_change or {}, recoding or {})
    return result


def _compare(
    block: list[SwappedChunk],
    recogniser: Recogniser,
    result: CellsAgreement,
    must_change: Mapping[str, str],
    recoding: Mapping[str, Mapping[str, Sequence[str]]],
) -> None:
    found = recogniser([c.text for c in block] + [c.text_after for c in block])
    for i, chunk in enumerate(block):
        known = {(m.category, m.surface.casefold()): entity_of(m) for m in chunk.mentions}
        before = _entities(found[i], known)
        after = _entities(found[len(block) + i], known)
        for category, counts in result.categories.items():
            classes = recoding.get(category)
            expected = chunk.cell_after.get(category, "")
            if category in must_change and expected == must_change[category]:
                expected = ""
            same_before = cell_value(before.get(category, ()), classes) == chunk.cell.get(
                category, ""
            )
            same_after = cell_value(after.get(category, ()), classes) == expected
            counts.add(same_before, same_after)
            result.total.add(same_before, same_after)


def _entities(
    mentions: Iterable[Mention], known: Mapping[tuple[str, str], str]
) -> dict[str, set[str]]:
    out: dict[str, set[str]] = {}
    for mention in resolve_overlaps(mentions):
        name = mention.entity or known.get(
            (mention.category, mention.surface.casefold()), mention.surface
        )
        out.setdefault(mention.category, set()).add(name)
    return out
