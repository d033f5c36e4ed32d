"""The choice of a release from the tables of a run."""

import math

import numpy as np
import pandas as pd
import pytest

from nes_spark.config import load_config
from nes_spark.errors import ConfigError, EstimationError
from nes_spark.releases.scoring import average, candidates_of
from nes_spark.run.choice import choose_release, scores_of_choice, with_measures
from nes_spark.run.choosing import choices_of

SETTING = "spcauchy-K10-eps0.001"
N = 1e6


def config(**choice):
    releases = {"plan": "pairs", **choice.pop("releases", {})}
    output = choice.pop("output", {})
    return load_config(None, {"releases": releases, "output": output, "choice": choice})


def scores(sequences, rng=None):
    """Rows of table ``scores``: (combination, draw, DR a swap, DU a swap, swaps) each."""
    rows = []
    for combination, draw, risk, utility, swaps in sequences:
        for n in range(1, swaps + 1):
            noise = 0.0 if rng is None else rng.normal(0, 0.0005)
            rows.append((combination, draw, n, 1 - risk * n, 1 - utility * n + noise))
    frame = pd.DataFrame(rows, columns=["combination", "draw", "n_swaps", "DR", "DU"])
    frame = frame.assign(setting=SETTING, population=N, r=0.01 * frame["n_swaps"])
    return frame.assign(uniques_left=100 - frame["n_swaps"], stays_unique=0.5)


def chosen(frame, settings, draws, **measured):
    candidates = candidates_of(SETTING, N, average(frame), draws)
    for name, values in measured.items():
        candidates[name] = values
    return choose_release(candidates, settings, {SETTING: 10}, frame, {"comparable": N}), candidates


def test_the_released_draw_is_one_that_made_the_swaps_and_has_its_own_figures():
    """Draw 0 has 12 swaps; a release of 13 was published with it."""
    frame = scores([("A+B", draw, 0.01, 0.001, most) for draw, most in enumerate([12, 14, 13])])
    frame.loc[frame["draw"] == 1, "DR"] -= 0.005
    settings = config(rule="max_rate", combination=["Organization", "Person"])
    frame["combination"] = "Organization+Person"
    found, candidates = chosen(frame, settings, 3)
    assert (found.n_swaps, found.draw, found.draws, found.drawn) == (14, 1, 1, 3)
    assert found.own_DR == pytest.approx(1 - 0.14 - 0.005)
    assert candidates.loc[candidates["n_swaps"] > 12, "incomplete"].all()
    assert not candidates.loc[candidates["n_swaps"] > 12, "on_frontier"].any()
    # with a rule that weighs, an average over lucky draws does not compete with full ones
    weighed, _ = chosen(frame, config(rule="max_utility", max_risk=0.89), 3)
    assert weighed.n_swaps <= 12
    assert found.uniques_expected == pytest.approx(0.5 * (100 - 14))


def test_releases_that_cannot_be_told_apart_are_a_toss_and_called_one():
    """Three pairs of categories that differ by less than their noise in utility."""
    rng = np.random.default_rng(3)
    sequences = [(c, d, 0.02, 0.0, 5) for c in ("A+B", "A+C", "B+C") for d in range(10)]
    frame = scores(sequences, rng)
    frame["DR"] += rng.normal(0, 0.02, len(frame))
    found, _ = chosen(frame, config(rule="max_utility", max_risk=0.97), 10)
    assert found.tied > 1
    assert found.stability is not None
    assert found.is_toss == (found.stability < 0.9)
    clear = scores([("A+B", d, 0.05, 0.0, 5) for d in range(10)] + sequences[10:20])
    sure, _ = chosen(clear, config(rule="lowest_risk"), 10)
    assert (sure.combination.name, sure.n_swaps, sure.stability) == ("A+B", 5, 1.0)
    assert not sure.is_toss


WHOLE = {"plan": "whole"}
PREFIXES = [("A", 0, 0.001, 0.01, 4)]


def test_measured_risk_decides_where_it_is_there():
    frame = scores(PREFIXES)
    settings = config(releases=WHOLE)
    measured = {
        "measured": [0.98, 0.7, 0.5, 0.3, 0.1],
        "measured_low": [0.9, 0.6, 0.4, 0.2, 0.05],
        "measured_high": [1.0, 0.8, 0.6, 0.4, 0.2],
    }
    found, _ = chosen(frame, settings, 1, **measured)
    assert (found.n_swaps, found.risk, found.utility, found.measured) == (4, "measured", "DU", 0.1)
    bounded, _ = chosen(frame, config(releases=WHOLE, min_utility=0.975), 1, **measured)
    assert bounded.n_swaps == 2
    fidelity = {"fidelity": [1.0, 0.9, 0.8, 0.7, 0.6], "fidelity_se": [0, 0.01, 0.01, 0.01, 0.01]}
    both = {**measured, **fidelity}
    line, _ = chosen(frame, config(releases=WHOLE, rule="line", slope=3.0), 1, **both)
    # no swaps lie lowest, two lie within two standard errors of them
    assert (line.utility, line.n_swaps, line.fidelity, line.tied) == ("fidelity", 2, 0.8, 3)
    told, _ = chosen(frame, config(releases=WHOLE, utility="DU", risk="DR"), 1, **both)
    assert (told.risk, told.utility) == ("DR", "DU")


def test_of_chunks_by_themselves_what_names_chunks_decides():
    """Documents that nobody publishes weigh nothing: all candidates' are named alike."""
    frame = scores(PREFIXES)
    documents = {"measured": 0.95, "measured_low": 0.9, "measured_high": 1.0}
    named = [0.5, 0.4, 0.3, 0.2, 0.1]
    chunks = {
        "measured_chunks": named,
        "measured_chunks_low": [share - 0.02 for share in named],
        "measured_chunks_high": [share + 0.02 for share in named],
    }
    bound = {"rule": "max_utility", "max_risk": 0.35, "releases": WHOLE}
    alone, _ = chosen(
        frame, config(**bound, output={"publish": "chunks"}), 1, **documents, **chunks
    )
    assert (alone.n_swaps, alone.risk, alone.measured_chunks) == (2, "measured_chunks", 0.3)
    asked, _ = chosen(frame, config(**bound, risk="measured_chunks"), 1, **documents, **chunks)
    assert (asked.n_swaps, asked.risk) == (2, "measured_chunks")
    with pytest.raises(EstimationError, match=r"the lowest risk is 0\.95"):
        chosen(frame, config(**bound), 1, **documents, **chunks)
    # and without it the paper's figure, whatever was measured of documents
    left, _ = chosen(frame, config(releases=WHOLE, output={"publish": "chunks"}), 1, **documents)
    assert left.risk == "DR"


def test_a_share_of_the_exchanges_can_be_asked_for():
    frame = scores([("A", 0, 0.001, 0.001, 10)])
    for share, swaps in ((0.05, 1), (0.8, 8), (0.75, 8), (1.0, 10)):
        found, _ = chosen(frame, config(releases=WHOLE, rule="coverage", coverage=share), 1)
        assert found.n_swaps == swaps


@pytest.mark.parametrize("axis", [{"risk": "measured"}, {"utility": "fidelity"}])
def test_an_axis_that_was_not_measured_is_an_error(axis):
    frame = scores(PREFIXES)
    with pytest.raises(EstimationError, match="was not measured") as caught:
        chosen(frame, config(releases=WHOLE, **axis), 1)
    assert caught.value.reason == "not_measured"
    with pytest.raises(EstimationError, match="was not measured"):
        chosen(frame, config(releases=WHOLE, **axis), 1, measured=math.nan, fidelity=math.nan)


def test_tables_of_two_runs_are_refused():
    frame = scores(PREFIXES)
    candidates = candidates_of(SETTING, N, average(frame), 1)
    with pytest.raises(EstimationError, match="not of one run"):
        choose_release(candidates, config(), {SETTING: 10}, frame.iloc[:0], {"comparable": N})


class Reading:
    """A store that remembers how many rows it handed out."""

    def __init__(self, table):
        self.table, self.rows = table, 0

    def read_pandas(self, name, columns, only):
        assert name == "scores"
        keep = np.ones(len(self.table), dtype=bool)
        for column, values in only.items():
            keep &= self.table[column].isin(values).to_numpy()
        found = self.table.loc[keep, columns].reset_index(drop=True)
        self.rows += len(found)
        return found


def test_the_driver_reads_the_scores_of_candidates_only():
    """Plan ``whole`` has 5,000 prefixes in each of three draws and four populations; 11 count."""
    whole = scores([("A", d, 1e-4, 1e-6, 5000) for d in range(3)])
    everything = pd.concat(
        [whole.assign(population=p, setting=s) for p in (N, 1e10) for s in (SETTING, "other")]
    )
    tenths = whole[whole["n_swaps"] % 500 == 0]
    candidates = pd.concat(
        [
            candidates_of(SETTING, N, average(tenths), 3),
            candidates_of("other", N, average(whole), 3),
        ]
    )
    settings = config(releases=WHOLE, risk="DR", utility="DU")
    store = Reading(everything)
    read = scores_of_choice(store, candidates, settings, {"comparable": N})
    assert store.rows == len(read) == 3 * 10
    assert set(read["n_swaps"]) == set(tenths["n_swaps"])
    known = ({SETTING: 10}, read, {"comparable": N})
    same = ({SETTING: 10}, everything, {"comparable": N})
    assert choose_release(candidates, settings, *known) == choose_release(
        candidates, settings, *same
    )


def test_options_of_the_command_line_stand_for_a_choice():
    assert choices_of(0.8, None, None, None, {}) == {"rule": "coverage", "coverage": 0.8}
    exact = choices_of(None, None, "Person+Product", 12, {})
    assert exact == {"rule": "candidate", "combination": ["Person", "Product"], "n_swaps": 12}
    assert choices_of(None, None, "", 0, {})["combination"] == []
    most = choices_of(None, None, "Person+Product", None, {})
    assert most == {"rule": "max_rate", "combination": ["Person", "Product"]}
    line = choices_of(None, "line", None, None, {"choice.slope": 2})
    assert line == {"rule": "line", "slope": 2}
    with pytest.raises(ConfigError, match="only keys of the section choice"):
        choices_of(None, None, None, None, {"releases.swap": []})


def test_one_candidate_can_be_asked_for_by_name():
    frame = scores([("A+B", 0, 0.01, 0.001, 4)]).assign(combination="Organization+Person")
    asked = {"rule": "candidate", "combination": ["Person", "Organization"], "n_swaps": 3}
    found, _ = chosen(frame, config(**asked), 1)
    assert (found.combination.name, found.n_swaps) == ("Organization+Person", 3)
    nothing, _ = chosen(frame, config(rule="candidate", combination=[], n_swaps=0), 1)
    assert nothing.n_swaps == 0
    there = r"there are: nothing 0 times; Organization\+Person 1 to 4 times$"
    with pytest.raises(ConfigError, match=rf"no candidate swaps .* 9 times; {there}"):
        chosen(frame, config(**asked | {"n_swaps": 9}), 1)
    # the two exit codes differ: what is not there is a fault of who asks, not of the release
    for other in ({"rule": "max_rate"}, {"rule": "candidate", "n_swaps": 3}):
        with pytest.raises(ConfigError, match=rf"swaps Person\+Product.*; {there}") as caught:
            chosen(frame, config(combination=["Person", "Product"], **other), 1)
        assert caught.value.exit_code == 2
    with pytest.raises(ConfigError, match="needs 'combination' and 'n_swaps'"):
        config(rule="candidate", n_swaps=2)


def test_measures_stand_beside_scores_and_are_missing_where_nothing_was_measured():
    candidates = candidates_of(SETTING, N, average(scores(PREFIXES)), 1)
    key = ["setting", "combination", "n_swaps"]
    rows = [(SETTING, "", 0, 1.0, 0.0), (SETTING, "A", 4, 0.9, 0.01)]
    fidelity = pd.DataFrame(rows, columns=[*key, "corpus", "corpus_se"])
    found = with_measures(candidates, fidelity)
    assert found["n_swaps"].tolist() == [0, 1, 2, 3, 4]
    assert found["fidelity"].isna().tolist() == [False, True, True, True, False]
    assert found["measured"].isna().all()
    named = pd.DataFrame([(SETTING, "A", 4, 0.2, 0.1, 0.3)], columns=[*key, "named", "low", "high"])
    both = with_measures(candidates, fidelity, named).iloc[-1]
    assert (both["measured"], both["measured_high"], both["fidelity"]) == (0.2, 0.3, 0.9)
    with pytest.raises(pd.errors.MergeError):
        with_measures(candidates, pd.concat([fidelity, fidelity]))


UNITS = [("A@chunk", 0, 0.002, 0.001, 10), ("A@document", 0, 0.001, 0.001, 4)]


@pytest.mark.parametrize(
    ("share", "risks", "wanted"),
    [
        (0.5, (0.2, 0.3), ("A@chunk", 5)),
        (0.5, (0.3, 0.2), ("A@document", 2)),
        (1.0, (0.3, 0.2), ("A@document", 4)),
        (1.0, (0.2, 0.2), ("A@chunk", 10)),
    ],
)
def test_of_both_units_a_share_is_of_the_units_own_exchanges(share, risks, wanted):
    """The one with fewer exchanges is no shorter prefix of the other."""
    frame = scores(UNITS)
    measured = [0.9, *[risks[0]] * 10, *[risks[1]] * 4]
    both = {"plan": "whole", "unit": "both"}
    named = {"measured": measured, "measured_low": measured, "measured_high": measured}
    rule = {"rule": "coverage", "coverage": share}
    found, _ = chosen(frame, config(releases=both, **rule), 1, **named)
    assert (found.combination.name, found.n_swaps) == wanted
    for unit, swaps in (("chunk", 10), ("document", 4)):
        found, _ = chosen(frame, config(releases=both, **rule, unit=unit), 1, **named)
        assert (found.combination.unit, found.n_swaps) == (unit, math.ceil(share * swaps))
        assert found.candidates == swaps + 1


def test_the_lowest_risk_of_both_units_is_chosen():
    frame = scores(UNITS)
    both = {"plan": "whole", "unit": "both"}
    for lowest, wanted in (((0.1, 0.3), "A@chunk"), ((0.3, 0.1), "A@document")):
        measured = [0.9, *[lowest[0]] * 10, *[lowest[1]] * 4]
        named = {"measured": measured, "measured_low": measured, "measured_high": measured}
        found, _ = chosen(frame, config(releases=both), 1, **named)
        assert found.combination.name == wanted
        assert found.to_dict()["combination"] == wanted
        assert type(found).from_dict(found.to_dict()) == found


def test_a_unit_can_be_named_with_a_combination():
    named = choices_of(None, None, "Person+Product@document", 12, {})
    assert named["combination"] == ["Person", "Product"] and named["unit"] == "document"
    assert choices_of(0.5, None, None, None, {}, "chunk")["unit"] == "chunk"
