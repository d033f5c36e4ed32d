"""What asking language models costs: the estimate before, the bill after."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from nes_spark.config import AuditConfig, LanguageModelConfig
from nes_spark.errors import NesError

#: Tokens that a chat message costs beside its text.
MESSAGE_OVERHEAD = 8


class BudgetExceeded(NesError):
    """The audit would cost, or has cost, more than ``audit.budget`` allows."""

    exit_code = 4


class AuditPending(NesError):
    """A batch is still under way at the provider; run the same audit again to collect it."""

    exit_code = 5


def price(
    model: LanguageModelConfig, prompt_tokens: int, completion_tokens: int, batch: bool
) -> float:
    """Return the price of so many tokens, in the currency of the configuration.

    0 where the configuration gives no prices: the estimate and the bill say that it is not known.
    """
    price_in, price_out = model.price_in or 0.0, model.price_out or 0.0
    full = (prompt_tokens * price_in + completion_tokens * price_out) / 1e6
    return full * model.batch_discount if batch else full


def estimate_tokens(characters: int, config: AuditConfig) -> int:
    """Estimate the input tokens of a question, carefully (rather too many)."""
    around = len(config.prompt) - len("{text}")
    return math.ceil((characters + around) / config.characters_per_token) + MESSAGE_OVERHEAD


@dataclass(frozen=True)
class ModelEstimate:
    """What one model will be asked.

    Attributes
    ----------
    model : str
        Its name in the configuration.
    questions : int
        Different questions of the audit.
    stored : int
        Those that are answered already.
    requests : int
        Those to be paid for.
    prompt_tokens, completion_tokens : int
        Estimate for them; answers as long as allowed.
    price : float
        What they will cost at most.
    paid : float
        What the stored ones have cost.
    priced : bool
        Whether the configuration gives prices; without them ``price`` and ``paid`` mean nothing.
    """

    model: str
    questions: int
    stored: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    price: float
    paid: float
    priced: bool = True


@dataclass(frozen=True)
class Estimate:
    """What the audit will ask and cost."""

    models: tuple[ModelEstimate, ...]
    currency: str = "USD"

    @property
    def requests(self) -> int:
        """Requests to be paid for."""
        return sum(m.requests for m in self.models)

    @property
    def price(self) -> float:
        """What they will cost at most."""
        return math.fsum(m.price for m in self.models)

    @property
    def paid(self) -> float:
        """What has been paid for this audit before."""
        return math.fsum(m.paid for m in self.models)

    def lines(self) -> list[str]:
        """Return the estimate as a person reads it, one line a model and a total."""
        found = [
            f"{m.model}: {m.requests:,} requests ({m.stored:,} of {m.questions:,} questions are "
            f"answered already), about {m.prompt_tokens:,} + {m.completion_tokens:,} tokens, "
            + (
                f"at most {m.price:,.2f} {self.currency}"
                if m.priced
                else "price unknown: set price_in and price_out of this model (per million tokens; "
                "0 for a server of your own)"
            )
            for m in self.models
        ]
        total = f"total: {self.requests:,} requests, "
        unknown = [m.model for m in self.models if not m.priced]
        if unknown:
            return [*found, f"{total}price unknown for {', '.join(unknown)}"]
        total += f"at most {self.price:,.2f} {self.currency}"
        before = f" on top of {self.paid:,.2f} {self.currency} paid before" if self.paid else ""
        return [*found, total + before]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"requests": self.requests, "price": self.price, **asdict(self)}


@dataclass(frozen=True)
class ModelBill:
    """What one model was asked and charged, for all questions of the audit.

    Attributes
    ----------
    model : str
        Its name in the configuration.
    questions : int
        Different questions, all answered.
    asked : int
        Those answered in this run; the others came from the store.
    prompt_tokens, completion_tokens : int
        As the endpoint counted them, over all answers.
    estimated : int
        Answers and useless replies that came without a count; theirs is an estimate, rather too
        high.
    wasted : int
        Replies that were charged and were of no use (by another model, without an answer).
    wasted_prompt_tokens, wasted_completion_tokens : int
        As the endpoint counted them.
    unknown : int
        Attempts in this run that broke off or ran out of time: the endpoint may have charged them.
    price : float
        Of answers and waste.
    priced : bool
        Whether the configuration gives prices.
    """

    model: str
    questions: int
    asked: int
    prompt_tokens: int
    completion_tokens: int
    wasted: int
    wasted_prompt_tokens: int
    wasted_completion_tokens: int
    unknown: int
    price: float
    estimated: int = 0
    priced: bool = True


@dataclass(frozen=True)
class Bill:
    """What the audit has cost, stored answers included."""

    models: tuple[ModelBill, ...]

    @property
    def total(self) -> float:
        """Price of everything."""
        return math.fsum(m.price for m in self.models)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"total": self.total, **asdict(self)}


def charged(
    model: LanguageModelConfig, records: Iterable[dict[str, Any]]
) -> tuple[int, int, float]:
    """Add up tokens and price of stored records."""
    prompt = completion = 0
    prices = []
    for record in records:
        prompt += record["prompt_tokens"]
        completion += record["completion_tokens"]
        prices.append(
            price(
                model,
                record["prompt_tokens"],
                record["completion_tokens"],
                record.get("via") == "batch",
            )
        )
    return prompt, completion, math.fsum(prices)
