"""Downstream tasks that are scored before and after swapping, beside DU."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from nes_spark.errors import ConfigError


class Prediction(NamedTuple):
    """What a task makes of one text: a label, and the score behind it."""

    label: str
    score: float


class UtilityTask(ABC):
    """A task that a user of the released texts would run.

    Subclasses take no arguments, carry a ``name``, and are loaded once a worker from their dotted
    path (``utility.tasks`` in the configuration). They must be functions of the text alone: no
    randomness, no state between calls.

    Examples
    --------
    >>> class Length(UtilityTask):
    ...     name = "length"
    ...     def predict(self, texts):
    ...         return [Prediction("long" if len(t) > 99 else "short", len(t)) for t in texts]
    """

    name: str = ""

    @abstractmethod
    def predict(self, texts: Sequence[str]) -> list[Prediction]:
        """Return one prediction a text, in order.

        Parameters
        ----------
        texts : sequence of str
            Chunks.

        Returns
        -------
        list of Prediction
        """


def load_task(path: str) -> UtilityTask:
    """Load a task from its dotted path.

    Parameters
    ----------
    path : str
        ``package.module.Class`` or ``package.module:Class``.

    Returns
    -------
    UtilityTask

    Raises
    ------
    ConfigError
        When there is no such class, or it is not a task with a name.
    """
    module_name, _, class_name = path.replace(":", ".").rpartition(".")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError):
        raise ConfigError(
            f"utility.tasks: no class {path!r}; give the dotted path of a UtilityTask, for example "
            "nes_spark.utility.sentiment.Sentiment"
        ) from None
    if not (isinstance(found, type) and issubclass(found, UtilityTask)):
        raise ConfigError(f"utility.tasks: {path!r} is not a subclass of UtilityTask")
    if not found.name:
        raise ConfigError(f"utility.tasks: {path!r} has no name")
    return found()
