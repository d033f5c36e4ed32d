"""Train the bundled recogniser: the word lists, the name classifier and, on request, a neural part.

Run as ``python -m nes_spark.building.recognizer --data DIR --corpora DIR --output DIR``. With
``--neural``, spaCy's hash embeddings, convolutions and transitions are trained too and run first;
what they find is one more voice. The shipped pipeline goes without: on calls of companies that
training had not seen they changed no label's F1 by more than their noise, at four fifths of the
time.
``--corpora`` is optional: a folder with ``earnings22/calls.jsonl``, of which the calls listed in
``data/forms.txt`` are labelled by form. ``--data`` holds
``train.jsonl`` and ``dev.jsonl``: one text a line with ``text``, ``ents`` (``[start, end, label]``,
half-open code points), ``missing`` (spans whose label is unknown in that source), ``has`` (labels
that the source annotates) and ``source``.

What is done to the data, and why:

* Spans of unknown label are trained as *missing*: the model may call them anything, so that a
  source without products does not teach that products are nothing.
* Dates are left to rules (:mod:`nes_spark.entities.dates`), which know them better.
* Tweets are left out: nothing else spells like them.
* Labels of the earnings calls were made by machine. Corrections of forms, read by a person, are
  applied first (:mod:`nes_spark.building.corrections`).
* Mentions are exchanged between sentences of the same label, so that the model learns frames and
  not only the names of few companies.
* Sentences made from templates of the domain show products and organisations in their frames.

Everything is seeded; the same data, seed and library versions give the same weights on the same
kind of processor.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from nes_spark.building.annotated import DATA, LABELS, Annotated, read_annotated
from nes_spark.entities.lists import read_lists

#: How often a source is seen per epoch: calls are the domain, the rest is for breadth.
WEIGHTS = {"earnings21": 0.8, "earnings22": 1.0, "templates": 0.6, "crossner": 0.25, "sec": 0.1}
#: The bundled embedder, whose word pieces the name classifier uses.
EMBEDDER = Path(__file__).parent.parent / "embedding" / "models" / "static-en"
#: What suppression puts in place of direct identifiers.
PLACEHOLDERS = {
    "ORG": ["[Company Name]"],
    "PERSON": ["[Executive 1]", "[Executive 2]", "[Executive 3]"],
}


def exchange_mentions(
    texts: Sequence[Annotated],
    donors: dict[str, list[str]],
    rng: random.Random,
    rate: float = 0.6,
    masked: float = 0.15,
) -> Iterator[Annotated]:
    """Yield copies of texts in which mentions were replaced by others of the same label.

    A share ``masked`` becomes placeholders, which are no entities: direct identifiers are
    suppressed before recognition, so that is what the texts will look like.
    """
    for text in texts:
        if not text.ents:
            continue
        ents = sorted(text.ents)
        if any(a[1] > b[0] for a, b in pairwise(ents)):
            continue
        spans = sorted(
            [(s, e, label) for s, e, label in ents] + [(s, e, "") for s, e in text.missing]
        )
        pieces: list[str] = []
        new_ents: list[tuple[int, int, str]] = []
        new_missing: list[tuple[int, int]] = []
        at = length = 0
        for start, end, label in spans:
            if start < at:
                continue
            pieces.append(text.text[at:start])
            length += start - at
            old = text.text[start:end]
            new = old
            draw = rng.random()
            if label in PLACEHOLDERS and draw > 1 - masked:
                new = rng.choice(PLACEHOLDERS[label])
            elif label and donors.get(label) and draw < rate:
                new = rng.choice(donors[label])
            pieces.append(new)
            if new.startswith("["):
                pass
            elif label:
                new_ents.append((length, length + len(new), label))
            else:
                new_missing.append((length, length + len(new)))
            length += len(new)
            at = end
        pieces.append(text.text[at:])
        yield Annotated("".join(pieces), tuple(new_ents), tuple(new_missing), text.source, text.has)


def to_example(nlp: Any, text: Annotated) -> Any:
    """Turn an annotated text into a spaCy ``Example`` whose unknown spans are missing values."""
    from spacy.training import Example

    doc = nlp.make_doc(text.text)
    tags = ["O"] * len(doc)
    used = [False] * len(doc)
    for start, end, label in sorted(text.ents, key=lambda s: (s[0] - s[1], s[0])):
        span = doc.char_span(start, end, alignment_mode="expand")
        if span is None or any(used[i] for i in range(span.start, span.end)):
            continue
        for i in range(span.start, span.end):
            used[i] = True
        if label not in text.has:
            # the source does not annotate this label throughout: do not insist
            for i in range(span.start, span.end):
                tags[i] = "-"
        elif len(span) == 1:
            tags[span.start] = f"U-{label}"
        else:
            tags[span.start] = f"B-{label}"
            tags[span.end - 1] = f"L-{label}"
            for i in range(span.start + 1, span.end - 1):
                tags[i] = f"I-{label}"
    for start, end in text.missing:
        span = doc.char_span(start, end, alignment_mode="expand")
        if span is not None:
            for i in range(span.start, span.end):
                if not used[i]:
                    tags[i] = "-"
    return Example.from_dict(doc, {"entities": tags})


def find_donors(texts: Sequence[Annotated]) -> dict[str, list[str]]:
    """Return surfaces by label that may stand in for others of the same label.

    Half the organisations and products come from the package's list, so that rare classes vary.
    """

    donors: dict[str, list[str]] = {label: [] for label in LABELS}
    for text in texts:
        for start, end, label in text.ents:
            surface = text.text[start:end]
            if label in text.has and len(surface.split()) <= 5 and surface[:1].isupper():
                donors[label].append(surface)
    gazetteer = read_lists(DATA / "gazetteer.txt")
    for label in ("ORG", "PRODUCT"):
        names = gazetteer[label]
        donors[label] += names * max(1, len(donors[label]) // len(names))
    return donors


def build_pipeline(width: int = 64, depth: int = 2) -> Any:
    """Return an untrained English pipeline with one component, ``ner``."""
    import spacy

    nlp = spacy.blank("en")
    config = {
        "model": {
            "@architectures": "spacy.TransitionBasedParser.v2",
            "state_type": "ner",
            "extra_state_tokens": False,
            "hidden_width": 64,
            "maxout_pieces": 2,
            "use_upper": True,
            "tok2vec": {
                "@architectures": "spacy.Tok2Vec.v2",
                "embed": {
                    "@architectures": "spacy.MultiHashEmbed.v2",
                    "width": width,
                    "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
                    "rows": [5000, 1000, 2500, 2500],
                    "include_static_vectors": False,
                },
                "encode": {
                    "@architectures": "spacy.MaxoutWindowEncoder.v2",
                    "width": width,
                    "depth": depth,
                    "window_size": 1,
                    "maxout_pieces": 3,
                },
            },
        }
    }
    ner: Any = nlp.add_pipe("ner", config=config)
    for label in LABELS:
        ner.add_label(label)
    return nlp


def _batches(examples: list[Any], words: int) -> Iterator[list[Any]]:
    batch: list[Any] = []
    size = 0
    for example in examples:
        batch.append(example)
        size += len(example.predicted)
        if size >= words:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _score(nlp: Any, texts: Sequence[Annotated]) -> dict[str, float]:
    """Overlap F1 per label on the earnings calls of ``texts``, missing spans ignored."""
    from nes_spark.building.evaluation import overlap_scores

    gold = [t for t in texts if t.source == "earnings21"] or list(texts)
    predicted = [
        [(e.start_char, e.end_char, e.label_) for e in doc.ents]
        for doc in nlp.pipe([t.text for t in gold])
    ]
    scores = overlap_scores(
        [list(t.ents) for t in gold], predicted, [list(t.missing) for t in gold]
    )
    return {label: s.f1 for label, s in scores.items()}


def train(
    data: str | Path,
    seed: int = 20,
    epochs: int = 5,
    batch_words: int = 700,
    dropout: float = 0.2,
    templates: int = 3000,
    extra: Iterable[Annotated] = (),
    log: Any = sys.stderr,
) -> Any:
    """Train the neural part; see the module's docstring.

    Parameters
    ----------
    data : path
        Folder with ``train.jsonl`` and ``dev.jsonl``.
    seed : int
        Seed of initial weights, order, dropout and exchanges.
    epochs : int
        Passes over the data; the one with the best score on the development set is kept.
    batch_words : int
        Tokens per update at most (plus the last text); grows to this from a quarter of it.
    dropout : float
        Dropout rate.
    templates : int
        Number of texts made from templates.
    extra : iterable of Annotated
        Further training texts.
    log : file
        Where the progress goes.

    Returns
    -------
    spacy.language.Language
        The trained pipeline, with averaged weights.
    """
    import spacy
    from thinc.api import Adam

    from nes_spark.building.corrections import correct
    from nes_spark.building.templates import template_sentences

    spacy.util.fix_random_seed(seed)
    rng = random.Random(seed)
    folder = Path(data)
    training = [*read_annotated(folder / "train.jsonl"), *extra]
    development = read_annotated(folder / "dev.jsonl")
    training = correct(training)
    development = correct(development)
    donors = find_donors(training)
    training += template_sentences(donors, rng, templates)
    calls = [t for t in training if t.source in ("earnings21", "earnings22")]
    nlp = build_pipeline()
    nlp.initialize(lambda: [to_example(nlp, t) for t in training[:200]])
    optimizer = Adam(0.001, beta1=0.9, beta2=0.999, L2=0.01, grad_clip=1.0, use_averages=True)
    plain = {id(t): to_example(nlp, t) for t in training}
    best, best_bytes = -1.0, b""
    for epoch in range(epochs):
        started = time.time()
        chosen = [plain[id(t)] for t in training if rng.random() < WEIGHTS.get(t.source, 0.25)]
        sample = rng.sample(calls, len(calls) // 3)
        chosen += [to_example(nlp, t) for t in exchange_mentions(sample, donors, rng)]
        rng.shuffle(chosen)
        size = min(batch_words, batch_words // 4 * (epoch + 1))
        losses: dict[str, float] = {}
        for batch in _batches(chosen, size):
            nlp.update(batch, drop=dropout, sgd=optimizer, losses=losses)
        with nlp.use_params(optimizer.averages):
            scores = _score(nlp, development)
            mean = sum(scores[label] for label in ("ORG", "PERSON", "LOC", "PRODUCT")) / 4
            shown = " ".join(f"{label} {100 * s:.0f}" for label, s in sorted(scores.items()))
            print(
                f"epoch {epoch + 1}: loss {losses['ner']:.0f}, mean {100 * mean:.1f}, {shown}, "
                f"{time.time() - started:.0f} s",
                file=log,
                flush=True,
            )
            if mean > best:
                best, best_bytes = mean, nlp.to_bytes(exclude=["vocab"])
    nlp.from_bytes(best_bytes, exclude=["vocab"])
    return nlp


def add_rules(
    nlp: Any,
    data: str | Path,
    seed: int = 20,
    templates: int = 3000,
    extra: Iterable[Annotated] = (),
) -> None:
    """Build the word lists, train the name classifier, and add both to a pipeline.

    Parameters
    ----------
    nlp : spacy.language.Language
        What :func:`train` returned, or a blank English pipeline.
    data, seed, templates, extra
        As in :func:`train`.
    """
    import nes_spark.entities.component  # noqa: F401  (registers the factory)
    from nes_spark.building.corrections import correct
    from nes_spark.building.names import build_lexicon, fit, fit_products, instances
    from nes_spark.building.templates import template_sentences
    from nes_spark.entities.wordvectors import from_embedder

    rng = random.Random(seed)
    real = [*correct(read_annotated(Path(data) / "train.jsonl")), *extra]
    donors = find_donors(real)
    calls = [t for t in real if t.source == "earnings21"]
    made = template_sentences(donors, rng, templates)
    made += list(exchange_mentions(calls, donors, rng))[:2000]
    lexicon = build_lexicon(real)
    component: Any = nlp.add_pipe("nes_rules")
    vectors = from_embedder(EMBEDDER)
    weights, projection = fit(*instances([*real, *made], lexicon), vectors=vectors, seed=seed)
    spoken = [t for t in real if t.source in ("earnings21", "earnings22")]
    products = fit_products(spoken, lexicon, vectors)
    component.set_content(lexicon, weights, vectors, projection, products)
    nlp.meta.update(
        name="bundled",
        version="1.3.0",
        description="Named entities of spoken business English",
        license="CC BY-SA 4.0",
        author="nes_spark",
    )


def doubt_parts(texts: Iterable[Annotated]) -> list[Annotated]:
    """Mark words that are known only as parts of the gazetteer's names as spans of unknown label.

    Labels by form know every word of a form, so that the place in an institution's name would be
    taught to be nothing wherever it stands alone. Only what is in the forms that were read in these
    calls is known to be nothing.
    """
    from nes_spark.building.corrections import forms_pattern

    read = read_lists(DATA / "forms.txt")
    del read["TICKERS"]
    listed = read_lists(DATA / "gazetteer.txt")
    whole = {form for forms in (*read.values(), *listed.values()) for form in forms}
    pattern = forms_pattern(whole)
    parts = {w for forms in listed.values() for form in forms for w in form.split()}
    parts -= {w for forms in read.values() for form in forms for w in form.split()}
    word = re.compile(r"(?<![.?!] )(?<!^)(?<!\n)\b[A-Za-z]*[A-Z][\w&'’-]*\w")
    doubted = []
    for text in texts:
        found = [m.span() for m in pattern.finditer(text.text)]
        unknown = {
            m.span()
            for m in word.finditer(text.text)
            if m.group() in parts and not any(s < m.end() and m.start() < e for s, e in found)
        }
        doubted.append(replace(text, missing=tuple(sorted({*text.missing, *unknown}))))
    return doubted


def folder_digest(folder: str | Path) -> str:
    """Return the SHA-256 over the names and contents of all files of a folder, sorted by name."""
    import hashlib

    digest = hashlib.sha256()
    for path in sorted(p for p in Path(folder).rglob("*") if p.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line of the training."""
    parser = argparse.ArgumentParser(prog="python -m nes_spark.building.recognizer")
    parser.add_argument("--data", required=True, help="folder with train.jsonl and dev.jsonl")
    parser.add_argument("--corpora", help="folder of the second corpus (earnings22/calls.jsonl)")
    parser.add_argument("--output", required=True, help="folder the pipeline is written to")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--templates", type=int, default=3000, help="texts made from templates")
    parser.add_argument("--neural", action="store_true", help="train spaCy's recogniser as well")
    options = parser.parse_args(arguments)
    extra: list[Annotated] = []
    if options.corpora:
        from nes_spark.building.corrections import read_second_corpus

        calls = Path(options.corpora) / "earnings22" / "calls.jsonl"
        extra = doubt_parts(read_second_corpus(calls))
    if options.neural:
        nlp = train(
            options.data,
            seed=options.seed,
            epochs=options.epochs,
            templates=options.templates,
            extra=extra,
        )
    else:
        import spacy

        nlp = spacy.blank("en")
    add_rules(nlp, options.data, options.seed, options.templates, extra)
    nlp.to_disk(options.output, exclude=["vocab"])
    print(f"sha256 of {options.output}: {folder_digest(options.output)}")


if __name__ == "__main__":
    main()
