"""A made-up run whose report the tests build."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any
from unittest.mock import patch

import pandas as pd

from nes_spark.compare.comparison import RunSummary
from nes_spark.entities.combination import Combination
from nes_spark.releases.choice import Choice
from nes_spark.releases.publishing import Gate
from nes_spark.report import Example, ExampleSide, ReportData, page
from nes_spark.report.data import ComponentRow, Identified, ReviewRow
from nes_spark.report.explorer import Explorer, explorer
from nes_spark.risk import p_hat_table
from nes_spark.risk.tables import fit_row, stays_unique_table

CATEGORIES = ("Organization", "Person", "Product", "Location")
MEASURED = pd.DataFrame(
    [
        ("documents", "words", "before", 48, 0.9375, 0.83, 0.98, 0.8),
        ("documents", "words", "after", 48, 0.25, 0.15, 0.39, 0.1),
        ("documents", "style", "before", 48, 0.5, 0.36, 0.64, 0.2),
        ("documents", "style", "after", 48, 0.5, 0.36, 0.64, 0.2),
        ("chunks_left_out", "linkage", "before", 300, 0.61, 0.5, 0.7, 0.2),
        ("chunks_left_out", "linkage", "after", 300, 0.04, 0.02, 0.06, 0.0),
        ("chunks_known", "linkage", "before", 300, 0.89, 0.8, 0.95, 0.2),
        ("chunks_known", "linkage", "after", 300, 0.07, 0.05, 0.1, 0.0),
    ],
    columns=["unit", "attacker", "side", "n", "named", "low", "high", "confident"],
)
COVERAGE = pd.DataFrame(
    [("Person", "exchanged", "", 40, 30), ("Person", "donor", "no_partner", 2, 2)],
    columns=["category", "fate", "reason", "mentions", "chunks"],
)
UTILITY = pd.DataFrame(
    [
        ("unchanged", "fidelity", 1.0, 0.0, 1.0, 0, 0, ""),
        ("unchanged", "DU", 1.0, 0.0, 1.0, 0, 0, ""),
        ("release", "fidelity", 0.853, 0.004, 0.94, 471, 719, ""),
        ("release", "DU", 1.0012, None, 1.0012, 719, 719, ""),
        ("release", "below_blanking", 0.034, 0.005, 0.015, 265, 719, ""),
        ("names_blanked", "fidelity", 0.887, 0.005, 0.95, 265, 719, ""),
        ("names_blanked", "DU", None, None, None, 265, 719, "no component_after"),
    ],
    columns=["subject", "measure", "value", "standard_error", "corpus", "chunks", "changed",
             "reason"],
)  # fmt: skip


def candidates(setting: str = "pkb-K10-eps0.001", population: float = 1e20) -> pd.DataFrame:
    return _candidates(setting, population).copy()


@cache
def _candidates(setting: str, population: float) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [{"combination": "", "n_swaps": 0, "r": 0.0, "DR": 1.0, "DU": 1.0}]
    for number, pair in enumerate(combinations(CATEGORIES, 2)):
        for swaps in range(1, 31 - 4 * number):
            rows.append(
                {
                    "combination": "+".join(pair),
                    "n_swaps": swaps,
                    "r": 2 * swaps / 640,
                    "DR": 1 - 2 * swaps / (180 - 15 * number) * (0.9 - 0.05 * number),
                    "DU": 1 - (0.0007 + 0.0002 * number) * swaps * (1 + 0.1 * math.sin(swaps)),
                }
            )
    frame = pd.DataFrame(rows)
    risk, utility = frame["DR"], frame["DU"]
    frame["on_frontier"] = [
        not ((risk <= dr) & (utility >= du) & ((risk < dr) | (utility > du))).any()
        for dr, du in zip(risk, utility, strict=True)
    ]
    frame["setting"], frame["population"], frame["draws"] = setting, population, 1
    frame["DR_se"] = frame["DU_se"] = None
    frame["chosen"] = False
    return frame


@cache
def _fits() -> tuple[pd.DataFrame, pd.DataFrame]:
    fits = pd.DataFrame(
        [
            fit_row("+".join(pair), {1: 180 - 15 * i, 2: 30 + i, 3: 12, 5: 6, 250 + 20 * i: 1})
            for i, pair in enumerate(combinations(CATEGORIES, 2))
        ]
    )
    return fits, p_hat_table(fits, [1e10, 1e20]), stays_unique_table(fits, [1e10, 1e20])


def measured_space() -> pd.DataFrame:
    """Candidates with measured risk and fidelity, as plan ``whole`` compares them."""
    table = candidates()
    every = "Organization+Person+Product+Location+Name"
    return table.assign(
        combination=table["combination"].where(table["combination"] != "Person+Product", every),
        measured=1 - table["n_swaps"] / 40, measured_low=0.2, measured_high=1.0,
        fidelity=1 - table["n_swaps"] / 90, fidelity_se=0.01,
    )  # fmt: skip


def report_data(**changes: Any) -> ReportData:
    table = candidates()
    chosen = table[(table["combination"] == "Organization+Person") & (table["n_swaps"] == 20)]
    row = chosen.iloc[0]
    fits, p_hats, stays = _fits()
    data = ReportData(
        name="demo",
        period="2031Q2",
        figures={
            "documents_in": 50,
            "documents": 48,
            "metadata": 36,
            "quarantined": {"empty_text": 1, "duplicate_document_id": 1},
            "chunks": 640,
            "words": 33_120,
            "suppressed": 812,
            "categories": {
                "Organization": {"mentions": 702, "entities": 190, "chunks": 310},
                "Person": {"mentions": 92, "entities": 58, "chunks": 66},
                "Event": {"mentions": 40, "entities": 22, "chunks": 38},
                "Product": {"mentions": 301, "entities": 150, "chunks": 160},
                "Location": {"mentions": 390, "entities": 90, "chunks": 210},
                "Date": {"mentions": 800, "entities": 80, "chunks": 330},
            },
        },
        candidates=table,
        choice=Choice(
            setting=row["setting"],
            population=1e20,
            combination=Combination.parse(row["combination"]),
            n_swaps=int(row["n_swaps"]),
            r=float(row["r"]),
            draws=1,
            draw=0,
            DR=float(row["DR"]),
            DR_se=None,
            DU=float(row["DU"]),
            DU_se=None,
            rule="line",
            components=9,
            candidates=121,
            on_frontier=7,
        ),
        categories={
            "Organization": "S",
            "Person": "S",
            "Event": "C",
            "Product": "U",
            "Location": "U",
            "Date": "F",
        },
        risk_fits=fits,
        p_hats=p_hats,
        stays=stays,
        components=[
            ComponentRow(*row, typical=((f"d0a1#{row[0]:05d}", ""),))
            for row in [
                (0, 0.19, 0.41, 120, 40, 31.2),
                (1, 0.16, 0.38, 101, 44, 30.0),
                (2, 0.14, 0.52, 90, 38, 22.5),
                (3, 0.13, 0.44, 82, 36, 21.0),
                (4, 0.11, 0.47, 70, 30, 18.1),
                (5, 0.09, 0.39, 61, 31, 20.7),
                (6, 0.08, 0.55, 52, 25, 14.0),
                (7, 0.06, 0.6, 40, 22, 12.9),
                (8, 0.04, 0.63, 24, 1, 1.0, True),
            ]
        ],
        statuses={
            "swapped": 44,
            "unpaired": 60,
            "no_entity": 490,
            "same_metadata_only": 32,
            "alone_in_component": 14,
        },
        gates=[
            Gate("direct identifiers", True, "none found in the released texts"),
            Gate("mixture", True, "pkb-K10-eps0.001 converged after 61 iterations"),
            Gate("risk fit", True, "theta = 12.3, alpha = 0.81"),
            Gate("swaps", True, "22 made, at least 0 asked for"),
        ],
        seconds={"documents": 6.1, "chunks": 4.0, "mentions": 8.5, "mixture": 71.25},
        rows={"documents": 48, "chunks": 640, "mentions": 2325},
        provenance={
            "configuration": "4f0c2b7a91de",
            "seed fingerprint": "a1b2c3d4e5f6",
            "recogniser": "bundled",
            "embedding model": "bundled-256",
        },
        key_location="out/demo/2031Q2/sealed/ledger.jsonl",
        secret_name="company name",
        choice_line=(1.0, 0.0),
    )
    return replace(data, **changes)


def adversary(model: str = "linkage", before: float = 0.81, after: float = 0.42) -> dict[str, Any]:
    return {
        "model": model,
        "chunks": 44,
        "documents": 30,
        "draws": 3,
        "pre": {"mean": before, "sd": 0.03},
        "post": {"mean": after, "sd": 0.05},
        "mcnemar": {"table": [[17, 19], [2, 6]], "p_value": 0.0005, "exact_p_value": 0.00022},
        "drop": {"drop": before - after, "low": 0.2, "high": 0.55},
        "warnings": ["fewer than 50 chunks were put to this adversary"],
    }


def everything() -> dict[str, Any]:
    """All that a report can show beyond what every run has."""
    table = candidates()
    swapped = table[table["n_swaps"] > 0]
    counts = {"n": 44, "before": 40, "after": 38, "both": 36}
    spread = {"draws": 5, "limit": 200, "n_swaps": 20, "DR_se": 0.002, "DU_se": 0.0001}
    settings = {"family": "pkb", "n_components_asked": 10, "n_components": 9, "n_parameters": 2500}
    settings |= {"n_passes": 61, "n_removed": 1, "icl": -5.2e4, "best_icl": False}
    partners = {"draws": 1, "suspects": 104, "swapped": 44, "accuracy": 0.09, "hits5": 0.3}
    partners |= {"mrr": 0.2, "chance": 0.05, "chance_hits5": 0.25, "chance_mrr": 0.15}
    partners |= {"undone": 22, "undone_correct": 2, "undo_precision": 0.09, "undo_chance": 0.004}
    partners |= {"detection": 0.5, "detection_chance": 0.42}
    return {
        "audit": [
            adversary() | {"hits5_pre": 0.9, "hits5_post": 0.6, "mrr_pre": 0.85, "mrr_post": 0.5},
            adversary("a-model")
            | {"outcomes": {"pre": {"answered": 40, "refused": 4}, "post": {"answered": 44}}},
        ],
        "partners": partners,
        "identified": [Identified("d0a1#00003", "Tarn & Co", ("Loomstack", "Loomstack + Ulm"))],
        "selection": [
            settings
            | {"setting": table["setting"].iloc[0], "log_likelihood": 3.1e4, "bic": -5.4e4}
            | {"converged": True, "n_capped": 0, "best_bic": True},
            settings
            | {"setting": "pkb-K30", "log_likelihood": 3.3e4, "bic": -5.1e4}
            | {"converged": False, "n_capped": 2, "best_bic": False},
        ],
        "agreement": pd.DataFrame(
            [{"category": "Organization", **counts}, {"category": "Person", **counts}]
        ),
        "variation": pd.DataFrame(
            [{"category": "Product", "values_pre": 90, "values_post": 91, "total_variation": 0.01}]
        ),
        "tasks": pd.DataFrame(
            [
                {"task": "sentiment", "chunks": 44, "agreement": 0.977}
                | {"mean_change": -0.001, "mean_absolute_change": 0.004}
            ]
        ),
        "recoding": pd.DataFrame(
            [
                {"combination": "Organization+Person", "n": 640, "k_without": 301, "k_with": 280}
                | {"s1_without": 190, "s1_with": 166}
            ]
        ),
        "linking": pd.DataFrame(
            [
                {"combination": "Organization+Person", "neither": 0.31, "linking": 0.28}
                | {"consistency": 0.305, "both": 0.277}
            ]
        ),
        "options": pd.DataFrame(
            [
                {"option": "as configured", "reached": 31.4, "uniques": 25.0, "DR": 0.86}
                | {"DU": 0.991, **spread},
                {"option": "two rounds", "reached": 200.0, "uniques": 25.0, "DR": 0.86}
                | {"DU": 0.991, **spread},
                {"option": "cosine 0.99", "reached": 0.0, "uniques": 0.0, "DR": None}
                | {"DU": None, **spread, "n_swaps": 0, "DR_se": None, "DU_se": None},
            ]
        ),
        "attacks": swapped.assign(corpus_accuracy=0.8 - 0.2 * (1 - swapped["DR"])),
    }


def examples() -> dict[str, Any]:
    first = "Sales of Loomstack to Aurelia Motors grew in the quarter."
    second = "We won a contract with Union Prairie Railway for <Quillbase>."
    return {
        "examples": [
            Example(
                3,
                ExampleSide(first, [(9, 18, "Quillbase"), (22, 36, "Union Prairie Railway")]),
                ExampleSide(second, [(23, 44, "Aurelia Motors"), (50, 59, "Loomstack")]),
            )
        ],
        "exchanged": [("Product", "Loomstack", "Quillbase", 4)],
        "review": [
            ReviewRow("d0a1#00003", ["names"], 3, 1, 9, {"Date": 2, "Person": 1}, first),
            ReviewRow(
                "d0a2#00001", ["words and names", "words that are no names"], 2, 0, 4, {}, second
            ),
        ],
    }


def summaries() -> list[RunSummary]:
    shares = {"Organization": 0.48, "Person": 0.1, "Product": 0.25, "Location": 0.33}
    first = RunSummary(
        name="demo",
        period="2031Q2",
        published=True,
        documents=24,
        chunks=320,
        combination="Organization+Product",
        n_swaps=21,
        r=0.131,
        DR=0.74,
        DU=0.981,
        setting="pkb-K10-eps0.001",
        configuration="4f0c2b7a91de",
        categories=shares,
        audit={"linkage": (0.8, 0.4)},
    )
    second = replace(
        first,
        period="2031Q3",
        published=False,
        chunks=400,
        DR=0.7,
        DR_se=0.01,
        categories=shares | {"Product": 0.31},
        audit={},
    )
    return [first, second]


@cache
def _drawings():
    return page.draw_figures(report_data())


_explorers: dict[str, Explorer | None] = {}


def _explorer(space: pd.DataFrame, choice: Choice) -> Explorer | None:
    """The plot for exploring, drawn once for equal candidates and an equal choice."""
    asked = f"{space.to_dict('list')!r} {[*space.index]} {choice!r}"
    if asked not in _explorers:
        _explorers[asked] = explorer(space, choice)
    return _explorers[asked]


def rendered(data: ReportData) -> str:
    """Return a page around the figures of the plain sample: they are the slow part.

    The plot for exploring comes next: pages of the same candidates have the same one.
    """
    with patch("nes_spark.report.explorer.explorer", _explorer):
        return page._render(data, _drawings())
