"""The adversaries: what each of them is called and knows, and which stage lets it try.

This is the one place that names them. The audit runs those that are registered and switched on, the
report takes its words from here, gates may bind the ones that :attr:`Adversary.gate` allows, and no
language model may take one of their names. One of your own is one :class:`Adversary` given to
:func:`register` before the run starts.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nes_spark.errors import ConfigError, parameter_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nes_spark.config import AuditConfig
    from nes_spark.swapping.constraints import Constraint

LINKAGE = "linkage"
STYLE = "style"
WORDS = "words"
SWAP_AWARE = "swap-aware"
#: Suffix of the variant that knows the chunk itself too.
SELF = "-self"

#: Tables that attacks fill: guesses of the metadata, and guesses of who exchanged with whom.
PREDICTIONS_TABLE = "predictions"
PARTNERS_TABLE = "partner_guesses"


@dataclass(frozen=True)
class View:
    """What the adversaries are shown.

    Attributes
    ----------
    cells, chunks, mentions : pyspark.sql.DataFrame
        Tables CELLS, CHUNKS and MENTIONS of the corpus.
    rewrites : pyspark.sql.DataFrame
        Output of :func:`nes_spark.releases.publish_stages.chosen_rewrites`: the swapped chunks, as
        released.
    combination : tuple of str
        The swapped categories.
    hidden : tuple of str
        Categories that the release replaces by placeholders.
    knowledge : mapping of str to pyspark.sql.DataFrame
        ``cells``, ``chunks`` and ``mentions`` of another corpus that is known instead of this one;
        empty when it is this one.
    components : pyspark.sql.DataFrame or None
        ``chunk_id, component``, and what `constraints` compare: ``stratum, numbers, vector`` as
        :func:`nes_spark.swapping.stages.constrained` and ``with_vectors`` give them.
    constraints : tuple of Constraint
        The optional constraints that valid swaps met, and those that always hold; empty when there
        are no optional ones.
    until : contextlib.ExitStack or None
        Frees the disk that intermediate tables take, after the results were written.
    throughout : bool
        Whether exchanged names were replaced in the rest of their documents too.
    small : bool
        Whether the tables fit the driver: then attacks may read them there, with the same guesses.
    read : dict
        What was read there, for the next attack.
    words : KnownWords or None
        The words of `chunks` where other attacks on this corpus count them too.
    """

    cells: DataFrame
    chunks: DataFrame
    mentions: DataFrame
    rewrites: DataFrame
    combination: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    knowledge: Mapping[str, DataFrame] = field(default_factory=dict)
    components: DataFrame | None = None
    constraints: tuple[Constraint, ...] = ()
    until: ExitStack | None = None
    throughout: bool = False
    small: bool = False
    read: dict[str, list[dict[str, Any]]] = field(default_factory=dict, repr=False, compare=False)
    words: Any = field(default=None, repr=False, compare=False)


Attack = Callable[[View, "AuditConfig"], "DataFrame | list[tuple[Any, ...]]"]


@dataclass(frozen=True)
class Adversary:
    """One adversary.

    Attributes
    ----------
    name : str
        As in column ``model`` of its table, in metrics and in the configuration.
    knows : str
        Words for the report, without a subject: "knows the names in ..".
    attack : str or callable
        ``module:function``, or the function: takes a :class:`View` and the configuration, returns
        rows of `table`: a frame, or tuples where it works in memory. Adversaries that one pass
        serves name the same function.
    table : str
        :data:`PREDICTIONS_TABLE` or :data:`PARTNERS_TABLE`.
    gate : bool
        Whether ``gates.max_linkage_accuracy`` may bind it.
    enabled : callable
        From the configuration to whether it takes part.
    """

    name: str
    knows: str
    attack: str | Attack
    table: str = PREDICTIONS_TABLE
    gate: bool = True
    enabled: Callable[[AuditConfig], bool] = lambda config: True

    def function(self) -> Attack:
        """Return the function that runs it; imported only now, as it may need Spark."""
        if not isinstance(self.attack, str):
            return self.attack
        module, _, name = self.attack.partition(":")
        found: Attack = getattr(importlib.import_module(module), name)
        return found


#: By name, in the order in which the report describes them.
ADVERSARIES: dict[str, Adversary] = {}


def register(adversary: Adversary) -> Adversary:
    """Add an adversary.

    Raises
    ------
    ValueError
        When its name is taken, or its table is none that attacks fill.
    """
    if adversary.name in ADVERSARIES:
        raise parameter_error(
            "register", "name", f"none of {[*ADVERSARIES]}, which are taken", adversary.name
        )
    if adversary.table not in (PREDICTIONS_TABLE, PARTNERS_TABLE):
        raise parameter_error(
            "register", "table", f"{PREDICTIONS_TABLE!r} or {PARTNERS_TABLE!r}", adversary.table
        )
    ADVERSARIES[adversary.name] = adversary
    return adversary


_LINKAGE_STAGE = "nes_spark.audit.attack_stages:linkage"
_TEXT_STAGE = "nes_spark.audit.attack_stages:text"

for _adversary in (
    Adversary(LINKAGE, "knows the names in all other chunks of every source", _LINKAGE_STAGE),
    Adversary(
        LINKAGE + SELF,
        "knows the names in all chunks, the one in question included",
        _LINKAGE_STAGE,
    ),
    Adversary(
        WORDS,
        "knows all words of all other chunks of every source",
        _TEXT_STAGE,
        enabled=lambda config: config.text,
    ),
    Adversary(
        WORDS + SELF,
        "knows all words of all chunks, the one in question included",
        _TEXT_STAGE,
        enabled=lambda config: config.text,
    ),
    Adversary(
        STYLE,
        "looks at words only, with names taken away",
        _TEXT_STAGE,
        enabled=lambda config: config.text,
    ),
    Adversary(
        SWAP_AWARE,
        "knows the method and the swap rate, but not the seed, and looks for pairs of chunks that "
        "have exchanged names",
        "nes_spark.audit.attack_stages:swap_aware",
        PARTNERS_TABLE,
        gate=False,
        enabled=lambda config: config.swap_aware,
    ),
):
    register(_adversary)


def attacks_of(config: AuditConfig, table: str) -> list[Attack]:
    """Return the attacks that fill a table, each once, in the order of the registry."""
    wanted = [a for a in ADVERSARIES.values() if a.table == table and a.enabled(config)]
    return list(dict.fromkeys(a.function() for a in wanted))


def words_of_adversaries() -> dict[str, str]:
    """Return, for each adversary, what it knows, in words for the report."""
    return {name: adversary.knows for name, adversary in ADVERSARIES.items()}


def check_names(config: AuditConfig) -> None:
    """Refuse names that mean nothing or two things.

    Raises
    ------
    ConfigError
        When a language model has the name of an adversary, or the gate is to bind one that there is
        not, or that names no source. It may bind language models.
    """
    reserved = sorted({model.name for model in config.models} & set(ADVERSARIES))
    if reserved:
        raise ConfigError(
            f"audit.models: {reserved} are names of adversaries that are part of the audit; give "
            "the models other names"
        )
    allowed = [name for name, adversary in ADVERSARIES.items() if adversary.gate]
    allowed += [model.name for model in config.models]
    unknown = [name for name in config.gate_models if name not in allowed]
    if unknown:
        raise ConfigError(f"audit.gate_models: {unknown} cannot be bound; allowed: {allowed}")
