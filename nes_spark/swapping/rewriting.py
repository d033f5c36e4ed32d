"""Rewrite a chunk by offsets: replace whole names, remember every edit, undo it exactly.

Offsets are half-open and count Unicode code points. A mention is replaced where it stands, whole
(:func:`~nes_spark.swapping.spans.whole_name`), and so is every other form of the same name that the
recogniser passed over (:func:`~nes_spark.swapping.short_forms.find_left`): short forms by short
forms, so that a surname takes the place of a surname. Nothing inside another mention or a
placeholder is touched: "Services" inside "Global Business Services" is not a mention unless the
recogniser said so. Titles stay where they are, articles follow the new name, and an abbreviation's
full stop at a sentence's end stays once.

A release keeps, for every chunk, edits that lead from the original text (``chunks.text``) to the
published one. :func:`invert_edits` is their exact inverse.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from nes_spark.entities.mentions import Mention, placeholder_spans
from nes_spark.entities.quantities import QUANTITY
from nes_spark.entities.terms import TERM
from nes_spark.errors import LedgerError
from nes_spark.swapping.exchange import Exchange
from nes_spark.swapping.forms import Key, base_form_of, entity_of, forms_of, surfaces_of
from nes_spark.swapping.parts import NO_NAMES, as_written, counterpart
from nes_spark.swapping.short_forms import Left, find_left, reaches, short_entities, words_held
from nes_spark.swapping.spans import (
    after_title,
    broken_off,
    settle_stop,
    title_before,
    whole_name,
)
from nes_spark.swapping.wording import (
    Form,
    find_article,
    mend_article,
    mend_the,
    own_ending,
    possessive_end,
    put_together,
)

#: An amount's own article, of which there is one already: "a $5 million fee", "a hundred million".
_OWN_ARTICLE = re.compile(r"^an? (?=[a-z])")
#: Category of an edit that mends an article.
ARTICLE_CATEGORY = "article"
#: Categories of an edit that takes away, or rewrites, the whole text of a chunk.
DROP, SUMMARY = "drop", "summary"
WHOLE_TEXT = (DROP, SUMMARY)
_PLURAL = re.compile(r"e?s(?![^\W_])")
_ENDING = re.compile(r"['’]s(?!\w)")
#: What has a capital letter in prose; a name from speech without capitals takes it there.
_CAPITALISED = frozenset({"Person", "Location"})
_BEGINS = re.compile(r"(?<![^\W_])(?<!['’])[^\W\d_]")


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
        Category of the name, or ``"article"`` for an article that was mended, put in or taken out;
        ``old`` or ``new`` may then be empty. ``"drop"`` and ``"summary"`` replace the whole text.
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
        Mentions of the new text with new offsets; placeholders are none. Names that the recogniser
        had passed over and that were replaced are among them.
    """

    text: str
    edits: tuple[Edit, ...]
    mentions: tuple[Mention, ...]


def resolve_overlaps(mentions: Iterable[Mention]) -> list[Mention]:
    """Return disjoint mentions in order: of overlapping ones the longest wins, then the first."""
    given = sorted(mentions, key=lambda m: m.start)
    if all(a.end <= b.start for a, b in pairwise(given)):
        return given
    kept: list[Mention] = []
    for mention in sorted(given, key=lambda m: (m.start - m.end, m.start, m.category)):
        if not any(k.start < mention.end and mention.start < k.end for k in kept):
            kept.append(mention)
    return sorted(kept, key=lambda m: m.start)


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
        (e.category, e.old): Replacement(
            e.new, forms.get((e.category, e.new), (as_written(e.new, e.category),))
        )
        for e in plan
        if e.side == side
    }


def with_short_forms(
    mentions: Iterable[Mention], replacements: Mapping[Key, Replacement]
) -> dict[Key, Replacement]:
    """Return replacements with those of entities that are only short forms of replaced names.

    "Lindqvist" that the recogniser took for an entity of its own goes where "Maria Lindqvist" goes.
    :func:`rewrite_text` does so by itself; the table after swapping (z-tilde) follows from what is
    returned here. Where it took her for an organisation, the text changes too but no category that
    was not swapped does in the table.

    Parameters
    ----------
    mentions : iterable of Mention
        Of one chunk, disjoint.
    replacements : mapping
        (category, entity) -> :class:`Replacement`.
    """
    mentions = list(mentions)
    names = {key: found for key, found in forms_of(mentions).items() if key in replacements}
    short = short_entities(mentions, names)
    return {
        **replacements,
        **{key: replacements[whole] for key, whole in short.items() if key[0] == whole[0]},
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
        (category, entity) -> :class:`Replacement`. All mentions of the entity change, whole, and so
        do its forms that no mention covers and entities that are only short forms of it. The
        longest form is replaced by the longest of the new entity, a shorter one by a shorter one
        (:func:`~nes_spark.swapping.parts.counterpart`). Possessive and plural endings are kept.
    must_change : mapping of str to str, optional
        Category -> placeholder, for example ``{"Event": "[Event]"}``; possessives are kept.
    mend_articles : bool
        Whether a directly preceding a or an follows the first sound of what comes in, and "the" is
        put before a name that needs it and taken from before one that has none.

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
    targets = _targets(text, resolved, replacements, must_change)
    taken = sorted([*((t.start, t.end) for t in targets), *placeholder_spans(text)])
    starts = [start for start, _ in taken]
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
    for target in targets:
        if target.name is None:
            keep(target.start)
            start = length
            keep(target.end)
            after += [_moved(m, start, m.surface, m.entity) for m in target.mentions]
            floor = target.end
            continue
        category, entity = target.key
        at = bisect_right(starts, target.start)
        ceiling = starts[at] if at < len(starts) else len(text)
        low = max((end for _, end in taken[:at] if end <= target.start), default=0)
        low = max(low, floor)
        start, end = target.start, target.end
        name, form = target.name, target.form
        if not target.glued and category not in NO_NAMES:
            start, end = whole_name(text, start, end, category, low, ceiling)
            if form.plural and end != target.end:
                form = Form(form.base, possessive=form.possessive)
        elif category == TERM:
            start = broken_off(text, start, end, low)
            if start < target.start and text[start].isupper():  # "Dig-, uh, digital" begins one
                name = name[:1].upper() + name[1:]
        person = category == "Person"
        core = put_together(name, Form(form.base, form.plural), person)
        core = core if target.entity else name
        if category in _CAPITALISED and text[start : start + 1].isupper() and core.islower():
            core = _BEGINS.sub(lambda letter: letter.group().upper(), core)
        shown = core
        possessive = form.possessive
        if not possessive:
            reached = min(possessive_end(text, start, end), ceiling)
            possessive = text[end:reached]
            if not target.glued and category not in NO_NAMES and own_ending(text, end) > end:
                reached = own_ending(text, end)
            elif not possessive and not person and (ending := _ENDING.match(text, end)):
                # the ending of a name in -s is another
                if core.endswith("s"):
                    reached, possessive = ending.end(), ending.group()
            elif not possessive:
                reached, shown = settle_stop(text, start, end, core)
                reached = end if reached > ceiling else reached
            end = reached
        old = text[start:end]
        new = put_together(shown, Form("", False, possessive), person) if possessive else shown
        if mend_articles and not target.glued:
            if span := find_article(text, start, low):
                article = text[span[0] : span[1]]
                new = _OWN_ARTICLE.sub("", new)
                mended = mend_article(article, old, new)
                if mended != article:
                    put(Edit(*span, article, mended, ARTICLE_CATEGORY, "", ""))
            elif target.entity and (change := mend_the(text, start, end, low, core, category)):
                first, last, put_in = change
                put(Edit(first, last, text[first:last], put_in, ARTICLE_CATEGORY, "", ""))
        put(Edit(start, end, old, new, category, entity, target.entity))
        if target.entity:
            inside = core if new.startswith(core) else new
            after.append(
                Mention(
                    length - len(new),
                    length - len(new) + len(inside),
                    category,
                    inside,
                    target.entity,
                )
            )
        floor = end
    keep(len(text))
    return Rewritten("".join(pieces), tuple(edits), tuple(after))


class _Target(NamedTuple):
    """A stretch of a text: a name to be replaced, or mentions to be kept (``name`` is None)."""

    start: int
    end: int
    mentions: tuple[Mention, ...] = ()
    key: Key = ("", "")
    entity: str = ""
    name: str | None = None
    form: Form = Form("")
    glued: bool = False


def _targets(
    text: str,
    mentions: Sequence[Mention],
    replacements: Mapping[Key, Replacement],
    must_change: Mapping[str, str],
) -> list[_Target]:
    """Return what is replaced and what is kept, in order and disjoint."""
    surfaces = surfaces_of(mentions)
    gone = forms_of(
        m
        for m in mentions
        if m.category in must_change or (m.category, entity_of(m)) in replacements
    )
    short = short_entities(mentions, gone)
    targets: list[_Target] = []
    kept: list[Mention] = []
    for mention in mentions:
        key = (mention.category, entity_of(mention))
        whole = short.get(key, key)
        if whole not in gone:
            kept.append(mention)
            targets.append(_Target(mention.start, mention.end, (mention,)))
            continue
        form = Form(mention.surface)
        if mention.category != QUANTITY:  # "5 million dollars" is no plural of a dollar
            known = {key[1], whole[1], *surfaces[key], *surfaces[whole]}
            form = base_form_of(mention.surface, known)
        shift = after_title(form.base) if whole[0] == "Person" else 0
        start = mention.start + shift
        form = Form(form.base[shift:], form.plural, form.possessive) if shift else form
        target = _replaced(text, start, mention.end, whole, form, gone, replacements, must_change)
        targets.append(target._replace(key=key) if key[0] == whole[0] else target)
    if not gone:
        return targets
    replaced = [(t.start, t.end) for t in targets if t.name is not None]
    reach = reaches(text, kept, mentions, gone)
    stay = [(m.start, m.end) for m in kept]
    held = words_held({m.entity for m in kept} | {text[slice(*place)] for place in reach})
    lefts = find_left(text, gone, replaced, held, kept=stay, reach=reach)
    targets = [
        t
        for t in targets
        if t.name is not None
        or not any(left.start <= t.start and t.end <= left.end for left in lefts)
    ]
    for left in lefts:
        end, form = _with_plural(text, left)
        targets.append(
            _replaced(
                text,
                left.start,
                end,
                left.key,
                form,
                gone,
                replacements,
                must_change,
                left.glued,
            )
        )
    return sorted(targets, key=lambda t: t.start)


def _with_plural(text: str, left: Left) -> tuple[int, Form]:
    """Return where a form found by search ends with the ending of its plural, and the form."""
    if left.glued:
        return left.end, Form(left.form)
    ending = _PLURAL.match(text, left.end)
    if ending:
        return ending.end(), Form(left.form, plural=True)
    written = text[left.start : left.end].casefold()
    return left.end, Form(left.form, plural=written == f"{left.form[:-1].casefold()}ies")


def _replaced(
    text: str,
    start: int,
    end: int,
    key: Key,
    form: Form,
    forms: Mapping[Key, Sequence[str]],
    replacements: Mapping[Key, Replacement],
    must_change: Mapping[str, str],
    glued: bool = False,
) -> _Target:
    if key[0] in must_change:
        return _Target(start, end, (), key, "", must_change[key[0]], form, glued)
    new = replacements[key]
    name = counterpart(
        form.base,
        key[1],
        forms[key],
        new.entity,
        new.forms,
        key[0],
        titled=title_before(text, start),
    )
    if glued:
        name = re.sub(r"[\W_]+", "", name.lower()) or name
    return _Target(start, end, (), key, new.entity, name, form, glued)


def _moved(mention: Mention, start: int, surface: str, entity: str) -> Mention:
    return Mention(start, start + len(surface), mention.category, surface, entity)


def in_place_of(text: str, new: str) -> Rewritten:
    """Return another text for a whole chunk: a summary of it, or nothing.

    Parameters
    ----------
    text : str
    new : str
        '' for a chunk that is not published.

    Returns
    -------
    Rewritten
        With one edit, of category :data:`DROP` or :data:`SUMMARY`, and no mentions.
    """
    how = SUMMARY if new else DROP
    return Rewritten(new, (Edit(0, len(text), text, new, how, "", ""),), ())


def given_by(edits: Iterable[Edit | Mapping[str, Any]]) -> dict[Key, Replacement]:
    """Return what a chunk gave away and for what, from its recorded edits.

    For :func:`~nes_spark.swapping.short_forms.given_away`, where only the ledger is at hand.

    Parameters
    ----------
    edits : iterable of Edit or mapping

    Returns
    -------
    dict
        (category, entity) -> :class:`Replacement` with the forms that were put in; for a
        placeholder it is the entity too.
    """
    forms: dict[Key, list[str]] = {}
    entities: dict[Key, str] = {}
    for edit in map(_as_row, edits):
        if edit["category"] not in (ARTICLE_CATEGORY, *WHOLE_TEXT):
            key = (edit["category"], edit["old_entity"])
            forms.setdefault(key, []).append(edit["new"])
            entities[key] = edit["new_entity"] or edit["new"]
    return {key: Replacement(entities[key], tuple(dict.fromkeys(f))) for key, f in forms.items()}


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
