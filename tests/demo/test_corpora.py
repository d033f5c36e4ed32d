import json
from collections import Counter
from itertools import combinations, islice, pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from nes_spark import demo
from nes_spark.config import load_config
from nes_spark.demo.__main__ import line_of, main
from nes_spark.demo.calls import GIANT, call, calls, topics, which_company
from nes_spark.demo.grammar import Dice, Page, compile_pattern, read_material, render, slots
from nes_spark.demo.world import company, organization, person, sectors

CONF = Path(__file__).parents[2] / "conf"
CATEGORIES = {"Organization", "Person", "Event", "Product", "Location", "Date"}
KINDS = CATEGORIES | {"company", "person", "url", "Other"}


@pytest.fixture(scope="module")
def corpus():
    return list(calls())


def test_bundled_file_is_what_the_generator_writes(corpus):
    bundled = demo.corpus_path().read_bytes()
    assert "".join(line_of(document) for document, _ in corpus).encode() == bundled
    assert len(bundled) < 1_500_000


def test_bundled_configuration_is_the_one_in_conf_and_is_valid():
    assert (CONF / "demo.yaml").read_bytes() == demo.config_path().read_bytes()
    config = load_config(demo.config_path())
    columns = config.input.columns
    record = json.loads(demo.corpus_path().read_text(encoding="utf-8").splitlines()[0])
    named = [columns.document_id, columns.metadata, columns.period, columns.turns]
    named += [c for group in columns.identifiers.values() for c in group]
    named += list(columns.covariates.values())
    assert set(named) <= set(record)
    assert {columns.turn_text, columns.turn_speaker, columns.turn_speaker_id} <= set(
        record["turns"][0]
    )


def test_thirty_companies_or_more_two_quarters_all_sectors(corpus):
    documents = [document for document, _ in corpus]
    assert len({d["company_name"] for d in documents}) >= 30
    assert len({d["ticker"] for d in documents}) == len({d["company_name"] for d in documents})
    periods = Counter(d["financial_quarter"] for d in documents)
    assert len(periods) == 2
    for period in periods:
        mine = {d["sector"] for d in documents if d["financial_quarter"] == period}
        assert mine == {s.name for s in sectors()}
    both = [{d["company_name"] for d in documents if d["financial_quarter"] == p} for p in periods]
    assert both[0] & both[1]
    assert both[0] ^ both[1]
    assert len({d["document_id"] for d in documents}) == len(documents)


def test_gold_says_what_stands_where(corpus):
    for document, gold in corpus:
        assert gold["document_id"] == document["document_id"]
        for turn, start, end, kind, surface in gold["spans"]:
            assert document["turns"][turn]["text"][start:end] == surface
            assert kind in KINDS
        ordered = sorted(gold["spans"])
        for (t1, _, end, *_), (t2, start, *_) in pairwise(ordered):
            assert t1 != t2 or end <= start


def test_gold_names_every_occurrence_of_the_company_and_its_website(corpus):
    for document, gold in corpus:
        text = " ".join(turn["text"] for turn in document["turns"])
        short = document["aliases"][-1]
        spans = [s for s in gold["spans"] if s[3] in ("company", "url")]
        assert len(spans) >= 2
        assert text.count(document["website"]) == sum(s[3] == "url" for s in spans)
        named = sum(s[4].count(short) for s in spans)
        # brands may hold the company's own word; anything else would be an identifier without gold
        others = sum(s[4].count(short) for s in gold["spans"] if s[3] in ("Product", "Event"))
        assert text.count(short) == named + others


def test_questions_start_after_the_last_prepared_turn(corpus):
    for document, gold in corpus:
        first = gold["qa_start_turn"]
        executives = set(gold["executive_speaker_ids"])
        before = [t for t in document["turns"][:first] if t["speaker"] != "Operator"]
        assert {t["speaker_id"] for t in before} <= executives
        after = {t["speaker_id"] for t in document["turns"][first:]}
        assert after - executives - {"0"}  # analysts
        assert "question" in document["turns"][first]["text"]
        assert 4 <= first <= 8


def test_texts_are_clean(corpus):
    for document, _ in corpus:
        for turn in document["turns"]:
            text = turn["text"]
            assert text == text.strip()
            for wrong in ("  ", "{", "}", "[", "]", "|", "..", " ,", " .", ",,", "the the "):
                assert wrong not in text, (document["document_id"], wrong)
            assert text[0].isupper()
            assert text[-1] in ".?!"
            assert document["speakers"][turn["speaker_id"]] == turn["speaker"]


def chunks_of(corpus):
    """Cells of rough chunks: the spans of every 200 characters of a presentation."""
    cells = []
    for document, gold in corpus:
        for position in range(gold["qa_start_turn"]):
            spans = [s for s in gold["spans"] if s[0] == position]
            for start in range(0, len(document["turns"][position]["text"]), 200):
                inside = [s for s in spans if start <= s[1] < start + 200]
                cells.append({c: tuple(sorted({s[4] for s in inside if s[3] == c})) for c in KINDS})
    return cells


def test_entities_give_uniques_and_repeats_as_the_risk_model_needs(corpus):
    cells = chunks_of(corpus)
    assert len(cells) > 500
    for pair in combinations(("Organization", "Person", "Product", "Location"), 2):
        counts = Counter(tuple(cell[c] for c in pair) for cell in cells)
        uniques = sum(n == 1 for n in counts.values()) / len(cells)
        assert 0.08 < uniques < 0.4, pair
        assert sum(1 < n < 50 for n in counts.values()) > 10, pair
    both = sum(bool(cell["Organization"] and cell["Product"]) for cell in cells)
    assert both > 45


def test_entities_are_shared_among_companies_and_also_unique(corpus):
    by_entity: dict[tuple[str, str], set[str]] = {}
    for document, gold in corpus:
        for _, _, _, kind, surface in gold["spans"]:
            by_entity.setdefault((kind, surface), set()).add(document["company_name"])
    for category in ("Organization", "Product", "Location"):
        spread = [len(v) for (kind, _), v in by_entity.items() if kind == category]
        assert max(spread) >= 6, category
        assert sum(n == 1 for n in spread) >= 20, category


def test_a_document_depends_on_its_number_only(corpus):
    assert list(islice(calls(1000), 5)) == corpus[:5]
    assert list(calls(2, start=30)) == corpus[30:32]
    assert call(7) == corpus[7]


def test_seed_changes_the_texts_and_nothing_else_does(corpus):
    other, _ = call(0, seed=1)
    assert other["turns"] != corpus[0][0]["turns"]
    assert call(0, seed=1)[0] == other


def test_later_companies_have_names_of_their_own():
    names = [company(2031, i).name for i in range(400)] + [
        company(2031, i).name for i in range(300_000, 300_200)
    ]
    assert len(set(names)) == len(names)
    stems = [company(2031, i).aliases[-1] for i in range(36, 2000)]
    assert len(set(stems)) == len(stems)
    tickers = [company(2031, i).ticker for i in range(400)]
    assert len(set(tickers)) == len(tickers)
    assert company(2031, 39).officers["ceo"][0].first != company(2031, 39).officers["cfo"][0].first


@pytest.mark.parametrize("periods", [1, 2, 3, 5])
def test_in_every_quarter_half_of_the_companies_report_each_time(periods):
    seen: dict[int, set[int]] = {}
    for document in range(20 * periods):
        seen.setdefault(document % periods, set()).add(which_company(document, periods))
    assert all(len(firms) == 20 for firms in seen.values())
    always = set.intersection(*seen.values())
    assert len(always) == (20 if periods == 1 else 10)


def test_skew_giant_document():
    giant, small = (len(line_of(call(i, skew="giant-document")[0])) for i in (0, 1))
    assert GIANT / 4 * small < giant < GIANT * small


def test_skew_giant_company():
    names = Counter(d["company_name"] for d, _ in calls(120, skew="giant-company"))
    assert 30 <= names.most_common(1)[0][1] <= 70
    assert names.most_common(2)[1][1] <= 4


def test_skew_heavy_tail():
    sizes = sorted(len(line_of(d)) for d, _ in calls(80, skew="heavy-tail"))
    assert sizes[-1] > 6 * sizes[len(sizes) // 2]


def test_skew_one_topic():
    plain, skewed = (
        sum(t["text"].count("launch") for d, _ in calls(30, skew=skew) for t in d["turns"])
        for skew in ("none", "one-topic")
    )
    assert skewed > 2 * plain


def test_skew_one_name_is_annotated():
    found = 0
    for document, gold in calls(10, skew="one-name"):
        texts = [turn["text"] for turn in document["turns"]]
        named = [s for s in gold["spans"] if s[4] == "Halden Trust"]
        assert all(texts[t][a:b] == "Halden Trust" for t, a, b, *_ in named)
        assert len(named) == sum(text.count("Halden Trust") for text in texts)
        found += len(named)
    assert found > 60


def test_more_questions_leave_the_presentation_as_it_is():
    (few, told), (many, told_many) = (call(3, asked=x) for x in (1.0, 5.0))
    begin = told["qa_start_turn"]
    assert told_many["qa_start_turn"] == begin
    assert many["turns"][:begin] == few["turns"][:begin]
    assert len(many["turns"]) > 2 * len(few["turns"])


def test_length_scales_a_call():
    short, long = (len(line_of(call(3, length=x)[0])) for x in (1.0, 6.0))
    assert 2 * short < long < 9 * short


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"documents": 0}, "'documents' parameter of calls must be an integer of at least 1"),
        ({"periods": ("2031-Q2",)}, "quarters such as '2031Q2'. Got '2031-Q2'"),
        ({"periods": ("2031Q2", "2031Q2")}, "different quarters"),
        ({"length": 0}, "'length' parameter"),
        ({"asked": 0}, "'asked' parameter"),
        ({"skew": "odd"}, "one of none, giant-document"),
        ({"start": -1}, "'start' parameter"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValueError) as caught:
        calls(**arguments)
    assert message in str(caught.value)


def test_command_line_writes_corpus_and_gold(tmp_path, corpus):
    out, gold = tmp_path / "a" / "calls.jsonl", tmp_path / "gold.jsonl"
    done = CliRunner().invoke(main, ["--documents", "3", "--output", str(out), "--gold", str(gold)])
    assert done.exit_code == 0, done.output
    lines = out.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [d for d, _ in corpus[:3]]
    assert [json.loads(line) for line in gold.read_text("utf-8").splitlines()] == [
        g for _, g in corpus[:3]
    ]


def test_command_line_names_a_bad_period_and_writes_nothing(tmp_path):
    out = tmp_path / "calls.jsonl"
    done = CliRunner().invoke(main, ["--periods", "spring", "--output", str(out)])
    assert done.exit_code == 2
    assert "quarters such as '2031Q2'" in done.output
    assert not out.exists()


def test_every_slot_of_the_material_can_be_filled():
    from nes_spark.demo.calls import Call

    made = Call(company(2031, 0), "2031Q2", 2031, 0, 1.0)
    for section, parts in read_material("calls.txt").items():
        for pattern in (line for lines in parts.values() for line in lines):
            for slot in slots(pattern):
                if ":" not in slot:
                    assert made.fill(slot).text, (section, slot)


def test_material_is_rich():
    assert len(topics()) >= 20
    sections = read_material("calls.txt").values()
    patterns = [line for parts in sections for lines in parts.values() for line in lines]
    assert len(patterns) >= 250
    assert len(set(patterns)) == len(patterns)


def test_dice_are_the_same_everywhere():
    dice = Dice("check", 1)
    assert [dice.integer(1, 100) for _ in range(6)] == [97, 69, 91, 93, 81, 29]
    assert Dice("check", 1).shuffled("abcdef") != list("abcdef")


def test_ranks_follow_their_power_law():
    dice = Dice("ranks")
    ranks = [dice.rank(1.5) for _ in range(4000)]
    assert min(ranks) == 0
    # P(rank >= 9) = 10^-0.5
    assert sum(r >= 9 for r in ranks) / len(ranks) == pytest.approx(10**-0.5, abs=0.03)


def test_pattern_language():
    from nes_spark.demo.grammar import Filled

    page = Page()
    fill = {"who": Filled("Acme Inc.", "Organization"), "where": Filled("Alps", "Location", "the ")}
    render("[|]{who} saw {where} at {Date:noon} for {who}.", fill.__getitem__, Dice(0), page)
    assert page.text == "Acme Inc. saw the Alps at noon for Acme Inc."
    assert [(s.kind, s.surface) for s in page.spans] == [
        ("Organization", "Acme Inc."),
        ("Location", "Alps"),
        ("Date", "noon"),
        ("Organization", "Acme Inc."),
    ]
    with pytest.raises(ValueError, match="without a closing"):
        compile_pattern("an [open end")


def test_names_of_ranks_are_stable_and_many():
    assert organization(0) == "Aurelia Motors"
    assert len({organization(r) for r in range(3000)}) > 2900
    assert len({person(r).name for r in range(3000)}) > 2900


def test_no_one_else_has_a_name_of_those_who_speak(corpus):
    for document, gold in corpus:
        speakers = {n for s in document["speakers"].values() for n in s.split() if s != "Operator"}
        others = {s[4] for s in gold["spans"] if s[3] == "Person"}
        words = {w for name in others for w in name.split()} - {"Ms.", "Mr."}
        assert not speakers & words, document["document_id"]
