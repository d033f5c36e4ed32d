"""The audit: can anyone still tell whose text it is?

The attackers on plain tables (:func:`attack_documents` and what goes with it) are loaded when they
are first asked for: they bring SciPy and pandas, which the command line does without.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nes_spark.audit.statistics import (
    DropInterval,
    McNemarResult,
    accuracy_over_draws,
    bootstrap_drop,
    mcnemar,
)
from nes_spark.audit.summary import (
    AdversaryResult,
    PartnerResult,
    audit_metrics,
    gate_accuracy,
)

if TYPE_CHECKING:
    from nes_spark.audit.chunk_attack import attack_chunks
    from nes_spark.audit.documents import attack_documents, half_known
    from nes_spark.audit.shares import coupled, share_named, share_named_dependent, summary_of

_ATTACKS = {
    "attack_chunks": "chunk_attack",
    "attack_documents": "documents",
    "coupled": "shares",
    "half_known": "documents",
    "share_named": "shares",
    "share_named_dependent": "shares",
    "summary_of": "shares",
}

__all__ = [
    "AdversaryResult",
    "DropInterval",
    "McNemarResult",
    "PartnerResult",
    "accuracy_over_draws",
    "attack_chunks",
    "attack_documents",
    "audit_metrics",
    "bootstrap_drop",
    "coupled",
    "gate_accuracy",
    "half_known",
    "mcnemar",
    "share_named",
    "share_named_dependent",
    "summary_of",
]


def __getattr__(name: str) -> Any:
    """Load an attack on plain tables."""
    if name in _ATTACKS:
        return getattr(import_module(f"{__name__}.{_ATTACKS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
