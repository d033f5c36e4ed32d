"""What linking names and corpus consistency do to the sample uniques, in memory.

:mod:`nes_spark.risk.linking_stages` counts the same on Spark, where of a small corpus a query takes
longer than counting.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nes_spark.entities.cells import cell_of
from nes_spark.entities.combination import Combination
from nes_spark.entities.linking import Located, link_document, people_by_parts
from nes_spark.entities.mentions import Mention
from nes_spark.errors import parameter_error

if TYPE_CHECKING:
    import pandas as pd

    from nes_spark.config import EntitiesConfig

#: Variant -> (linking, corpus consistency).
VARIANTS = {
    "neither": (False, False),
    "linking": (True, False),
    "consistency": (False, True),
    "both": (True, True),
}
#: White space as Spark's regular expressions know it.
_SPACE = re.compile(r"[ \t\n\x0b\f\r]+")

#: Document -> its mentions.
_Located = Mapping[str, Sequence[Located]]


def linking_table(
    recognised: pd.DataFrame,
    n: int,
    config: EntitiesConfig,
    combinations: Sequence[Sequence[str]],
    empty_cell: str = "exclude",
) -> pd.DataFrame:
    """Count sample uniques without and with linking and corpus consistency.

    Parameters
    ----------
    recognised : pandas.DataFrame
        Table ``RECOGNISED``.
    n : int
        Chunks, those without a name included.
    config : EntitiesConfig
        Categories and recoding; its own ``linking`` and ``corpus_consistency`` do not matter.
    combinations : sequence of sequences of str
        The J, for example every pair of categories.
    empty_cell : {"exclude", "include"}, optional
        As in :func:`nes_spark.risk.stages.fit_risk`.

    Returns
    -------
    pandas.DataFrame
        ``combination, n, s1_neither, s1_linking, s1_consistency, s1_both``: chunks, and chunks
        alone in their cell of z_J (recoding applied as configured); one row a combination, in the
        given order.

    Raises
    ------
    ValueError
        On another `empty_cell`.
    """
    import pandas as pd

    if empty_cell not in ("exclude", "include"):
        raise parameter_error("risk", "empty_cell", "'exclude' or 'include'", empty_cell)
    as_found: defaultdict[str, list[Located]] = defaultdict(list)
    forms: defaultdict[str, list[str]] = defaultdict(list)
    names = ("document_id", "chunk_id", "category", "surface", "start", "end", "form", "acronym")
    columns = (recognised[name].tolist() for name in names)
    for document, chunk, category, surface, start, end, form, acronym in zip(*columns, strict=True):
        mention = Mention(start, end, category, surface)
        as_found[document].append(Located(chunk, mention, acronym))
        forms[document].append(form)
    consistent = _consistent(as_found, forms, config)

    counts: dict[str, list[int]] = {}
    for variant, (linking, consistency) in VARIANTS.items():
        held = _entities(consistent if consistency else as_found, linking)
        cells = [cell_of(of, config.categories, config.recoding) for of in held.values()]
        counts[f"s1_{variant}"] = [
            _uniques(cells, n - len(cells), combination, empty_cell) for combination in combinations
        ]
    named = [Combination(combination).name for combination in combinations]
    return pd.DataFrame({"combination": named, "n": n, **counts})


def _consistent(
    mentions: _Located, forms: Mapping[str, Sequence[str]], config: EntitiesConfig
) -> _Located:
    """Give a form the category that most of its mentions have, among those that vote."""
    voting = {c for c in config.consistent_categories if c in config.categories}
    if len(voting) < 2:
        return mentions
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for document, own in mentions.items():
        for form, where in zip(forms[document], own, strict=True):
            if where.mention.category in voting:
                votes[form][where.mention.category] += 1
    top = {
        form: min(cast.items(), key=lambda of: (-of[1], of[0]))[0] for form, cast in votes.items()
    }
    return {
        document: [
            replace(where, mention=replace(where.mention, category=top[form]))
            if where.mention.category in voting
            else where
            for form, where in zip(forms[document], own, strict=True)
        ]
        for document, own in mentions.items()
    }


def _entities(mentions: _Located, linking: bool) -> dict[str, dict[str, list[str]]]:
    """Return the entities of each chunk that has some, by category."""
    held: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for own in mentions.values():
        if linking:
            settled = people_by_parts(own)
            named = link_document(
                [replace(where, mention=m) for where, m in zip(own, settled, strict=True)]
            )
        else:
            settled = [where.mention for where in own]
            named = [_SPACE.sub(" ", m.surface.strip(" ")) for m in settled]
        for where, mention, entity in zip(own, settled, named, strict=True):
            held[where.chunk][mention.category].add(entity)
    return {
        chunk: {name: sorted(found) for name, found in of.items()} for chunk, of in held.items()
    }


def _uniques(
    cells: Sequence[Mapping[str, str]], nameless: int, combination: Sequence[str], empty_cell: str
) -> int:
    """Count the chunks alone in their cell; `nameless` chunks have no name at all."""
    sizes = Counter(tuple(cell[category] for category in combination) for cell in cells)
    nothing = ("",) * len(combination)
    sizes[nothing] += nameless
    if empty_cell == "exclude":
        del sizes[nothing]
    return sum(size == 1 for size in sizes.values())
