"""A made-up run whose report the tests build."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import pandas as pd

from nes_spark.releases.publishing import Gate
from nes_spark.report import Example, ExampleSide, ReportData, RunSummary
from nes_spark.risk import p_hat_table
from nes_spark.risk.tables import fit_row

CATEGORIES = ("Organization", "Person", "Product", "Location")


def candidates(setting: str = "pkb-K10-eps0.001", population: float = 1e20) -> pd.DataFrame:
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
    return fits, p_hat_table(fits, [1e20])


def report_data(**changes: Any) -> ReportData:
    table = candidates()
    chosen = table[(table["combination"] == "Organization+Person") & (table["n_swaps"] == 20)]
    row = chosen.iloc[0]
    fits, p_hats = _fits()
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
        choice={
            "setting": row["setting"],
            "population": 1e20,
            "combination": row["combination"],
            "n_swaps": int(row["n_swaps"]),
            "r": float(row["r"]),
            "draws": 1,
            "DR": float(row["DR"]),
            "DR_se": None,
            "DU": float(row["DU"]),
            "DU_se": None,
            "rule": "line",
            "components": 9,
        },
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
        components=pd.DataFrame(
            {
                "component": range(9),
                "chunks": [120, 101, 90, 82, 70, 61, 52, 40, 24],
                "documents": [40, 44, 38, 36, 30, 31, 25, 22, 15],
                "weight": [0.19, 0.16, 0.14, 0.13, 0.11, 0.09, 0.08, 0.06, 0.04],
                "concentration": [0.41, 0.38, 0.52, 0.44, 0.47, 0.39, 0.55, 0.6, 0.63],
            }
        ),
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
