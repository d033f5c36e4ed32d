"""Rewrite a chunk by offsets: replace whole mentions, remember every edit, undo it exactly.

Offsets are half-open and count Unicode code points. Text outside the replaced mentions and their
indefinite articles is never touched, and nothing is found by searching for a string: "Services"
inside "Global Business Services" is not a mention unless the recogniser said so.

A release keeps, for every chunk, edits that lead from the original text (``chunks.text``) to the
published one. :func:`invert_edits` is their exact inverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from nes_spark.entities.mentions import Mention
from nes_spark.errors import LedgerError
from nes_spark.swapping.exchange import Exchange
from nes_spark.swapping.wording import (
    Form,
    find_article,
    mend_article,
    possessive_end,
    put_together,
    take_apart,
)

#: Category of an edit that mends a or an.
ARTICLE_CATEGORY = "article"

#: (category, entity)
Key = tuple[str, str]


@dataclass(frozen=True)
class Edit:
    """One replacement.

    Attributes
    ----------
    start, end : int
        Offsets of ``old`` in the text before.
    old, new : str
        Characters before and after.
    category : str
        Category of the mention, or ``"article"`` for a mended a or an.
    old_entity, new_entity : str
        Canonical names; '' for an article, and for the new one of a placeholder.
    """

    start: int
    end: int
    old: str
    new: str
    category: str
    old_entity: str
    new_entity: str


@dataclass(frozen=True)
class Replacement:
    """What comes in the place of an entity: its canonical name and its forms, longest first."""

    entity: str
    forms: tuple[str, ...]


@dataclass(frozen=True)
class Rewritten:
    """A chunk after rewriting.

    Attributes
    ----------
    text : str
        The new text.
    edits : tuple of Edit
        In order of offsets in the old text; disjoint.
    mentions : tuple of Mention
        Mentions of the new text with new offsets; placeholders are none.
    """

    text: str
    edits: tuple[Edit, ...]
    mentions: tuple[Mention, ...]


def resolve_overlaps(mentions: Iterable[Mention]) -> list[Mention]:
    """Return disjoint mentions in order: of overlapping ones the longest wins, then the first."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: (m.start - m.end, m.start, m.category)):
        if not any(k.start < mention.end and mention.start < k.end for k in kept):
            kept.append(mention)
    return sorted(kept, key=lambda m: m.start)


def entity_of(mention: Mention) -> str:
    """Return the canonical name of a mention; its surface where it was not linked."""
    return mention.entity or mention.surface


def surfaces_of(mentions: Iterable[Mention]) -> dict[Key, list[str]]:
    """Return (category, entity) -> surfaces of its mentions, in order."""
    surfaces: dict[Key, list[str]] = {}
    for mention in mentions:
        surfaces.setdefault((mention.category, entity_of(mention)), []).append(mention.surface)
    return surfaces


def forms_of(mentions: Iterable[Mention]) -> dict[Key, tuple[str, ...]]:
    """Return the forms under which each entity occurs, without endings, longest first.

    Parameters
    ----------
    mentions : iterable of Mention
        Of one chunk.

    Returns
    -------
    dict
        (category, entity) -> distinct forms; of equal length the first in the text comes first.
    """
    out: dict[Key, tuple[str, ...]] = {}
    for key, found in surfaces_of(mentions).items():
        known = {key[1], *found}
        bases = dict.fromkeys(_base(surface, known).base for surface in found)
        out[key] = tuple(sorted(bases, key=lambda base: -len(base)))
    return out


def _base(surface: str, known: Iterable[str]) -> Form:
    # A surface must not vouch for itself: "iPhones" is a plural only if there is an "iPhone".
    bare = take_apart(surface, ()).base
    others = {take_apart(name, ()).base for name in known}
    return take_apart(surface, {n for n in others if n.casefold() != bare.casefold()})


def replacements_for(
    plan: Iterable[Exchange], side: str, partner_mentions: Iterable[Mention]
) -> dict[Key, Replacement]:
    """Return what comes in the place of each entity of one side of a swap.

    Parameters
    ----------
    plan : iterable of Exchange
    side : {'a', 'b'}
        The chunk to be rewritten.
    partner_mentions : iterable of Mention
        Mentions of the other chunk: they say how the new entities are written.
    """
    forms = forms_of(partner_mentions)
    return {
        (e.category, e.old): Replacement(e.new, forms.get((e.category, e.new), (e.new,)))
        for e in plan
        if e.side == side
    }


def rewrite_text(
    text: str,
    mentions: Iterable[Mention],
    replacements: Mapping[Key, Replacement],
    *,
    must_change: Mapping[str, str] | None = None,
    mend_articles: bool = True,
) -> Rewritten:
    """Replace all mentions of some entities, and those of must-change categories by placeholders.

    Parameters
    ----------
    text : str
        Chunk text.
    mentions : iterable of Mention
        Its mentions, with ``surface == text[start:end]``; overlaps are resolved first.
    replacements : mapping
        (category, entity) -> :class:`Replacement`. All mentions of the entity change, short forms
        too: the longest form is replaced by the longest of the new entity, the next by the next, as
        far as it has so many. Possessive and plural endings are kept.
    must_change : mapping of str to str, optional
        Category -> placeholder, for example ``{"Event": "[Event]"}``; possessives are kept.
    mend_articles : bool
        Whether a directly preceding a or an follows the first sound of what comes in.

    Returns
    -------
    Rewritten

    Raises
    ------
    ValueError
        When a mention does not lie in the text or its surface is not what stands there.
    """
    must_change = must_change or {}
    resolved = resolve_overlaps(mentions)
    for mention in resolved:
        if not 0 <= mention.start < mention.end <= len(text) or (
            text[mention.start : mention.end] != mention.surface
        ):
            raise ValueError(
                f"A mention does not fit its text at offsets {mention.start} to {mention.end}."
            )
    surfaces = surfaces_of(resolved)
    forms = forms_of(resolved)
    edits: list[Edit] = []
    after: list[Mention] = []
    pieces: list[str] = []
    done = 0  # offset in the old text up to which pieces are complete
    length = 0  # length of the pieces

    def keep(until: int) -> None:
        nonlocal done, length
        pieces.append(text[done:until])
        length += until - done
        done = until

    def put(edit: Edit) -> None:
        nonlocal done, length
        keep(edit.start)
        pieces.append(edit.new)
        length += len(edit.new)
        done = edit.end
        edits.append(edit)

    floor = 0
    for mention in resolved:
        key = (mention.category, entity_of(mention))
        placeholder = must_change.get(mention.category)
        replacement = replacements.get(key) if placeholder is None else None
        if placeholder is None and replacement is None:
            keep(mention.start)
            start = length
            keep(mention.end)
            after.append(_moved(mention, start, mention.surface, mention.entity))
            floor = mention.end
            continue
        end = mention.end
        if not take_apart(mention.surface, ()).possessive:
            end = possessive_end(text, mention.start, end)
        old = text[mention.start : end]
        if replacement is None:
            form = take_apart(old, ())
            name = placeholder or ""
        else:
            form = _base(old, {key[1], *surfaces[key]})
            rank = forms[key].index(form.base)
            base = replacement.forms[min(rank, len(replacement.forms) - 1)]
            name = put_together(base, replace(form, possessive=""), mention.category == "Person")
        new = put_together(name, replace(form, plural=False))
        if mend_articles and (span := find_article(text, mention.start, floor)):
            article = text[span[0] : span[1]]
            mended = mend_article(article, old, new)
            if mended != article:
                put(Edit(*span, article, mended, ARTICLE_CATEGORY, "", ""))
        entity = replacement.entity if replacement else ""
        put(Edit(mention.start, end, old, new, mention.category, key[1], entity))
        if replacement:
            after.append(_moved(mention, length - len(new), name, entity))
        floor = end
    keep(len(text))
    return Rewritten("".join(pieces), tuple(edits), tuple(after))


def _moved(mention: Mention, start: int, surface: str, entity: str) -> Mention:
    return Mention(start, start + len(surface), mention.category, surface, entity)


def rewrite_pair(
    text_a: str,
    mentions_a: Sequence[Mention],
    text_b: str,
    mentions_b: Sequence[Mention],
    plan: Sequence[Exchange],
    *,
    must_change: Mapping[str, str] | None = None,
    mend_articles: bool = True,
) -> tuple[Rewritten, Rewritten]:
    """Rewrite both chunks of a swap; see :func:`rewrite_text` and :func:`plan_exchange`.

    Returns
    -------
    (Rewritten, Rewritten)
        Of the first and of the second chunk.
    """
    options: dict[str, Any] = {"must_change": must_change, "mend_articles": mend_articles}
    first, second = resolve_overlaps(mentions_a), resolve_overlaps(mentions_b)
    return (
        rewrite_text(text_a, first, replacements_for(plan, "a", second), **options),
        rewrite_text(text_b, second, replacements_for(plan, "b", first), **options),
    )


def apply_edits(text: str, edits: Iterable[Edit | Mapping[str, Any]]) -> str:
    """Apply recorded edits to the text they were made for.

    Raises
    ------
    LedgerError
        When an edit does not fit: it belongs to another text.
    """
    return _replay(text, edits, forward=True)


def invert_edits(text: str, edits: Iterable[Edit | Mapping[str, Any]]) -> str:
    """Return the text before the edits, from the text after them; exact.

    Parameters
    ----------
    text : str
        Text after all the edits.
    edits : iterable of Edit or mapping
        In any order; offsets count in the text before.

    Raises
    ------
    LedgerError
        When what stands at the place of an edit is not what the edit put there: the text was
        changed after the release, or the ledger is of another release.
    """
    return _replay(text, edits, forward=False)


def _replay(text: str, edits: Iterable[Edit | Mapping[str, Any]], forward: bool) -> str:
    rows = sorted((_as_row(e) for e in edits), key=lambda e: (e["start"], e["end"]))
    pieces: list[str] = []
    done = 0  # in the text at hand
    shift = 0  # offset at hand minus offset before the edits
    last = 0
    for row in rows:
        there, here = (row["old"], row["new"]) if forward else (row["new"], row["old"])
        start = row["start"] + shift
        if (
            row["start"] < last
            or row["end"] - row["start"] != len(row["old"])
            or text[start : start + len(there)] != there
        ):
            raise LedgerError("an edit of the ledger does not fit the text of its chunk")
        pieces += [text[done:start], here]
        done = start + len(there)
        last = row["end"]
        if not forward:
            shift += len(row["new"]) - len(row["old"])
    pieces.append(text[done:])
    return "".join(pieces)


def _as_row(edit: Edit | Mapping[str, Any]) -> Mapping[str, Any]:
    return asdict(edit) if isinstance(edit, Edit) else edit
