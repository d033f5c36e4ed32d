"""The audit: can anyone still tell whose text it is?"""

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

__all__ = [
    "AdversaryResult",
    "DropInterval",
    "McNemarResult",
    "PartnerResult",
    "accuracy_over_draws",
    "audit_metrics",
    "bootstrap_drop",
    "gate_accuracy",
    "mcnemar",
]
