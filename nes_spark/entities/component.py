"""The spaCy component ``nes_rules``: rules and word lists that travel inside the pipeline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import filter_spans

from nes_spark.entities.names import (
    BUCKETS,
    CLASSES,
    Lexicon,
    NameClassifier,
    ProductClassifier,
)
from nes_spark.entities.rules import Rules
from nes_spark.entities.wordvectors import WordVectors


class RulesComponent:
    """Replaces ``doc.ents`` by what :class:`nes_spark.entities.rules.Rules` makes of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.set_content(Lexicon(), np.zeros((BUCKETS, len(CLASSES)), dtype=np.float16))

    def set_content(
        self,
        lexicon: Lexicon,
        weights: Any,
        vectors: WordVectors | None = None,
        projection: Any = None,
        products: tuple[Any, Any] | None = None,
    ) -> None:
        """Take word lists, the name classifier's weights, word vectors and their weights.

        ``products`` holds the two arrays of the second opinion on products, which needs vectors.
        """
        self._stored = weights
        self._projection = projection
        self._products = products
        second = None
        if products is not None and vectors is not None:
            second = ProductClassifier(*products, vectors)
        self.rules = Rules(lexicon, NameClassifier(weights, vectors, projection), second)

    def __call__(self, doc: Doc) -> Doc:
        """Set the final entities of a document and return it."""
        recognized = [(e.start_char, e.end_char, e.label_) for e in doc.ents]
        spans = []
        for start, end, label in self.rules(doc.text, recognized):
            span = doc.char_span(start, end, label=label, alignment_mode="expand")
            if span is not None:
                spans.append(span)
        doc.ents = filter_spans(spans)
        return doc

    def to_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> None:
        """Write word lists (JSON) and the non-zero weights (compressed) into a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        content = json.dumps(self.rules.lexicon.to_dict(), ensure_ascii=False)
        (folder / "lexicon.json").write_text(content, encoding="utf-8")
        rows = np.flatnonzero(np.any(self._stored != 0, axis=1)).astype(np.int32)
        arrays = {"rows": rows, "weights": self._stored[rows]}
        vectors = self.rules.classifier.vectors
        if vectors is not None:
            arrays["projection"] = self._projection
            vectors.to_disk(folder)
        if self._products is not None:
            weights, arrays["product_projection"] = self._products
            arrays["product_rows"] = np.flatnonzero(weights).astype(np.int32)
            arrays["product_weights"] = weights[arrays["product_rows"]]
        np.savez_compressed(folder / "names.npz", **arrays)

    def from_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> RulesComponent:
        """Read what :meth:`to_disk` wrote."""
        folder = Path(path)
        lexicon = json.loads((folder / "lexicon.json").read_text(encoding="utf-8"))
        with np.load(folder / "names.npz", allow_pickle=False) as stored:
            weights = np.zeros((BUCKETS, len(CLASSES)), dtype=np.float16)
            weights[stored["rows"]] = stored["weights"]
            projection = stored["projection"] if "projection" in stored.files else None
            products = None
            if "product_rows" in stored.files:
                second = np.zeros(BUCKETS, dtype=np.float16)
                second[stored["product_rows"]] = stored["product_weights"]
                products = (second, stored["product_projection"])
        vectors = None if projection is None else WordVectors.from_disk(folder)
        self.set_content(Lexicon.from_dict(lexicon), weights, vectors, projection, products)
        return self


class Alone:
    """Finds what a pipeline of rules alone finds, with tokens where spans begin and end only.

    A fourth of the time of such a pipeline went into tokens that nobody looks at.

    Parameters
    ----------
    component : RulesComponent
        The only one of the pipeline.
    tokenizer : callable
        Its tokenizer: text -> Doc, which looks at what stands between blanks, each for itself
        (:meth:`fits`).
    """

    def __init__(self, component: RulesComponent, tokenizer: Callable[[str], Doc]) -> None:
        self._component = component

        @lru_cache(maxsize=16_384)
        def tokens(run: str) -> tuple[tuple[int, int], ...]:
            return tuple((t.idx, t.idx + len(t)) for t in tokenizer(run))

        self._tokens = tokens

    @staticmethod
    def fits(tokenizer: Any) -> bool:
        """Whether a tokenizer is spaCy's own, without a special case that has a blank inside."""
        return type(tokenizer) is Tokenizer and not any(
            len(case) > 1 and any(map(str.isspace, case)) for case in tokenizer.rules or ()
        )

    def __call__(self, text: str) -> list[tuple[int, int, str]] | None:
        """Return start, end and label of each entity, widened to whole tokens.

        Returns
        -------
        list of (int, int, str) or None
            None where a span has a blank at one of its ends, or tokens belong to two of them: then
            the pipeline has to be asked.
        """
        found = []
        for start, end, label in self._component.rules(text, []):
            first, last = self._token(text, start), self._token(text, end - 1)
            if first is None or last is None:
                return None
            found.append((first[0], last[1], label))
        found.sort()
        return None if any(a[1] > b[0] for a, b in pairwise(found)) else found

    def _token(self, text: str, at: int) -> tuple[int, int] | None:
        """Where the token of a character begins and ends; None for a blank."""
        low = high = at
        while low and not text[low - 1].isspace():
            low -= 1
        while high < len(text) and not text[high].isspace():
            high += 1
        for start, end in self._tokens(text[low:high]):
            if low + start <= at < low + end:
                return low + start, low + end
        return None


@Language.factory("nes_rules", retokenizes=False)
def make_rules(nlp: Language, name: str) -> RulesComponent:
    """Make the component; its content comes with ``from_disk``."""
    return RulesComponent(name)
