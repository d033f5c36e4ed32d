"""What the benchmark of re-identification makes of a folder, on a few made-up cases."""

from __future__ import annotations

import json
import random

import numpy as np
import pandas as pd
import pytest

from nes_spark.utility.judge import Reader
from tests.benchmarks import bench_reidentification as bench

PEOPLE = ["Ana Orr", "Ivo Marsh", "Una Brandt", "Odd Fjell", "Kai Moss", "Eva Lind"]
TOWNS = ["Oslo", "Ulm", "Faro", "Eger", "Riga", "Graz"]
SUBJECTS = [
    "mining cement limestone quarry dust",
    "fishing trawler herring quota harbour",
    "violin orchestra concert rehearsal bow",
    "vaccine clinic nurse dosage fever",
    "railway signal driver timetable brake",
    "orchard cider apple harvest barrel",
]


def case(k):
    rng = random.Random(k)
    words = SUBJECTS[k].split()
    text, spans = "", []

    def put(part, kind=""):
        nonlocal text
        if kind:
            spans.append([len(text), len(text) + len(part), kind])
        text += part

    for paragraph in range(4):
        if paragraph:
            put("\n\n")
        put(f"In {1990 + k} the court heard about {' and '.join(rng.sample(words, 3))}. ")
        put(PEOPLE[k], "PERSON")
        put(" of ")
        put(TOWNS[k], "LOC")
        put(f" wrote on {' and '.join(rng.sample(words, 2))} on ")
        put(f"{k + 1} May {1990 + k}", "DATETIME")
        put(f" and paid ${k + 2},000,000 for {words[0]}.")
    return {"document_id": f"case {k}", "text": text, "spans": dict.fromkeys(bench.TRIAL, spans)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tab")
    cases = [case(k) for k in range(6)]
    known = [
        {
            "metadata": f"case {k}",
            "text": f"{PEOPLE[k]}, {TOWNS[k]}: {SUBJECTS[k]}. {SUBJECTS[k]} was argued by "
            f"{PEOPLE[k]} in {TOWNS[k]}, they say; the court heard it.",
        }
        for k in range(6)
    ]
    for name, rows in (("cases", cases), ("background", known)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def corpus(folder):
    return bench.Corpus.of(bench.read(folder)[0], "manual")


def test_spans_are_carried_into_paragraphs_under_the_package_s_names(corpus):
    assert len(corpus.texts) == 24
    for i, mine in corpus.mentions.items():
        assert [m.category for m in mine] == ["Person", "Location", "Date"]
        assert all(corpus.texts[i][m.start : m.end] == m.surface for m in mine)
    assert bench.joined(corpus, corpus.texts) == {f"case {k}": case(k)["text"] for k in range(6)}


def test_further_places_stand_beside_the_spans(corpus):
    assert corpus.further(0) is corpus.mentions
    few, many = (corpus.further(n)["case 0#00000"] for n in (2, 50))
    kinds = [m.category for m in few]
    assert kinds.count("Quantity") == 1 and 1 <= kinds.count("Term") <= 4
    assert set(few) < set(many)


@pytest.mark.parametrize("name", [n for n in bench.TREATMENTS if n != "original"])
def test_no_treatment_leaves_a_span(corpus, name):
    texts, pairs = bench.TREATMENTS[name].treatment(corpus, b"1")
    assert list(texts) == list(corpus.texts)
    terms = next((n for n in (bench.FEW, bench.MANY) if f" {n} terms" in name), 0)
    for i, text in texts.items():
        k = int(corpus.owner[i].split()[1])
        assert PEOPLE[k] not in text and TOWNS[k] not in text
        assert f"{k + 1} May {1990 + k}" not in text
        if terms:
            assert f"${k + 2},000,000" not in text
        if name.startswith("blanked"):
            assert not set("".join([*PEOPLE, *TOWNS]).split()) & set(text.split())
    exchanged = "swapped" in name or "released" in name
    assert bool(pairs) == exchanged
    assert all(a != b for a, b in pairs)
    assert texts == bench.TREATMENTS[name].treatment(corpus, b"1").texts
    if exchanged:
        assert any(town in text for town in TOWNS for text in texts.values())
        assert texts != bench.TREATMENTS[name].treatment(corpus, b"2").texts


def test_a_document_as_unit_keeps_one_name_throughout(corpus):
    texts, _ = bench.TREATMENTS["released, document"].treatment(corpus, b"1")
    towns = {
        corpus.owner[i]: {t for t in TOWNS for j in texts if corpus.owner[j] == corpus.owner[i]
                          if t in texts[j]}
        for i in texts
    }  # fmt: skip
    assert all(len(found) == 1 for found in towns.values())


def embed(texts):
    """Counts of letters: a name in place of another changes them, a hole too."""
    found = np.array([[t.count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for t in texts]) + 0.1
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def test_the_judge_reads_the_same_paragraphs_for_all(corpus):
    judge = bench.Judge(10, Reader(embed))
    ids = judge.sample(corpus)
    assert len(ids) == 10 and ids == judge.sample(corpus)
    same = judge.figures(corpus, corpus.texts)
    assert same["fidelity"][0] == pytest.approx(1) and same["pMSE"][0] == 0
    assert same["sentiment agreement"][0] == 1
    other = bench.TREATMENTS["blanked"].treatment(corpus, b"1").texts
    figures = judge.figures(corpus, other)
    assert figures["fidelity"][0] == pytest.approx(judge.cosines(corpus, other).mean(), abs=1e-5)
    assert figures["fidelity"][0] < 1 and figures["pMSE"][0] > 0
    assert "topic_agreement" not in figures


def test_differences_are_paired():
    first, second = np.array([1.0, 1, 0, 1]), np.array([1.0, 0, 0, 0])
    mean, half = bench.difference(first, second)
    assert mean == 0.5
    assert half == pytest.approx(1.96 * np.std(first - second, ddof=1) / 2)
    assert bench.difference(first, first) == (0.0, 0.75)
    assert bench.signed((-0.25, 0.1)) == "-.250 ± .100"


def test_the_strongest_is_the_first_of_those_that_name_most():
    table = pd.DataFrame(
        {
            "attacker": ["words"] * 3 + ["names"] * 3 + ["style"] * 3,
            "rank": pd.array([1, 1, 2, 1, 2, 1, 3, 1, None], dtype="Int64"),
        }
    )
    assert bench.strongest(table, ["style", "names", "words"]) == "names"
    assert bench.strongest(table, ["style"]) == "style"


def test_the_command_prints_every_table_and_fails_where_fewer_are_named(
    folder, monkeypatch, capsys
):
    command = ["bench", "--data", str(folder), "--method", "manual", "--judged", "0"]
    monkeypatch.setattr("sys.argv", command)
    # six cases of four paragraphs are too few for ten components
    monkeypatch.setattr(bench.Topics, "of", lambda texts, seed: None)
    kept = [n for n in bench.TREATMENTS if " + " not in n]
    monkeypatch.setattr(bench, "TREATMENTS", {n: bench.TREATMENTS[n] for n in kept})
    assert bench.main() == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.startswith("| manual |")]
    assert [sum(f"| {n} |" in line for line in rows) for n in kept[1:]].count(0) == 0
    assert "nowhere" in out
    assert "released, document, less blanked" in out
    # a trial that nobody can reach
    monkeypatch.setattr(bench, "TRIAL", {"manual": (1.5, 0.5, 0.5, 0.5)})
    assert bench.main() == 1
    assert "manual, original" in capsys.readouterr().out
