"""A deterministic embedding and texts for the chunker's tests."""

from __future__ import annotations

import hashlib
import json
import os
import random
from pathlib import Path

import numpy as np

CORPORA = Path(
    os.environ.get("NES_SPARK_CORPORA", Path(__file__).resolve().parents[3] / "shared" / "corpora")
)
TOPICS = (
    "revenue grew margin quarter sales price volume demand orders backlog",
    "weather storm region river harvest rain crop field soil season",
    "team people culture safety hiring training community school office leaders",
    "trial patient dose therapy clinic study safety response cohort endpoint",
    "debt cash liquidity facility bond interest rating maturity dividend capital",
)


def embed(texts: list[str]) -> np.ndarray:
    """Hash words into 48 buckets: equal words give nearby vectors, on every machine."""
    rows = np.zeros((len(texts), 48))
    for i, text in enumerate(texts):
        for word in text.lower().split():
            digest = hashlib.blake2b(word.encode(), digest_size=2).digest()
            rows[i, digest[0] % 48] += 1 + digest[1] / 256
        rows[i, 0] += 1e-3
    return rows


def synthetic(seed: int) -> str:
    """A text that changes its topic every few sentences."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(rng.randint(8, 25)):
        words = rng.choice(TOPICS).split()
        for _ in range(rng.randint(1, 6)):
            chosen = [rng.choice(words) for _ in range(rng.randint(3, 14))]
            sentences.append(" ".join(chosen).capitalize() + rng.choice([".", ".", "?", "!"]))
    return " ".join(sentences)


def real_texts() -> dict[str, str]:
    """The first 26 calls of the Earnings-21 corpus, cut; empty where it is not at hand."""
    path = CORPORA / "earnings21" / "calls.jsonl"
    if not path.exists():
        return {}
    texts = {}
    with path.open(encoding="utf-8") as file:
        for line in list(file)[:26]:
            call = json.loads(line)
            text = "\n\n".join(turn["text"] for turn in call["turns"])
            texts["earnings21/" + call["document_id"]] = text[:40_000]
    return texts


def synthetic_texts() -> dict[str, str]:
    return {f"synthetic/{seed}": synthetic(seed) for seed in range(12)}


def fingerprint(spans: list[tuple[int, int]]) -> str:
    """A hash of sentence boundaries, so that recorded chunks are only used with the same ones."""
    return hashlib.sha256(json.dumps(spans).encode()).hexdigest()[:16]
