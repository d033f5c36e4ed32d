"""The audit: can anyone still tell whose text it is?

The names below are loaded when they are first asked for: they bring SciPy and pandas, which the
command line does without until it needs them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nes_spark.audit.chunk_attack import attack_chunks
    from nes_spark.audit.documents import attack_documents, half_known
    from nes_spark.audit.public_words import attack_each_by_public_words, attack_public_words
    from nes_spark.audit.shares import coupled, share_named, share_named_dependent, summary_of
    from nes_spark.audit.statistics import (
        DropInterval,
        McNemarResult,
        accuracy_over_draws,
        bootstrap_drop,
        mcnemar,
        texts_needed,
    )
    from nes_spark.audit.summary import (
        AdversaryResult,
        PartnerResult,
        audit_metrics,
        gate_accuracy,
    )

_HOMES = {
    "chunk_attack": ("attack_chunks",),
    "documents": ("attack_documents", "half_known"),
    "public_words": ("attack_each_by_public_words", "attack_public_words"),
    "shares": ("coupled", "share_named", "share_named_dependent", "summary_of"),
    "statistics": (
        "DropInterval", "McNemarResult", "accuracy_over_draws", "bootstrap_drop", "mcnemar",
        "texts_needed",
    ),
    "summary": ("AdversaryResult", "PartnerResult", "audit_metrics", "gate_accuracy"),
}  # fmt: skip

__all__ = [
    "AdversaryResult",
    "DropInterval",
    "McNemarResult",
    "PartnerResult",
    "accuracy_over_draws",
    "attack_chunks",
    "attack_documents",
    "attack_each_by_public_words",
    "attack_public_words",
    "audit_metrics",
    "bootstrap_drop",
    "coupled",
    "gate_accuracy",
    "half_known",
    "mcnemar",
    "share_named",
    "share_named_dependent",
    "summary_of",
    "texts_needed",
]


def __getattr__(name: str) -> Any:
    """Load a name from the module that has it."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
