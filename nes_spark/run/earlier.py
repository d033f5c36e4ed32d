"""An earlier run: where it is found, and what of it counts today.

A stage whose output has a part for each unit (a document, the text of a chunk) that depends on that
unit alone takes the parts of units that did not change from an earlier run. They count when the
earlier output was made with the code, settings and models of today (its *units key*) from the very
table of units that lies beside it, and when the files of both are those that were finished.

The tables that a run replaces are moved to ``stages/earlier`` until all that comes from them is
there; those of an earlier period are read where they are.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from nes_spark.errors import ConfigError
from nes_spark.logs import LOGGER
from nes_spark.run.context import Context, Taken
from nes_spark.store import Store

PREVIOUS = "previous"
#: Where tables lie that this run replaces, below the run folder: a run folder of its own.
ASIDE = ("stages", "earlier")
#: What it is called where a person reads it.
OWN = "before"
#: Output -> table of the units that its parts depend on.
UNITS = {"chunks": "documents", "recognised": "chunks", "embeddings": "chunks"}
#: Key of a manifest's details.
TAKEN = "taken"


def taken_by(store: Store) -> dict[str, Taken]:
    """Return what was taken from an earlier run, by output; of all that looked for something."""
    found = {name: store.manifest(name) for name in UNITS}
    return {
        name: Taken(**made.details[TAKEN])
        for name, made in found.items()
        if made is not None and TAKEN in made.details
    }


def earlier_periods(context: Context) -> Iterator[Store]:
    """Yield the run folders of periods before this one, in the same output, the last one first."""
    if context.config.period is None:
        return
    parent = posixpath.dirname(context.store.root)
    names = [p for p in context.store.siblings() if p < context.config.period]
    for period in sorted(names, reverse=True):
        yield Store(posixpath.join(parent, period))


def replaced_tables(store: Store) -> Store:
    """Return where the tables lie that a run replaces: a run folder, which need not be there."""
    return Store(store.path(*ASIDE))


def find_earlier(context: Context, output: str, today: str) -> tuple[str, Store] | None:
    """Find an earlier run whose output can be taken.

    Parameters
    ----------
    context : Context
        ``output.reuse`` says where to look; with ``context.anew`` nothing is found.
    output : str
        One of :data:`UNITS`.
    today : str
        Today's units key.

    Returns
    -------
    tuple of (str, Store) or None
        What it is called, and its folder. Outputs that have changed since they were finished are
        passed over with a warning.

    Raises
    ------
    ConfigError
        When a folder that the configuration names has no such table.
    """
    named = context.config.output.reuse
    if named is None or context.anew:
        return None
    for name, store in _places(context, named):
        reason = unusable(store, output, today)
        if not reason:
            return name, store
        if name != named and reason in (_NOT_THERE, _OTHERWISE, _APART):
            continue
        if reason == _NOT_THERE:
            raise ConfigError(
                f"output.reuse: {named} holds no finished {output}; give a run folder such as "
                "out/2020Q3, 'previous' or null"
            )
        LOGGER.warning("%s of the run %s: %s; nothing is taken from it", output, name, reason)
    return None


_NOT_THERE = "not there"
_OTHERWISE = "made with other code, settings or models"
_APART = "not made from the table beside it"


def _places(context: Context, named: str) -> Iterator[tuple[str, Store]]:
    yield OWN, replaced_tables(context.store)
    if named != PREVIOUS:
        store = Store(named)
        if store.root != context.store.root:  # its own tables are aside
            yield named, store
        return
    for store in earlier_periods(context):
        yield posixpath.basename(store.root), store


def unusable(store: Store, output: str, today: str) -> str:
    """Say why nothing of an earlier run's output can be taken; empty where it can.

    Parameters
    ----------
    store : Store
        The earlier run.
    output, today : str
        As for :func:`find_earlier`.
    """
    if not store.exists("stages", output):
        return _NOT_THERE
    unit = UNITS[output]
    for name in (output, unit):
        # a table that is being made, or whose files went, has no manifest that counts
        if store.read_manifest(name) is None:
            return _NOT_THERE
    made, units = store.read_manifest(output), store.read_manifest(unit)
    assert made is not None
    assert units is not None
    if made.details.get(TAKEN, {}).get("made_with") != today:
        return _OTHERWISE
    if made.inputs.get(unit) != units.content:
        return _APART
    for name in (output, unit):
        if fault := store.fault(name):
            return f"{name}: {fault} since it was finished"
    return ""


def set_aside(store: Store, output: str) -> None:
    """Keep an output that is about to be replaced, where something of it may be taken.

    That is when something else, kept or not yet replaced, was made from it, or when it was made
    from something that is kept. What an interrupted run kept stays otherwise.
    """
    made = store.manifest(output)
    if made is None:
        return
    kept = replaced_tables(store)
    children = [
        found
        for child, unit in UNITS.items()
        if unit == output
        for where in (store, kept)
        if (found := where.manifest(child)) is not None
    ]
    used = any(child.inputs.get(output) == made.content for child in children)
    if not used and output in UNITS:
        unit = UNITS[output]
        parent = kept.manifest(unit)
        used = parent is not None and made.inputs.get(unit) == parent.content
    if used and not store.hand_over(output, kept):
        LOGGER.warning(
            "%s: this file system cannot keep tables aside; nothing is taken of what they held",
            store.root,
        )


def let_go(store: Store) -> None:
    """Remove what was set aside, once everything that is made of it is there again."""
    if not store.exists(*ASIDE):
        return
    for output, unit in UNITS.items():
        made, units = store.manifest(output), store.manifest(unit)
        if made is None or units is None or made.inputs.get(unit) != units.content:
            return
    store.remove(*ASIDE)
