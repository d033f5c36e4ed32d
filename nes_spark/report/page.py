"""Build the report page: one HTML file that needs nothing beside it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark.audit.adversaries import SWAP_AWARE, words_of_adversaries
from nes_spark.entities.combination import UNIT_WORDS
from nes_spark.releases.choice import RISKLESS_RULES, Choice
from nes_spark.releases.publishing import what_is_left, what_is_retold
from nes_spark.report.data import MAX_EXAMPLES, ReportData

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Environment

    from nes_spark.report.figures import Drawing

#: What each status of a category means (paper, section 2.3).
CATEGORY_WORDS = {
    "S": ("exchanged", "names of this kind change places with those of a similar text"),
    "F": ("kept", "names of this kind stay as they are in every text"),
    "C": (
        "replaced",
        "every name of this kind is replaced by a placeholder, or every date moved, in every text",
    ),
    "U": ("free", "not part of the chosen release: names of this kind stay as they are"),
}

STATUS_WORDS = {
    "swapped": "Exchanged names with a chunk of another document.",
    "unpaired": "Could have been swapped, but was not drawn or found no partner left.",
    "no_entity": "Holds no name that could be exchanged; other treatments may have changed it.",
    "same_metadata_only": "All chunks like it are of the same source, so nothing would be gained.",
    "alone_in_component": "No other chunk is similar enough: it is alone in its component.",
    "no_valid_partner": "No chunk of its component makes a valid exchange with it.",
    "low_concentration": "Its component is too mixed to exchange names within it.",
    "dropped": "Is not published.",
    "summarised": "Is published as a summary by a language model.",
}

REASON_WORDS = {
    "empty_text": "The document has no text.",
    "missing_text": "The column that holds the text is empty or not there.",
    "bad_turns": "The speaker turns do not have the form that the configuration says.",
    "bad_mentions": "The spans that should come with it are missing, or lie outside its text.",
    "not_utf8": "The text is not valid UTF-8.",
    "foreign": "The text does not look like English (input.foreign).",
    "not_json": "The line is not valid JSON.",
    "not_csv": "The row is not valid CSV.",
    "missing_metadata": "The column that holds the secret is empty.",
    "missing_document_id": "The document has no id.",
    "missing_period": "The document has no period.",
    "duplicate_document_id": "Another document has the same id; the first one was kept.",
    "too_long": "The text is longer than the configuration allows.",
    "too_short": "The part that would be used is shorter than the configuration asks for.",
    "no_presentation": "No presentation part was found.",
    "no_questions": "No question session was found, and the configuration asks for one.",
}

STAGE_WORDS = {
    "documents": "reading",
    "chunks": "cutting into chunks",
    "recognised": "finding names",
    "mentions": "linking names",
    "cells": "counting combinations",
    "embeddings": "embedding",
    "embedder": "fitting the embedder",
    "mixture": "fitting the mixture",
    "assignments": "assigning components",
    "swaps": "drawing swaps",
    "rewrites": "rewriting texts",
    "judged": "judging utility",
    "risk_fits": "fitting the risk model",
    "scores": "scoring",
    "measured_risk": "attacking every candidate",
    "candidates": "comparing candidates",
}

#: Most rows of a table that are shown at once; the rest can be unfolded.
SHOWN = 12
MAX_EXCHANGED = 25


def missing(value: Any) -> bool:
    """Whether a value is None, NaN or infinite."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def number(value: Any, digits: int = 0) -> str:
    """Write a number with thousands separators; a missing one is a dash."""
    return "–" if missing(value) else f"{float(value):,.{digits}f}"


def percent(value: Any, digits: int = 1) -> str:
    """Write a share as a percentage."""
    return "–" if missing(value) else f"{100 * float(value):.{digits}f}%"


def significant(value: Any, digits: int = 3) -> str:
    """Write a number with significant digits."""
    if missing(value):
        return "–"
    return power(value) if abs(float(value)) >= 1e6 else f"{float(value):.{digits}g}"


def power(value: Any) -> str:
    """Write a large number as a power of ten: 1e+20 is 10²⁰."""
    if missing(value):
        return "–"
    value = float(value)
    if abs(value) < 1e6:
        return f"{value:,.0f}"
    mantissa, exponent = f"{value:.2e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    mantissa = mantissa.rstrip("0").rstrip(".")
    return f"10{raised}" if mantissa == "1" else f"{mantissa} × 10{raised}"


def p_value(value: Any) -> str:
    """Write a p-value; tiny ones as an upper bound."""
    if missing(value):
        return "–"
    return "< 0.001" if float(value) < 0.001 else f"= {float(value):.3f}"


def interval(low: Any, high: Any, digits: int = 3) -> str:
    """Write an interval."""
    if missing(low) or missing(high):
        return "–"
    return f"{significant(low, digits)} to {significant(high, digits)}"


def duration(value: Any) -> str:
    """Write seconds for a reader."""
    if missing(value):
        return "–"
    seconds = float(value)
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def plain(code: str) -> str:
    """Turn a code into words: ``no_entity`` is ``no entity``."""
    return code.replace("_", " ")


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the template environment; everything that is not markup is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from nes_spark.report.figures import pretty

    made = Environment(
        loader=PackageLoader("nes_spark.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": number,
        "percent": percent,
        "significant": significant,
        "power": power,
        "p_value": p_value,
        "duration": duration,
        "plain": plain,
        "pretty": pretty,
    }
    made.globals |= {"interval": interval, "missing": missing}
    return made


def stylesheet() -> str:
    """Return the style sheet of all pages."""
    loader = environment().loader
    assert loader is not None
    return loader.get_source(environment(), "style.css")[0]


def review_page(data: ReportData) -> str:
    """Return the page of the chunks to read first; it needs no other file.

    Parameters
    ----------
    data : ReportData
        Of the run; texts stand in the page where ``review`` holds some.
    """
    from markupsafe import Markup

    alike = Counter(
        (row.attackers, row.confident, row.known, *row.missed) for row in data.review
    ).most_common(1)
    return (
        environment()
        .get_template("review.html.j2")
        .render(
            data=data,
            alike=alike[0][1] if alike else 0,
            texts=any(row.text for row in data.review),
            style=Markup(stylesheet()),
            sorting=Markup(sorting_script()),
        )
    )


def sorting_script() -> str:
    """Return the script that lets a reader sort tables."""
    loader = environment().loader
    assert loader is not None
    return loader.get_source(environment(), "sorting.js")[0]


def fates_of(coverage: pd.DataFrame | None) -> dict[str, str]:
    """Say what became of the mentions of each category: "donor 70%, exchanged 30%"; {} if unknown.

    Parameters
    ----------
    coverage : pandas.DataFrame or None
        ``category, fate, mentions``, in any division.
    """
    if coverage is None or not len(coverage):
        return {}
    out: dict[str, str] = {}
    for category, mine in coverage.groupby("category"):
        counts = mine.groupby("fate")["mentions"].sum()
        shares = [(int(n) / max(int(counts.sum()), 1), str(fate)) for fate, n in counts.items()]
        shares.sort(key=lambda pair: (-pair[0], pair[1]))
        out[str(category)] = ", ".join(
            f"{fate} {share:.0%}" if share >= 0.005 else f"{fate} <1%"
            for share, fate in shares
            if share > 0
        )
    return out


def draw_figures(data: ReportData) -> dict[str, Drawing]:
    """Draw what a report shows, by name; no figure holds a text or a name of the corpus."""
    from nes_spark.report import figures

    space = data.space
    categories = data.figures["categories"]
    names = [c for c in data.categories if c in categories]
    drawn = [figures.risk_utility(space, data.choice, data.choice_line)]
    if (space["n_swaps"] > 0).any():
        drawn.append(figures.against_swaps(space, data.choice))
    if names:
        drawn.append(
            figures.bars(
                "categories",
                "Mentions and distinct entities per category",
                names,
                {
                    "mentions": [categories[c]["mentions"] for c in names],
                    "distinct entities": [categories[c]["entities"] for c in names],
                },
                "Count",
            )
        )
    drawn.append(
        figures.bars(
            "components",
            "Chunks in each component of the mixture",
            [f"{row.component}" for row in data.components],
            {"chunks": [float(row.chunks) for row in data.components]},
            "Chunks",
        )
    )
    statuses = sorted(data.statuses.items(), key=lambda item: (-item[1], item[0]))
    if statuses:
        drawn.append(
            figures.bars(
                "statuses",
                "What became of the chunks",
                [plain(s) for s, _ in statuses],
                {"chunks": [float(n) for _, n in statuses]},
                "Chunks",
            )
        )
    if data.coverage is not None and len(data.coverage):
        account = data.coverage.groupby(["category", "fate"])["mentions"].sum().unstack().fillna(0)
        kinds = [c for c in data.categories if c in account.index]
        drawn.append(
            figures.stacked(
                "coverage",
                "What became of the mentions of each category",
                kinds,
                {str(fate): [float(n) for n in account[fate].reindex(kinds)] for fate in account},
                "Mentions",
            )
        )
    if data.audit:
        drawn.append(figures.audit(data.audit))
    if data.attacks is not None and len(data.attacks):
        drawn.append(figures.attacks(data.attacks, data.choice))
    return {drawing.name: drawing for drawing in drawn}


def _risk_rows(data: ReportData) -> list[dict[str, Any]]:
    """One row a combination: what was seen, what was estimated, and p-hat at the chosen N."""
    rows = []
    population = data.choice.population
    for fit in data.risk_fits.to_dict("records"):
        row = {str(key): value for key, value in fit.items()}
        found = data.p_hats[
            (data.p_hats["combination"] == fit["combination"])
            & (data.p_hats["population"] == population)
        ]
        row["p"] = found.iloc[0].to_dict() if len(found) else None
        row["stays"] = _stays(data, fit["combination"])
        row["chosen"] = fit["combination"] == data.choice.combination.name
        rows.append(row)
    return rows


def _stays(data: ReportData, combination: str) -> dict[str, Any] | None:
    """Return pi(N) of a combination at the chosen N with its interval, where there is a fit."""
    found = data.stays[
        (data.stays["combination"] == combination)
        & (data.stays["population"] == data.choice.population)
    ]
    return {str(k): v for k, v in found.iloc[0].items()} if len(found) else None


def _dr_interval(data: ReportData) -> dict[str, float] | None:
    """Return the 95 % interval of DR that follows from that of p-hat, where there is a fit.

    DR = 1 - (share of the sample uniques that was swapped) p-hat, p-hat cut to [0, 1].
    """
    choice = data.choice
    found = data.p_hats[
        (data.p_hats["combination"] == choice.combination.name)
        & (data.p_hats["population"] == choice.population)
    ]
    if found.empty or not found["p_hat_clipped"].iloc[0] > 0:
        return None
    swapped = (1 - choice.DR) / float(found["p_hat_clipped"].iloc[0])
    low, high = (min(max(float(found[n].iloc[0]), 0.0), 1.0) for n in ("p_low", "p_high"))
    return {"low": 1 - swapped * high, "high": 1 - swapped * low}


def _size_rows(data: ReportData) -> list[dict[str, Any]]:
    """One row a population size: pi(N) and p-hat of the chosen combination."""
    name = data.choice.combination.name
    mine = data.stays[data.stays["combination"] == name]
    both = mine.merge(data.p_hats, on=["combination", "population"], how="left")
    return [{str(k): v for k, v in row.items()} for row in both.to_dict("records")]


def _goodness_rows(data: ReportData) -> list[dict[str, Any]]:
    """One row a combination: how many cells of each size were observed, and are expected."""
    from nes_spark.risk import goodness_table

    return [
        {
            "combination": combination,
            "sizes": list(zip(rows["size"], rows["observed"], rows["expected"], strict=True)),
            "p_value": rows["fit_p_value"].iloc[0],
        }
        for combination, rows in goodness_table(data.risk_fits).groupby("combination", sort=False)
    ]


#: What a release of a unit is, where a run had both.
WHOLES = {
    "chunk": f"Each chunk was exchanged on its own: {UNIT_WORDS['chunk']}",
    "document": f"Whole documents were exchanged: {UNIT_WORDS['document']}",
}
#: Units of table ``measured``: who is asked about what, in words.
ATTACKED_UNITS = {
    "documents": "Documents: the attacker holds half of every original document and is asked about "
    "the other half, all chunks of a document together",
    "documents_background": "Documents: the attacker holds other texts about each candidate "
    "(audit.background) and is asked about whole documents",
    "documents_public_words": "Documents: the attacker knows a few public words of each candidate "
    "(audit.public_words) and looks for its document among all whole ones; a tie names nobody",
    "each_document_public_words": "Documents: the attacker knows a few public words of each "
    "candidate (audit.public_words) and says whose each whole document is; a tie names nobody",
    "chunks_left_out": "Chunks with names: the attacker holds all original chunks but the one in "
    "question",
    "chunks_known": "Chunks with names: the attacker holds all original chunks, the one in "
    "question too",
    "chunks_together": "Chunks: the attacker holds nothing but the release, and takes for each the "
    "one that is most like it for another of the same document",
}


def _measured_rows(data: ReportData) -> list[dict[str, Any]]:
    """One row a unit and attacker: the strongest after swapping first."""
    if data.measured is None:
        return []
    records = data.measured.to_dict("records")
    before = {
        (row["unit"], row["attacker"]): row["named"] for row in records if row["side"] == "before"
    }
    rows = [
        {
            "unit": row["unit"],
            "attacker": row["attacker"],
            "n": row["n"],
            "before": before[row["unit"], row["attacker"]],
            "after": row["named"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in records
        if row["side"] == "after"
    ]
    return sorted(rows, key=lambda row: (-row["after"], -row["before"], row["attacker"]))


def _utility_of(data: ReportData) -> dict[str, Any] | None:
    """What the release cost: one row for it and for each anchor, one column a measure."""
    from nes_spark.utility.judge import BELOW_BLANKING, RELEASE, SUBJECTS, UNCHANGED
    from nes_spark.utility.panel import MEASURES

    if data.utility is None or not (data.utility["subject"] == RELEASE).any():
        return None
    found = {(row["subject"], row["measure"]): row for row in data.utility.to_dict("records")}
    own = [row for (subject, _), row in found.items() if subject == RELEASE]
    tasks = sorted(m for s, m in found if s == RELEASE and m.startswith("task_agreement/"))
    measures = [name for name in (*MEASURES, *tasks) if (RELEASE, name) in found]
    rows = []
    for subject, words in SUBJECTS.items():
        cells = [found.get((subject, name)) for name in measures]
        if not any(cells):
            continue
        rows.append(
            {
                "words": words,
                "own": subject == RELEASE,
                "figures": [
                    (c["value"], c["standard_error"]) if c else (None, None) for c in cells
                ],
                "chunks": 0 if subject == UNCHANGED else max(int(c["chunks"]) for c in cells if c),
            }
        )
    terms = [(plain(m), MEASURES[m].words) for m in measures if m in MEASURES]
    terms += [
        (_task(m), f"share of the changed chunks to which the task {m.partition('/')[2]} gives the "
         "label that it gave before") for m in tasks
    ]  # fmt: skip
    return {
        "changed": max(int(row["changed"]) for row in own),
        "measures": [_task(name) for name in measures],
        "rows": rows,
        "terms": terms,
        "sentence": _cost(found.get((RELEASE, BELOW_BLANKING)), found.get((RELEASE, "fidelity"))),
    }


def _task(measure: str) -> str:
    kind, _, task = measure.partition("/")
    return f"{plain(task)} agreement" if task else plain(kind)


def _cost(below: Mapping[Any, Any] | None, own: Mapping[Any, Any] | None) -> str:
    """Say in plain words what the release cost against blanking the same names."""
    if own is None or below is None or missing(below["value"]):
        return ""
    error = below["standard_error"]
    within = "" if missing(error) else f" (± {2 * error:.3f})"
    cost = below["value"]
    how = f"that is {cost:.3f}{within} below" if cost > 0 else f"that is {-cost:.3f}{within} above"
    return (
        f"They kept a cosine of {own['value']:.3f} with what they were, 1 being unchanged; {how} "
        "the same chunks with a placeholder in the place of each name."
    )


def _agreement_rows(data: ReportData) -> list[dict[str, Any]]:
    """One row a category, and the sum over all of them."""
    if data.agreement is None or not len(data.agreement):
        return []
    rows = data.agreement.to_dict("records")
    total = {name: sum(row[name] for row in rows) for name in ("n", "before", "after", "both")}
    return [*({str(k): v for k, v in row.items()} for row in rows), {"category": "All", **total}]


def _setting_rows(data: ReportData) -> list[dict[str, Any]]:
    """One row per mixture setting and population: how far each could go."""
    rows = []
    for (setting, population), mine in data.candidates.groupby(
        ["setting", "population"], sort=False
    ):
        lowest = mine.sort_values(["DR", "DU"], ascending=[True, False]).iloc[0]
        rows.append(
            {
                "setting": setting,
                "population": population,
                "candidates": len(mine),
                "frontier": int(mine["on_frontier"].sum()),
                "DR": lowest["DR"],
                "DU": lowest["DU"],
                "combination": lowest["combination"],
                "n_swaps": lowest["n_swaps"],
                "chosen": setting == data.choice.setting and population == data.choice.population,
            }
        )
    return rows


def build_report(
    data: ReportData, folder: str | Path, drawings: Mapping[str, Drawing] | None = None
) -> Path:
    """Write the report of a run.

    Parameters
    ----------
    data : ReportData
        What to show. Texts and names appear only where ``examples`` and ``exchanged`` hold some.
    folder : str or pathlib.Path
        Created when missing. Gets ``index.html``, which needs no other file, and the figures as
        ``figures/<name>.svg`` and ``.png``.
    drawings : mapping of str to Drawing, optional
        From :func:`draw_figures` of these data; drawn here otherwise.

    Returns
    -------
    pathlib.Path
        The page. Equal data give equal bytes.
    """
    folder = Path(folder)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    drawings = draw_figures(data) if drawings is None else drawings
    for name, drawing in drawings.items():
        (folder / "figures" / f"{name}.svg").write_text(drawing.wide, encoding="utf-8")
        (folder / "figures" / f"{name}.png").write_bytes(drawing.png)
    page = _render(data, drawings)
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8", newline="\n")
    return path


def _measured_axes(space: pd.DataFrame, choice: Choice) -> dict[str, Any]:
    """Which measured figures of candidates the page shows: of documents, unless chunks decided."""
    from nes_spark.report.figures import AXES

    named = "measured_chunks" if choice.risk == "measured_chunks" else "measured"
    there = {n: n in space and bool(space[n].notna().any()) for n in (named, "fidelity")}
    return {
        "named": named if there[named] else None,
        "words": AXES[named][0],
        "fidelity": there["fidelity"],
    }


def _render(data: ReportData, drawings: Mapping[str, Drawing]) -> str:
    from markupsafe import Markup

    from nes_spark.releases.frontier import frontier_of
    from nes_spark.report.explorer import explorer
    from nes_spark.report.figures import themed

    choice = data.choice
    # as the picture beside it has it: on the axes of the choice
    marks = frontier_of(data.space, choice.utility, choice.risk)
    space = data.space.assign(on_frontier=marks)
    correlation = None
    if data.attacks is not None:
        from nes_spark.audit.summary import independent_agreement

        correlation = independent_agreement(data.attacks)
    by_risk = space[marks].sort_values([choice.risk, choice.utility])
    frontier = by_risk.to_dict("records")
    rows = space.to_dict("records")
    plot = explorer(space, choice)
    adversaries = words_of_adversaries()
    words = {
        "line": "the frontier release that lies lowest against a straight line of risk and utility",
        "max_utility": "the frontier release with most utility among those with low enough risk",
        "max_rate": "as many swaps as possible of the combination that was asked for",
        "lowest_risk": "the release with the lowest risk",
        "candidate": "the candidate that was asked for",
        "coverage": "the shortest release that makes the share of the exchanges asked for",
    }
    risk_words = {
        "measured": ", where risk is the share of documents that the strongest attacker names",
        "measured_chunks": ", where risk is the share of chunks with names whose source the "
        "strongest attacker names who holds all other chunks",
        "DR": ", where risk is the estimated disclosure risk DR",
    }
    return environment().get_template("report.html.j2").render(
        data=data,
        what_is_left=what_is_left(data.figures),
        what_is_retold=what_is_retold(data.figures),
        documents_named=data.documents_named,
        chunks_named=data.chunks_named,
        public_words=data.public_words_named,
        chunks_together=data.chunks_together,
        attacked_units=ATTACKED_UNITS,
        wholes=WHOLES,
        measured=_measured_rows(data),
        utility=_utility_of(data),
        coverage=[] if data.coverage is None else data.coverage.to_dict("records"),
        fates=fates_of(data.coverage),
        figures=data.figures,
        choice=choice,
        style=Markup(stylesheet()),
        svg={
            name: {"wide": Markup(themed(d.wide)), "narrow": Markup(themed(d.narrow)), "alt": d.alt}
            for name, d in drawings.items()
        },
        frontier=frontier,
        candidates=rows,
        risks=_risk_rows(data),
        goodness=_goodness_rows(data),
        sizes=_size_rows(data),
        agreement=_agreement_rows(data),
        correlation=correlation,
        sorting=Markup(sorting_script()),
        explorer=None
        if plot is None
        else {"item": Markup(plot.item), "script": Markup(plot.script)},
        settings=_setting_rows(data),
        components=data.components,
        statuses_by_name=data.statuses,
        statuses=sorted(data.statuses.items(), key=lambda item: (-item[1], item[0])),
        total_status=sum(data.statuses.values()),
        total_seconds=sum(data.seconds.values()),
        category_words=CATEGORY_WORDS,
        status_words=STATUS_WORDS,
        adversary_words=adversaries,
        partner_words=adversaries[SWAP_AWARE],
        reason_words=REASON_WORDS,
        stage_words=STAGE_WORDS,
        rule_words=words.get(choice.rule, plain(choice.rule)),
        risk_words="" if choice.rule in RISKLESS_RULES else risk_words[choice.risk],
        stays=_stays(data, choice.combination.name),
        dr_interval=_dr_interval(data),
        axes=_measured_axes(space, choice),
        shown=SHOWN,
        exchanged=list(data.exchanged)[:MAX_EXCHANGED],
        examples=list(data.examples)[:MAX_EXAMPLES],
    )  # fmt: skip
