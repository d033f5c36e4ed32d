"""Forms of names in a chunk: the surfaces of an entity's mentions, without their endings."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from nes_spark.entities.mentions import Mention
from nes_spark.swapping.wording import Form, take_apart

#: (category, entity)
Key = tuple[str, str]


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
    return {
        key: _forms(key[1], tuple(dict.fromkeys(found)))
        for key, found in surfaces_of(mentions).items()
    }


@lru_cache(maxsize=16_384)  # a corpus has most of its names in many chunks
def _forms(entity: str, surfaces: tuple[str, ...]) -> tuple[str, ...]:
    known = {entity, *surfaces}
    bases = dict.fromkeys(base_form_of(surface, known).base for surface in surfaces)
    return tuple(sorted(bases, key=lambda base: -len(base)))


def base_form_of(surface: str, known: Iterable[str]) -> Form:
    """Return a surface without endings, given the names that are known of its entity."""
    # A surface must not vouch for itself: "iPhones" is a plural only if there is an "iPhone".
    alone = _alone(surface)
    bare = alone.base.casefold()
    others = {without_endings(name) for name in known if name != surface}
    others = {name for name in others if name.casefold() != bare}
    return take_apart(surface, others) if others else alone


def without_endings(surface: str) -> str:
    """Return a surface without the endings that tell themselves: those of possessives."""
    return _alone(surface).base


@lru_cache(maxsize=65_536)
def _alone(surface: str) -> Form:
    return take_apart(surface, ())
