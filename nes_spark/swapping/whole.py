"""What a release of plan ``whole`` is made of: the plans one after the other, and its texts.

Names are exchanged first, then terms, then quantities. Which plans there are follows from the
configuration (:func:`options_of_whole`) for Spark and for memory alike; here they are drawn
(:func:`sample_whole`) and written (:func:`rewrite_whole`) in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from nes_spark.entities.clues import CLUE, barred_by, names_barred
from nes_spark.entities.combination import UNITS, Combination
from nes_spark.entities.generalising import general_words
from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import QUANTITY
from nes_spark.entities.terms import TERM, barring, kin_of
from nes_spark.errors import parameter_error
from nes_spark.swapping.forms import Key, forms_of
from nes_spark.swapping.layers import layers_of
from nes_spark.swapping.parts import as_written
from nes_spark.swapping.plan import LEFTOVER, MUST_CHANGE, Plan, Unit, sample_plan
from nes_spark.swapping.rewriting import (
    WHOLE_TEXT,
    Replacement,
    Rewritten,
    in_place_of,
    resolve_overlaps,
    rewrite_text,
)
from nes_spark.swapping.treatments import Recoding

if TYPE_CHECKING:
    from nes_spark.config import EntitiesConfig, ReleasesConfig


@dataclass(frozen=True)
class PlanOptions:
    """What a plan is made of; see :func:`nes_spark.swapping.sample_plan` for each.

    Attributes
    ----------
    swap : tuple of str
        All categories that are to be exchanged.
    others : tuple of str
        Categories that count as outside of every layer beside those of ``swap``.
    unit : {'chunk', 'document', 'likeness'}
    layers : tuple of tuples of str, optional
    neighbours : int
    leftover : tuple of str
    donors : int
    fitting : bool
    placeholders : mapping of str to str
    recoding : mapping
    """

    swap: tuple[str, ...]
    others: tuple[str, ...]
    unit: Unit = "chunk"
    layers: tuple[tuple[str, ...], ...] | None = None
    neighbours: int = 0
    leftover: tuple[str, ...] = LEFTOVER
    donors: int = 1
    fitting: bool = True
    placeholders: Mapping[str, str] = field(default_factory=dict)
    recoding: Recoding = field(default_factory=dict)


def options_of_whole(
    releases: ReleasesConfig, entities: EntitiesConfig, unit: str = ""
) -> list[PlanOptions]:
    """Return the plans of a release, in the order in which they are drawn.

    Parameters
    ----------
    releases : ReleasesConfig
        Of plan ``whole``: what is exchanged, the unit, neighbours, treatments.
    entities : EntitiesConfig
        Categories and recoding.
    unit : {'', 'chunk', 'document'}, optional
        By default ``releases.unit``; needed where that is ``both``. The plans of a unit are the
        same, and drawn alike, whether the configuration names it alone or both.

    Raises
    ------
    ValueError
        When it is not said which of both units.

    Examples
    --------
    >>> from nes_spark.config import EntitiesConfig, ReleasesConfig
    >>> found = options_of_whole(
    ...     ReleasesConfig(swap=["Person"], further=["Quantity", "Term"], unit="document"),
    ...     EntitiesConfig(categories=["Person", "Quantity", "Term"], labels={}),
    ... )
    >>> [(one.swap, one.unit) for one in found]
    [(('Person',), 'document'), (('Term',), 'chunk'), (('Quantity',), 'likeness')]
    """
    wanted = unit or releases.unit
    if wanted not in UNITS:
        raise parameter_error("options_of_whole", "unit", f"one of {UNITS}", wanted)
    combination = Combination(releases.swap)
    named: Unit = "document" if wanted == "document" else "chunk"
    seen = [c for c in entities.categories if c not in releases.must_change]
    terms = tuple(c for c in releases.further if c == TERM)
    documents = named == "document"
    # terms are exchanged chunk by chunk: throughout a document one vocabulary would show another
    names = tuple(combination) if documents else (*combination, *terms)
    # near words of several donors read better than those of whoever the partner is
    given = "donor" in releases.leftover
    options = PlanOptions(
        names,
        tuple(c for c in seen if c not in names),
        named,
        (*layers_of(combination), *((c,) for c in names if c in terms and not given)),
        0 if documents else releases.neighbours,
        leftover=tuple(releases.leftover),
        donors=releases.donors,
        fitting=releases.fitting,
        recoding={c: {k: list(v) for k, v in m.items()} for c, m in entities.recoding.items()},
    )
    singles: list[tuple[str, Unit]] = [(c, "chunk") for c in terms if documents]
    singles += [(c, "likeness") for c in releases.further if c == QUANTITY]
    return [
        options,
        *(
            replace(
                options,
                swap=(category,),
                others=tuple(c for c in seen if c != category),
                unit=unit,
                layers=None,
                neighbours=releases.neighbours if unit == "chunk" else 0,
            )
            for category, unit in singles
        ),
    ]


def sample_whole(
    chunk_ids: Sequence[str],
    metadata: Sequence[Hashable],
    document_ids: Sequence[str],
    component: Sequence[Hashable] | None,
    entities: Mapping[str, Sequence[Collection[str]]],
    options: Iterable[PlanOptions],
    **tools: Any,
) -> list[Plan]:
    """Draw the plans of a release in memory.

    Parameters
    ----------
    chunk_ids, metadata, component, entities
        As for :func:`nes_spark.swapping.sample_plan`; ``entities`` has all categories.
    document_ids : sequence of str, length n
        Documents of the chunks.
    options : iterable of PlanOptions
        Of :func:`options_of_whole`.
    **tools
        What else ``sample_plan`` takes: ``seed``, ``means``, ``releases``, ``swapping`` and so on.
        The terms of a document count among its ``own_names``, and so do the words of its clues, and
        names that hold those of its metadata: no donor gives one back.

    Returns
    -------
    list of Plan
        One for each of ``options``.

    Raises
    ------
    ValueError
        As ``sample_plan``.
    """
    own = dict(tools.pop("own_names", None) or {})
    if any(entities.get(CLUE, ())):
        told: dict[Hashable, set[str]] = {secret: set() for secret in metadata}
        for secret, clues in zip(metadata, entities[CLUE], strict=True):
            told[secret].update(clues)
        for category in set(entities) - {TERM, CLUE, QUANTITY}:
            names = {name for row in entities[category] for name in row}
            barred = names_barred(names, told)
            before = own.get(category) or [()] * len(metadata)
            own[category] = [
                sorted({*mine, *barred[secret]})
                for mine, secret in zip(before, metadata, strict=True)
            ]
    if TERM in entities:
        of = own_terms(document_ids, entities[TERM], entities.get(CLUE, ()))
        own[TERM] = [of[document] for document in document_ids]
    return [
        sample_plan(
            chunk_ids,
            metadata,
            component if one.unit == "chunk" else None,
            entities,
            list(one.swap),
            list(one.others),
            unit=one.unit,
            document_ids=document_ids,
            layers=one.layers,
            neighbours=one.neighbours,
            leftover=one.leftover,
            donors=one.donors,
            fitting=one.fitting,
            placeholders=one.placeholders,
            recoding=one.recoding,
            own_names=own,
            **tools,
        )
        for one in options
    ]


def own_terms(
    document_ids: Sequence[str],
    terms: Sequence[Collection[str]],
    clues: Sequence[Collection[str]] = (),
) -> dict[str, list[str]]:
    """Return the words of each document that no donor may give back to it.

    On Spark it is :func:`nes_spark.entities.further_stages.terms_as_own_names`.

    Parameters
    ----------
    document_ids : sequence of str, length n
        Documents of the chunks.
    terms : sequence of collection of str, length n
        Terms of the chunks.
    clues : sequence of collection of str, length n, optional
        Words of them that were blanked.

    Returns
    -------
    dict of str to list of str
        Document -> words, sorted.
    """
    of: dict[str, set[str]] = {document: set() for document in document_ids}
    there = {one for words in terms for word in words for one in barring(word)}
    there |= general_words()
    for document, blanked in zip(document_ids, clues, strict=False):
        of[document].update(there.intersection(chain.from_iterable(map(barred_by, blanked))))
    for document, words in zip(document_ids, terms, strict=True):
        of[document].update(chain.from_iterable(map(kin_of, words)))
    return {document: sorted(words) for document, words in of.items()}


def rewrite_whole(
    texts: Mapping[str, str],
    document_of: Mapping[str, str],
    mentions: Mapping[str, Sequence[Mention]],
    plans: Iterable[Plan],
    *,
    beside: Mapping[str, Mapping[Key, Replacement]] | None = None,
    mend_articles: bool = True,
) -> dict[str, Rewritten]:
    """Write the texts of a release in memory, all plans at once.

    Parameters
    ----------
    texts : mapping of str to str
        chunk_id -> text.
    document_of : mapping of str to str
        chunk_id -> document: a name of a whole document is written as that document writes it.
    mentions : mapping of str to sequence of Mention
        chunk_id -> mentions, with the entities that the plans were drawn for.
    plans : iterable of Plan
        Of :func:`sample_whole`.
    beside : mapping, optional
        chunk_id -> further replacements: dates that are shifted
        (:func:`nes_spark.swapping.dates.date_replacements`).
    mend_articles : bool
        As for ``rewrite_text``.

    Returns
    -------
    dict
        chunk_id -> :class:`~nes_spark.swapping.rewriting.Rewritten`, for every chunk.
    """
    found = {chunk: resolve_overlaps(mentions.get(chunk, ())) for chunk in texts}
    held: dict[str, list[Mention]] = {}
    for chunk, mine in found.items():
        for name in {chunk, document_of[chunk]}:
            held.setdefault(name, []).extend(mine)
    forms = {name: forms_of(mine) for name, mine in held.items()}
    must_change: dict[str, str] = {}
    new = {chunk: dict((beside or {}).get(chunk, {})) for chunk in texts}
    instead: dict[str, str] = {}
    for plan in plans:
        must_change |= plan.must_change
        for fate in plan.fates():
            if fate.treatment in WHOLE_TEXT:
                # nothing before something, as on Spark
                other = instead.get(fate.chunk_id, fate.replacement)
                instead[fate.chunk_id] = min(other or "", fate.replacement or "")
            elif fate.replacement is not None and fate.reason != MUST_CHANGE:
                key = fate.category, fate.replacement
                spelled = forms.get(fate.partner or "", {}).get(key)
                new[fate.chunk_id][fate.category, fate.entity] = Replacement(
                    fate.replacement, spelled or (as_written(fate.replacement, fate.category),)
                )
    return {
        chunk: in_place_of(text, instead[chunk])
        if chunk in instead
        else rewrite_text(
            text, found[chunk], new[chunk], must_change=must_change, mend_articles=mend_articles
        )
        for chunk, text in texts.items()
    }
