"""Which words with a capital letter are left that only one company's documents have?

``python -m tests.benchmarks.left_capitals RUN_DIR`` reads the released chunks of a run folder
``OUT/PERIOD`` and joins them to their originals with its sealed ledger. A word is listed when it
stands in a released chunk as in its original, begins with a capital letter or has one inside, and
the originals of no other secret have it in any case. With it: how often, and where it stands the
first time. Names that the recogniser, the sweep and all gates missed are among these; whoever runs
it reads the list.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

import click

from tests.benchmarks.bench_public_words import Released

_WORD = re.compile(r"[^\W\d_](?:[\w&'’.-]*\w)?")
_PLACEHOLDER = re.compile(r"\[[^\[\]]*\]|<[^<>]*>")
_AROUND = 40


def capitals_left(chunks: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, int, str]]:
    """Return word, secret, how often it is left and where it stands first, sorted by word.

    Parameters
    ----------
    chunks : iterable of (str, str, str)
        Secret, text before and text after of every chunk.
    """
    rows = [(secret, _bare(before), _bare(after)) for secret, before, after in chunks]
    owners: dict[str, set[str]] = defaultdict(set)
    for secret, before, _ in rows:
        for word in _WORD.findall(before):
            owners[word.casefold()].add(secret)
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    for secret, before, after in rows:
        own = set(_WORD.findall(before))
        for match in _WORD.finditer(after):
            word = match.group()
            if word == word.lower() or word not in own or owners[word.casefold()] != {secret}:
                continue
            counts[word, secret] += 1
            around = after[max(0, match.start() - _AROUND) : match.end() + _AROUND]
            first.setdefault((word, secret), " ".join(around.split()))
    return [(word, secret, n, first[word, secret]) for (word, secret), n in sorted(counts.items())]


def _bare(text: str) -> str:
    return _PLACEHOLDER.sub(" ", text)


@click.command(help=__doc__)
@click.argument("run_dir")
def main(run_dir: str) -> None:
    chunks = Released(run_dir).chunks
    found = capitals_left(chunks[["metadata", "text", "after"]].itertuples(index=False, name=None))
    for word, secret, n, around in found:
        print(f"{word}\t{n}\t{secret}\t…{around}…")
    print(f"{len(found)} words in {len(chunks):,} chunks")


if __name__ == "__main__":
    main()
