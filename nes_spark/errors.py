"""Errors that reach a person as one line, and the exit code that each one means.

A message says what is wrong, which value, what is allowed and what to do. It never quotes text of a
document, a mention or a swap: messages end up in logs.
"""

from __future__ import annotations


class NesError(Exception):
    """Base of all errors that this package raises on purpose.

    Attributes
    ----------
    exit_code : int
        What the command line returns for it: 2 configuration, 3 input, 4 gate refused,
        5 infrastructure, 1 anything else.
    """

    exit_code = 1


class ConfigError(NesError):
    """The configuration is wrong; the message lists every fault found, one a line."""

    exit_code = 2


class InputError(NesError):
    """An input file or table cannot be used as a whole (single bad documents are quarantined)."""

    exit_code = 3


class EstimationError(NesError):
    """A statistical step has no honest answer: no convergence, a degenerate table.

    Attributes
    ----------
    reason : str
        A short code that callers and tables can carry, for example ``"no_sample_uniques"``.
    """

    exit_code = 4

    def __init__(self, message: str, reason: str = "not_estimable") -> None:
        super().__init__(message)
        self.reason = reason


class GateRefused(NesError):
    """A release did not pass its gates and was not published."""

    exit_code = 4


class LedgerError(NesError):
    """The sealed ledger is missing, damaged, or cannot be opened with the key given."""

    exit_code = 5


class InfrastructureError(NesError):
    """Java, Spark, MLflow, a disk or a remote endpoint failed."""

    exit_code = 5


def parameter_error(owner: str, name: str, allowed: str, got: object) -> ValueError:
    """Return the one shape of error for a bad parameter of a public function.

    Examples
    --------
    >>> str(parameter_error("chunk_text", "threshold", "a number from 0 to 100", 140))
    "The 'threshold' parameter of chunk_text must be a number from 0 to 100. Got 140 instead."
    """
    return ValueError(f"The {name!r} parameter of {owner} must be {allowed}. Got {got!r} instead.")
