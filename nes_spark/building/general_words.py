"""Make the list of general words: what a word becomes where no other document's word fits.

    python -m nes_spark.building.general_words --wordnet DICT --output FILE

``data/general_words.txt`` names synsets of WordNet, each with the general word for all below it
(Miller, "WordNet: a lexical database for English", Communications of the ACM 38, 1995), words told
by hand, and words that are left out. A noun goes to the nearest of these synsets above its senses.
Its senses vote, by how often a sense was counted in WordNet's tagged texts and by its rank; a word
is left out where no general word has more than :data:`LEAST` of the votes ("bridge" is a
structure, a game and a part of a nose). What is above nearly everything ("activity", "matter") is
no general word: it fits few sentences. DICT is the folder ``dict`` of WordNet 3.0 or 3.1
(``data.noun``, ``index.noun``, ``cntlist.rev``).
"""

from __future__ import annotations

import argparse
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nes_spark.building.annotated import DATA
from nes_spark.entities.lists import read_lists
from nes_spark.entities.terms import stem
from nes_spark.entities.wordforms import is_word

ANCHORS = DATA / "general_words.txt"
#: Section of words that are left out.
NOTHING = "NOTHING"
#: Share of the votes that one general word must have.
LEAST = 0.6


@dataclass
class Nouns:
    """The nouns of WordNet.

    Attributes
    ----------
    above : dict of str to list of str
        Synset -> those right above it.
    senses : dict of str to list of str
        Word -> its synsets, the commonest first.
    counts : dict of str to dict of int to int
        Word -> number of a sense, from 1 -> how often it was counted in texts.
    names : set of str
        Words that are names in a sense, in small letters ("cologne").
    """

    above: dict[str, list[str]] = field(default_factory=dict)
    senses: dict[str, list[str]] = field(default_factory=dict)
    counts: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    names: set[str] = field(default_factory=set)


def _lines(file: Path) -> Iterator[list[str]]:
    for line in file.read_text(encoding="ascii").splitlines():
        if not line.startswith("  "):  # the licence
            yield line.partition(" | ")[0].split()


def read_nouns(folder: Path) -> Nouns:
    """Read the database files of WordNet (its manual page ``wndb``)."""
    nouns = Nouns()
    for synset, _, _, words, *rest in _lines(folder / "data.noun"):
        at = 2 * int(words, 16)
        pointers = [rest[k : k + 4] for k in range(at + 1, at + 1 + 4 * int(rest[at]), 4)]
        nouns.above[synset] = [p[1] for p in pointers if p[0] in ("@", "@i")]
        nouns.names.update(word.lower() for word in rest[:at:2] if not word.islower())
    for word, _, _, pointers_told, *rest in _lines(folder / "index.noun"):
        nouns.senses[word] = rest[int(pointers_told) + 2 :]
    for key, number, count in _lines(folder / "cntlist.rev"):
        word, _, kind = key.partition("%")
        if kind.startswith("1"):
            nouns.counts[word][int(number)] = int(count)
    return nouns


def read_anchors(file: Path, nouns: Nouns) -> tuple[dict[str, str], dict[str, str]]:
    """Return synset -> general words, and word told by hand -> general words ('' for none).

    Raises
    ------
    ValueError
        When a synset is not in WordNet, or a synset or a word stands in two sections.
    """
    anchors: dict[str, str] = {}
    told: dict[str, str] = {}
    for section, forms in read_lists(file).items():
        name = "" if section == NOTHING else section
        for form in forms:
            word, mark, sense = form.partition("#")
            if not mark:
                if told.setdefault(word, name) != name:
                    raise ValueError(f"{file.name}: {word!r} stands twice")
                continue
            senses = nouns.senses.get(word, [])
            if not 1 <= int(sense) <= len(senses):
                raise ValueError(f"{file.name}: WordNet has no {form!r}")
            if anchors.setdefault(senses[int(sense) - 1], name) != name:
                raise ValueError(f"{file.name}: {form!r} is a synset of two general words")
    return anchors, told


def nearest(synset: str, nouns: Nouns, anchors: Mapping[str, str]) -> str | None:
    """Return the general words of the nearest anchor at or above a synset, None without one.

    Of several as near the first by the alphabet.
    """
    seen, level = {synset}, [synset]
    while level:
        found = sorted(anchors[s] for s in level if s in anchors)
        if found:
            return found[0]
        above = dict.fromkeys(a for s in level for a in nouns.above[s])
        level = [a for a in above if a not in seen]
        seen.update(level)
    return None


def general_of(word: str, nouns: Nouns, anchors: Mapping[str, str]) -> str | None:
    """Return the general words that the senses of a word vote for, None where they disagree."""
    votes: dict[str | None, float] = defaultdict(float)
    for rank, synset in enumerate(nouns.senses.get(word, ()), start=1):
        votes[nearest(synset, nouns, anchors)] += nouns.counts[word].get(rank, 0) + 1 / rank
    total = sum(votes.values())
    for name, share in votes.items():
        if name is not None and share > LEAST * total:
            return name
    return None


def general_words(
    nouns: Nouns, anchors: Mapping[str, str], told: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return general words -> the words that become them, in the singular and sorted."""
    found: dict[str, list[str]] = defaultdict(list)
    plain = (w for w in nouns.senses.keys() - nouns.names if w.isalpha() and len(w) > 2)
    for word in sorted({*(w for w in plain if stem(w) == w and is_word(w)), *told}):
        name = told[word] if word in told else general_of(word, nouns, anchors)
        if name and word not in {part.strip() for part in name.split("|")}:
            found[name].append(word)
    return dict(found)


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wordnet", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    nouns = read_nouns(given.wordnet)
    found = general_words(nouns, *read_anchors(ANCHORS, nouns))
    lines = [
        "# What words become where they are generalised; made by nes_spark.building.general_words.",
        "# Derived from WordNet, (c) Princeton University: licences/WordNet.txt.",
        "# [general word | its plural | without an article, - for none]",
    ]
    for name, words in found.items():
        lines += [f"[{name}]", *textwrap.wrap("; ".join(words), 100, break_on_hyphens=False)]
    given.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{sum(map(len, found.values())):,} words, {len(found)} general words: {given.output}")


if __name__ == "__main__":
    main()
