import json

import pytest
from click.testing import CliRunner

from tests.benchmarks import bench_public_words
from tests.benchmarks.bench_public_words import LISTS, main, read_words, second_half

WORDS = {
    name: [f"{name.lower()}ite", f"{name.lower()}ium"] for name in ("Ada", "Bix", "Cul", "Dor")
}
BEFORE = {f"d{i}": f"We sell {' and '.join(words)}." for i, words in enumerate(WORDS.values())}
TRUTH = dict(zip(BEFORE, WORDS, strict=True))


class Kept:
    """A run that released every text as it was."""

    dropped = 0
    truth = TRUTH

    def __init__(self, run_dir):
        pass

    def texts(self, column):
        return BEFORE

    def changed(self):
        return 0.0

    def why(self, secret, word):
        return "not recognised 1"


@pytest.fixture
def said(tmp_path, monkeypatch):
    """What the command prints for that run."""
    monkeypatch.setattr(bench_public_words, "Released", Kept)
    words = tmp_path / "words.json"
    words.write_text(json.dumps(WORDS))

    def run(*options):
        done = CliRunner().invoke(main, [str(tmp_path), "--words", str(words), *options])
        assert done.exit_code == 0, done.output
        return done.output

    return run


def test_all_companies_are_named_and_their_words_told(said):
    output = said()
    assert "after:  named 4.0 of 4" in output
    assert all(f"    {word}, in 1 documents" in output for mine in WORDS.values() for word in mine)


def test_of_halves_one_is_counted_and_not_looked_into(said):
    second = [name for name in WORDS if second_half(name)]
    first = [name for name in WORDS if not second_half(name)]
    assert first and second
    output = said("--halves", "--every")
    assert f"first half:  named {len(first):.1f} of {len(first)}" in output
    assert f"second half: named {len(second):.1f} of {len(second)}" in output
    assert all(word in output for name in first for word in WORDS[name])
    assert not any(word in output for name in second for word in WORDS[name])


@pytest.mark.parametrize(("corpus", "size"), [("earnings21", 44), ("earnings22", 72)])
def test_every_listed_company_has_words(corpus, size):
    lists = read_words(LISTS, corpus)
    assert len(lists) == size
    assert all(len(words) >= 3 and all(words) for words in lists.values())
