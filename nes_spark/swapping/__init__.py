"""Named entity swapping: valid pairs, the exact sampler, what is exchanged, and the text."""

from typing import TYPE_CHECKING

from nes_spark.lazy import lazily

if TYPE_CHECKING:
    from nes_spark.swapping.exchange import (
        Exchange,
        entities_after,
        name_similarity,
        plan_exchange,
    )
    from nes_spark.swapping.memory import Swap, sample_swaps
    from nes_spark.swapping.plan import Fate, LeftOver, Plan, PlanSwap, sample_plan
    from nes_spark.swapping.rewriting import (
        Edit,
        Rewritten,
        apply_edits,
        invert_edits,
        rewrite_pair,
        rewrite_text,
    )
    from nes_spark.swapping.seeds import (
        Secret,
        derive_seed,
        generate_secret,
        load_secret,
        secret_of_release,
        seed_fingerprint,
    )

__all__ = [
    "Edit",
    "Exchange",
    "Fate",
    "LeftOver",
    "Plan",
    "PlanSwap",
    "Rewritten",
    "Secret",
    "Swap",
    "apply_edits",
    "derive_seed",
    "entities_after",
    "generate_secret",
    "invert_edits",
    "load_secret",
    "name_similarity",
    "plan_exchange",
    "rewrite_pair",
    "rewrite_text",
    "sample_plan",
    "sample_swaps",
    "secret_of_release",
    "seed_fingerprint",
]

__getattr__ = lazily(
    __name__,
    {
        "exchange": ("Exchange", "entities_after", "name_similarity", "plan_exchange"),
        "memory": ("Swap", "sample_swaps"),
        "plan": ("Fate", "LeftOver", "Plan", "PlanSwap", "sample_plan"),
        "rewriting": (
            "Edit",
            "Rewritten",
            "apply_edits",
            "invert_edits",
            "rewrite_pair",
            "rewrite_text",
        ),
        "seeds": (
            "Secret",
            "derive_seed",
            "generate_secret",
            "load_secret",
            "secret_of_release",
            "seed_fingerprint",
        ),
    },
)  # fmt: skip
