"""Plan ``whole`` from the files to the release: accounted for, attacked, undone."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import functions as F

import nes_spark as nes
from nes_spark.compare.comparison import COSTS, RISKS, compare_runs
from nes_spark.embedding import contextual
from nes_spark.entities.further import FURTHER, further_mentions
from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import likeness_of
from nes_spark.errors import GateRefused, InputError
from nes_spark.releases.publish_stages import assemble, chosen_rewrites
from nes_spark.releases.scoring import tenths
from nes_spark.run import pipeline
from nes_spark.run.context import Context, read_models
from nes_spark.run.inverting import invert_release
from nes_spark.run.language_models import audit_run
from nes_spark.run.pipeline import STAGES
from nes_spark.run.published import configuration_of
from nes_spark.run.release import assemble_texts
from nes_spark.schemas import EDITS, TABLES
from nes_spark.store import Store
from nes_spark.swapping import load_secret
from nes_spark.swapping.dates import date_replacements, draw_shift, reference_of
from nes_spark.swapping.stages import apply_must_change
from nes_spark.swapping.whole import options_of_whole, rewrite_whole, sample_whole
from nes_spark.utility.anchors import names_blanked
from nes_spark.utility.judge_stages import collect_histories, collect_released
from nes_spark.utility.sampling import keyed_hash, sampling_key
from tests.audit.server import ModelServer
from tests.check_run import check
from tests.run.small import WHOLE, settings

pytestmark = pytest.mark.usefixtures("seeded")


def test_it_is_published_with_all_exchanges(whole):
    swaps = whole.table("swaps")
    assert whole.status == "published"
    assert whole.choice.n_swaps == len(swaps) > 0
    assert (whole.choice.risk, whole.choice.utility) == ("measured", "fidelity")
    assert 0 <= whole.choice.measured <= 1 and 0.5 < whole.choice.fidelity < 1
    attacked = whole.table("measured_risk").query("unit == 'chunks_left_out'")
    mine = attacked[attacked["n_swaps"] == whole.choice.n_swaps]
    assert whole.choice.measured_chunks == mine["named"].max()
    assert whole.choice.combination == ("Organization", "Person", "Product", "Location")
    candidates = whole.table("candidates")
    assert len(candidates) <= 11
    assert {"combination", "n_swaps", "on_frontier"} <= set(candidates)


def test_every_mention_is_accounted_for_and_none_that_could_go_stays(whole):
    coverage, mentions = whole.table("coverage"), whole.table("mentions")
    assert coverage["mentions"].sum() == len(mentions)
    names = [*whole.choice.combination, "Quantity", "Term"]
    swapped = coverage[coverage["category"].isin(names)]
    assert set(swapped["fate"]) == {"exchanged", "donor", "drop"}
    assert set(coverage[coverage["category"] == "Date"]["fate"]) >= {"shifted", "kept"}
    assert whole.coverage == coverage.to_dict("records")


def test_the_first_lines_say_who_can_be_named(whole):
    named = whole.documents_named
    assert named["before"]["n"] == named["after"]["n"] == whole.figures["documents"]
    assert named["after"]["named"] <= named["before"]["named"]
    assert "the strongest attacker names" in str(whole)
    record = json.loads((Path(whole.directory) / "release" / "release.json").read_text())
    assert record["documents_named"] == named
    assert record["chunks_named"] == whole.chunks_named
    assert record["coverage"] == whole.coverage


def test_plans_and_texts_in_memory_are_those_of_the_run(whole):
    config, store = configuration_of(whole.directory), Store(whole.directory)
    chunks = whole.table("chunks").sort_values("chunk_id")
    ids = chunks["chunk_id"].tolist()
    text, document, company = (
        dict(zip(ids, chunks[name], strict=True)) for name in ("text", "document_id", "metadata")
    )
    known, told = {i: [] for i in ids}, {i: set() for i in ids}
    for row in whole.table("mentions").itertuples():
        mention = Mention(row.start, row.end, row.category, row.surface, row.entity)
        if row.category in FURTHER:
            told[row.chunk_id].add(mention)
        else:
            known[row.chunk_id].append(mention)
    more = further_mentions(
        text, document, company, known, FURTHER, config.entities.terms, config.entities.currency
    )
    assert {i: set(mine) for i, mine in more.items()} == told
    mentions = {i: [*known[i], *more[i]] for i in ids}

    secret = load_secret(config.seed, None)
    placed = whole.table("assignments")
    placed = placed[placed["setting"] == whole.choice.setting]
    component = dict(zip(placed["chunk_id"], placed["component"], strict=True))
    own = {}
    for row in whole.table("own_names").itertuples():
        own.setdefault((row.document_id, row.category), []).append(row.entity)
    categories = config.entities.categories
    plans = sample_whole(
        ids, [company[i] for i in ids], [document[i] for i in ids], [component[i] for i in ids],
        {c: [sorted({m.entity for m in mentions[i] if m.category == c}) for i in ids]
         for c in categories},
        options_of_whole(config.releases, config.entities),
        seed=secret, setting=whole.choice.setting,
        releases=config.releases, swapping=config.swapping,
        own_names={c: [own.get((document[i], c), []) for i in ids] for c in categories},
        means=dict(enumerate(read_models(store)[whole.choice.setting].means)),
    )  # fmt: skip
    swaps = whole.table("swaps")
    assert sum(len(plan.swaps) for plan in plans) == len(swaps[swaps["draw"] == 0])
    period = dict(store.rows("documents", ["document_id", "period"]))
    digest = secret.digest
    dates = {}
    for i in ids:
        shift = draw_shift(digest, document[i], *config.releases.shift_days)
        dates[i] = date_replacements(mentions[i], shift, reference_of(period[document[i]]))
    done = rewrite_whole(text, document, mentions, plans, beside=dates)
    # what is released has ids of its own, and no empty texts
    released = pd.read_parquet(Path(whole.directory) / "release" / "chunks.parquet")
    assert sorted(released["text"]) == sorted(one.text for one in done.values() if one.text)


def test_dropped_chunks_are_not_published_and_counted(whole):
    status = whole.table("status")["status"].value_counts()
    published = pd.read_json(Path(whole.directory) / "release" / "chunks.jsonl", lines=True)
    assert status["dropped"] > 0
    assert len(published) + status["dropped"] == status.sum() == whole.figures["chunks"]
    assert (published["text"] != "").all()


def test_quantities_keep_their_likeness_and_dates_their_order(whole):
    swaps = whole.table("swaps").explode("exchanged")["exchanged"]
    quantities = [e for e in swaps if e["category"] == "Quantity"]
    assert quantities
    assert all(likeness_of(e["old"]) == likeness_of(e["new"]) for e in quantities)
    # terms take near words of donors, and never one that is a term of their own document
    terms = whole.table("leftovers").query("category == 'Term' and treatment == 'donor'")
    assert len(terms) and not any(e["category"] == "Term" for e in swaps)
    documents = whole.table("chunks").set_index("chunk_id")["document_id"]
    mentions = whole.table("mentions").query("category == 'Term'")
    own = set(zip(mentions["chunk_id"].map(documents), mentions["entity"], strict=True))
    assert not own & set(zip(terms["chunk_id"].map(documents), terms["replacement"], strict=True))


def test_the_judge_says_what_it_cost(whole):
    fidelity, utility = whole.table("fidelity"), whole.table("utility")
    assert list(fidelity["n_swaps"]) == [0, *whole.table("candidates")["n_swaps"].unique()[1:]]
    full = fidelity.iloc[-1]
    # swaps cost, what is read says how many chunks stand behind it
    assert fidelity["corpus"].iloc[-1] == full["corpus"] < fidelity["corpus"].iloc[0] <= 1
    assert 0.5 < full["fidelity"] < 1 and full["fidelity_se"] > 0
    assert 10 < full["chunks"] <= full["changed"]
    values = utility[utility["measure"] == "fidelity"].set_index("subject")["value"]
    # quantities and terms are blanked here too, which costs about as much as half of the words
    assert 1 == values["unchanged"] > values["names_blanked"] > values["random_other"]
    assert 1 > values["half_deleted"] > values["random_other"]
    assert 1 > values["release"] > values["random_other"]
    exact = utility[(utility["subject"] == "release") & (utility["measure"] == "DU")]
    assert exact["value"].item() == pytest.approx(whole.choice.DU)
    record = json.loads((Path(whole.directory) / "release" / "release.json").read_text())
    assert record["utility"] == whole.utility
    own = record["utility"]["fidelity"]
    assert own["value"] == values["release"]
    assert own["anchors"]["names_blanked"]["value"] == values["names_blanked"]
    assert f"fidelity .{round(own['value'] * 1000)}" in str(whole)
    page = Path(whole.report).read_text()
    assert "What it cost" in page and "half of the words deleted" in page
    read = Store(whole.directory).manifest("fidelity").details
    assert 0 < read["texts"] <= 90 and read["judge"].startswith("contextual-en")


def test_the_judge_reads_the_same_texts_on_any_partitioning(whole, spark):
    tables = {n: whole.table(n) for n in ("rewrites", "chunks", "mentions", "assignments")}
    setting = tables["assignments"]["setting"].iloc[0]

    def collected(parts, numbers=None):
        frames = {
            name: spark.createDataFrame(
                [tuple(row) for row in table[kept].itertuples(index=False)],
                ", ".join(f for f in TABLES[name].ddl.split(", ") if f.split("`")[1] in kept),
            ).repartition(parts)
            for name, table in tables.items()
            for kept in [[c for c in table if c not in ("edits", "cell")]]
        }

        def replaced(chunks, mentions):
            return apply_must_change(chunks, mentions, {"Event": "[Event]"})

        return collect_histories(
            frames["rewrites"], frames["chunks"], frames["mentions"], frames["assignments"],
            setting, ("Event",), replaced, 1, sampling_key(b"a secret"), 40, numbers,
        )  # fmt: skip

    first, before, reach = collected(1)
    again, before_again, reach_again = collected(7)
    assert set(first) == set(again) and len(first) == len(again)
    assert before == before_again
    assert reach == reach_again
    assert reach.n_chunks == len(tables["chunks"]) and reach.n_replaced > 0
    # counted between the candidates alone: as many up to each of them, in fewer rows
    same, _, between = collected(2, tenths)
    assert set(same) == set(first) and between.longest == reach.longest
    for name, longest in reach.longest.items():
        numbers = tenths(longest)
        assert set(between.changed[name]) <= set(numbers)
        assert len(between.changed[name]) < len(reach.changed[name])
        for counts, fewer in ((reach.changed, between.changed), (reach.both, between.both)):
            for k in numbers:
                assert sum(n for o, n in fewer.get(name, {}).items() if o <= k) == sum(
                    n for o, n in counts.get(name, {}).items() if o <= k
                )
    # neighbours in rank: the smallest hashes of each component
    key = sampling_key(b"a secret")
    swapped = [h for h in first if h.combination and h.component == 0]
    hashes = [keyed_hash(key, h.chunk_id) for h in sorted(swapped, key=lambda h: h.rank)]
    assert hashes == sorted(hashes)
    # a release that changes nothing: nothing to read, and no error
    none = spark.createDataFrame([], f"chunk_id string, text string, edits {EDITS}")
    chunks, placed = (
        spark.createDataFrame(
            [("c", "d", "t")], "chunk_id string, document_id string, text string"
        ),
        spark.createDataFrame(
            [(setting, "c", 0, 1.0)],
            "setting string, chunk_id string, component int, log_density double",
        ),
    )
    assert collect_released(none, chunks, placed, setting, key, 40) == []
    # of a summary the anchors treat what had been exchanged
    rows = [("c", "told", [(0, 1, "t", "told", "summary", "", "")])]
    summary = spark.createDataFrame(rows, none.schema)
    rows = [("c", "u", [(0, 1, "t", "u", "Person", "t", "u")])]
    plain = spark.createDataFrame(rows, none.schema)
    (before,) = collect_released(summary, chunks, placed, setting, key, 40)
    (after,) = collect_released(summary, chunks, placed, setting, key, 40, plain)
    assert before.text == after.text == "told" and before.original.text == "t"
    assert before.original.gone and not after.original.gone
    assert names_blanked(after.original) == "[Person]"


def test_documents_and_chunks_are_attacked_by_everybody(whole):
    measured = whole.table("measured")
    sizes = measured.groupby("unit")["n"].unique().map(list).to_dict()
    cells = whole.table("cells")["entities"]
    releases = configuration_of(Path(whole.directory)).releases
    changed = {*releases.swap, *releases.further, *releases.must_change, *releases.shift}
    named = sum(any(len(e[c]) for c in changed) for e in cells)
    n, chunks = whole.figures["documents"], whole.table("chunks")
    assert sizes == {
        "documents": [n], "documents_background": [n],
        "documents_public_words": [chunks["metadata"].nunique()],
        "chunks_left_out": [named], "chunks_known": [named],
    }  # fmt: skip
    table = measured.set_index(["unit", "attacker", "side"])["named"]
    # Who holds the very texts names all of them; who looks at exchanged names alone is misled.
    assert table["documents_background", "words", "before"] == 1
    by_words = table["documents_public_words", "public-words"]
    assert by_words["after"] <= by_words["before"] and by_words["before"] > 0.5
    record = json.loads(Path(whole.directory, "release", "release.json").read_text())
    assert record["public_words"]["after"]["named"] == by_words["after"]
    shown = f"{by_words['after'] * record['public_words']['after']['n']:.0f} of"
    assert shown in str(whole).split("by public words")[1].splitlines()[0]
    for unit in ("chunks_left_out", "chunks_known"):
        assert table[unit, "linkage", "after"] < table[unit, "linkage", "before"] / 2


def test_chunks_that_are_still_named_are_listed_for_a_person(whole):
    found = whole.table("review").sort_values("place")
    measured = whole.table("measured").set_index(["unit", "attacker", "side"])
    # No more than all attackers together can have named, no fewer than the strongest one did.
    rows = measured.loc[("chunks_left_out", slice(None), "after"), :]
    named = (rows["named"] * rows["n"]).round()
    assert min(100, named.max()) <= len(found) <= named.sum()
    assert all(len(names) for names in found["left_out"])
    page = Path(whole.directory, "report", "review.html").read_text()
    released = pd.read_json(Path(whole.directory, "release", "chunks.jsonl"), lines=True)
    listed = re.findall(r'<tr><th scope="row">(.+?)</th>', page)
    assert len(listed) == len(found)
    assert set(listed) <= set(released["chunk_id"])
    everyone = {name for names in found["left_out"] for name in names}
    for line, names in zip(page.split('<tr><th scope="row">')[1:], found["left_out"], strict=True):
        missed = ", ".join(sorted(everyone.difference(names))) or "–"
        assert f'<td class="text wrapped">{missed}</td>' in line
    # Neither an original id nor a word of a text stands there.
    for chunk in found["chunk_id"]:
        assert chunk not in page
    assert "It begins" not in page


def test_every_prefix_is_measured_before_the_choice(whole):
    risk = whole.table("measured_risk")
    candidates = whole.table("candidates")
    assert set(risk["n_swaps"]) == set(candidates["n_swaps"]) | {0}
    measured = whole.table("measured").set_index(["unit", "attacker", "side"])["named"]
    assert set(risk["combination"]) == {"", whole.choice.combination.name}
    for row in risk.to_dict("records"):
        where = row["unit"], row["attacker"]
        # So few documents and chunks are no sample: the last is what the release says of itself.
        if row["n_swaps"] == whole.choice.n_swaps:
            assert row["named"] == measured[(*where, "after")]
    linkage = risk[(risk["unit"] == "chunks_known") & (risk["attacker"] == "linkage")]
    falling = linkage.sort_values("n_swaps")["named"].tolist()
    assert falling[-1] < falling[len(falling) // 2] < falling[0]


def test_runs_are_compared_by_what_can_be_named_and_what_it_cost(whole, finished, tmp_path):
    twice = [whole.directory, whole.directory]
    told = compare_runs(twice, tmp_path / "twice")
    first, *rows = told.split("\n\n")[0].splitlines()
    assert first.startswith("named, before and after")
    after = whole.chunks_named["left_out"]["after"]["named"]
    row = next(r for r in rows if r.startswith(RISKS["left_out"]))
    assert row.count(f"-> {after:.1%}") == 2
    assert any(r.startswith(RISKS["public_words"]) for r in rows)
    value = whole.utility["fidelity"]["value"]
    row = next(r for r in rows if r.startswith(COSTS["release"]))
    assert row.count(f"{value:.3f}") == 2
    page = (tmp_path / "twice" / "index.html").read_text()
    assert "Documents named from" in page
    # one that was chosen by other axes is drawn on those that both have
    pairs = finished[1].directory
    told = compare_runs([pairs, whole.directory], tmp_path / "both")
    assert re.search(rf"{COSTS['release']} .*\d\.\d{{3}} ", told)
    page = (tmp_path / "both" / "index.html").read_text()
    assert "Disclosure risk DR from" in page


def test_the_ledger_undoes_layers_donors_dates_and_dropped_chunks(whole, tmp_path):
    rows = invert_release(whole.directory, tmp_path / "restored.jsonl")
    restored = pd.read_json(tmp_path / "restored.jsonl", lines=True, dtype=False)
    chunks = whole.table("chunks").set_index("chunk_id")["text"]
    assert rows == len(chunks)
    assert restored.set_index("chunk_id")["text"].to_dict() == chunks.to_dict()


def test_the_outputs_are_complete(whole):
    check(Path(whole.directory))


def test_a_judge_that_cannot_read_stops_the_run(finished, whole, spark, monkeypatch, tmp_path):
    shutil.copytree(contextual.BUNDLED, tmp_path / "model")
    (tmp_path / "model" / contextual.TOKENIZER).write_text("{}")
    contextual._load.cache_clear()
    monkeypatch.setattr(
        contextual, "_load", lambda threads: contextual.ContextualEmbedder(tmp_path / "model")
    )
    config = settings(
        Path(finished[0].input.path), Path(whole.directory).parent,
        **WHOLE | {"utility.judge_texts": 100},
    )  # fmt: skip
    with pytest.raises(InputError, match="install the package anew"):
        nes.run(config, spark)


@pytest.mark.usefixtures("plain_report")
def test_a_release_waits_for_the_audit_that_its_gate_names(
    finished, whole, spark, tmp_path, monkeypatch
):
    monkeypatch.setenv("TEST_MODEL_KEY", "key-of-the-tests")
    run = tmp_path / "out" / "all"
    shutil.copytree(whole.directory, run)
    for folder in ("release", "sealed/ledger", "stages/publication"):
        shutil.rmtree(run / folder)
    told = []
    with ModelServer() as server:
        model = {"name": "loopback", "model": "m", "base_url": server.base_url}
        more = {
            "audit.models": [model | {"api_key_env": "TEST_MODEL_KEY"}],
            "audit.gate_models": ["loopback"],
            "gates.max_linkage_accuracy": 0.0,
            "audit.text": False,
            "audit.swap_aware": False,
            "audit.documents": False,
            "utility.judge": "off",
        }
        config = settings(Path(finished[0].input.path), tmp_path / "out", **{**WHOLE, **more})
        with pytest.raises(GateRefused, match=r"not published yet.* the audit by loopback"):
            nes.run(config, spark)
        assert not (run / "release").exists()
        assert not (run / "sealed" / "ledger").exists()
        assert not server.requests
        guesses = sorted((run / "stages" / "predictions").iterdir())
        assert guesses
        (found,) = audit_run(run, configuration_of(run), spark, tell=told.append)
        questions = {
            r.body["messages"][-1]["content"].partition("\n\n")[2] for r in server.requests
        }
    assert "run the same run again" in told[-1]
    assert found.draws == 1
    assert not (run / "release").exists()
    result = nes.run(config, spark)
    assert result.status == "published"
    # the adversaries' guesses do not depend on the gates
    assert sorted((run / "stages" / "predictions").iterdir()) == guesses
    gates = {gate.name: gate for gate in result.gates}
    assert gates["language models"].detail.startswith("loopback names 0.0%")
    assert not (run / "stages" / "proposal").exists()
    record = json.loads((run / "release" / "release.json").read_text())
    assert [r["model"] for r in record["audit"]["language_models"]] == ["loopback"]
    before = set(result.table("chunks")["text"])
    lines = (run / "release" / "chunks.jsonl").read_text().splitlines()
    after = {json.loads(line)["text"] for line in lines}
    assert questions <= before | after
    asked = result.table("language_predictions")
    rewrites = result.table("rewrites")
    mine = rewrites[rewrites["draw"] == result.choice.draw].sort_values("order")
    changed = mine.groupby("chunk_id").tail(1)  # its last text has all its exchanges
    changed = changed[changed["text"] != ""]  # what is dropped is shown to nobody
    assert set(asked["chunk_id"]) == set(changed["chunk_id"])
    assert questions - before == set(changed["text"]) - before
    assert len(questions - before) > 10


def test_what_worked_ahead_is_what_a_stage_gives_in_its_turn(whole, spark, tmp_path):
    """The shared run is of a small input: its judge and its attackers worked in threads."""
    run = tmp_path / "all"
    shutil.copytree(whole.directory, run)
    store, config = Store(run), configuration_of(Store(run))
    context = Context(spark, config, store, load_secret(config.seed, None), "")
    for stage in (s for s in STAGES if s.ahead):
        made = stage.run(context)
        for name in stage.gives:
            before = store.manifest(name)
            assert before.rows, name
            assert store.write_table(name, made[name], "key").content == before.content, name
        context.release_kept()


def test_shifts_are_drawn_once_for_all_who_ask_and_let_go_with_the_run(whole, spark):
    store = Store(whole.directory)
    config = configuration_of(store)
    secret = load_secret(config.seed, None)
    with Context(spark, config, store, secret, "", small=True) as context:
        drawn = context.shifts()
        assert drawn.storageLevel.useMemory
        assert context.shifts() is drawn and replace(context, kept=[]).shifts() is drawn
        assert drawn.count() == whole.figures["documents"]
    assert not drawn.storageLevel.useMemory and not drawn.storageLevel.useDisk


def test_a_large_corpus_is_put_together_as_a_small_one_is(whole, spark):
    """Its swapped chunks are not replaced in twice, and what is held lies on disk."""
    store, choice = Store(whole.directory), whole.choice
    config, found = configuration_of(store), {}
    for small in (True, False):
        context = Context(spark, config, store, load_secret(config.seed, None), "", small=small)
        rewritten = context.persisted(
            chosen_rewrites(
                context.table("rewrites"),
                choice.setting,
                choice.combination.name,
                choice.n_swaps,
                choice.draw,
            )
        )
        assert rewritten.storageLevel.useMemory is small
        assembled = assemble_texts(context, choice, rewritten)
        found[small] = sorted(map(str, assembled.collect()))
        rewritten.unpersist()
    assert found[True] == found[False] and len(found[True]) == whole.figures["chunks"]
    # a chunk that is in neither table is no empty text
    changed = context.table("chunks").select("chunk_id", "text", F.lit(None).alias("edits"))
    lost = assemble(
        context.table("chunks"),
        context.table("documents"),
        changed.limit(1),
        rewritten.limit(0),
        b"secret",
    )
    with pytest.raises(Exception, match="no released text for chunk"):
        lost.collect()


def test_tables_of_many_chunks_are_those_of_few(whole, spark, monkeypatch):
    """Spark makes what this process made of the few chunks of the run."""
    config = configuration_of(whole.directory)
    secret = load_secret(config.seed, None)
    context = Context(spark, config, Store(whole.directory), secret, "")
    for name in ("FEW_CHUNKS", "FEW_SCORES"):
        monkeypatch.setattr(pipeline, name, 0)
    names = ("post_density", "scores", "candidates")
    for stage in (stage for stage in STAGES if stage.name in names):
        (made,) = stage.run(context).values()
        key = list(TABLES[stage.name].key)
        found = made.toPandas().sort_values(key, ignore_index=True)
        stored = whole.table(stage.name).sort_values(key, ignore_index=True)
        stored = stored.assign(chosen=False) if "chosen" in stored else stored
        pd.testing.assert_frame_equal(
            found, stored[list(found)], check_dtype=False, check_exact=True
        )
        assert len(found) > 10
        context.release_kept()
