"""The order of stages: what each needs, gives and depends on. The plan can be printed.

A stage is skipped when all it gives is there with today's key: the code that it is made of, the
configuration sections it names, the content of what it needs and, where it draws, the fingerprint
of the seed.
"""

from __future__ import annotations

import hashlib
import posixpath
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial, reduce
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark.errors import ConfigError
from nes_spark.run.context import Context, Taken, finished, read_models
from nes_spark.run.earlier import (
    PREVIOUS,
    TAKEN,
    UNITS,
    earlier_periods,
    find_earlier,
    set_aside,
)
from nes_spark.schemas import MENTIONS, TABLES
from nes_spark.spreading import spread
from nes_spark.store import Manifest, Store, combine, input_fingerprint
from nes_spark.versions import code_digest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nes_spark.config import ReleasesConfig


INPUT = "input"
#: In at most so many words quantities and terms are found in one call, without Spark.
FEW_WORDS = 1_000_000
#: Up to so many chunks, and so many of their texts, are placed in this process, up to so many swaps
#: scored, and so many scores made candidates of: there Spark's jobs take longer than the work.
FEW_CHUNKS, FEW_TEXTS, FEW_SWAPS, FEW_SCORES = 20_000, 50_000, 50_000, 200_000


#: What a stage gives: a table of Spark, or its rows where they are in this process already.
Outputs = Mapping[str, "DataFrame | Sequence[tuple[Any, ...]]"]
Make = Callable[["DataFrame"], "DataFrame"]
Take = Callable[..., tuple["DataFrame", int]]


@dataclass(frozen=True)
class Stage:
    """One step of the pipeline.

    Attributes
    ----------
    needs, gives : tuple of str
        Tables and artifacts; ``input`` stands for the input files.
    sections : tuple of str
        Configuration sections that its output depends on.
    run : callable
        Takes the context and returns the tables it gives; an artifact's stage fills a folder.
    draws : bool
        Whether the output depends on the secret seed.
    also : callable, optional
        Gives a digest of what else the output depends on, outside the run folder.
    ahead : bool
        Whether ``run`` gives rows of this process and writes nothing, so that it may work while
        Spark does (:mod:`nes_spark.run.ahead`).
    """

    name: str
    what: str
    needs: tuple[str, ...]
    gives: tuple[str, ...]
    sections: tuple[str, ...]
    run: Callable[[Context], Outputs] | None = None
    fill: Callable[[Context, Any], dict[str, Any] | None] | None = None
    draws: bool = False
    details: Callable[[Context], dict[str, Any]] | None = field(default=None, compare=False)
    also: Callable[[Context], str] | None = field(default=None, compare=False)
    ahead: bool = False

    def code(self) -> str:
        """Digest of the code that the output is made with, and of the schemas of its tables."""
        made_by = [f for f in (self.run, self.fill, self.also) if f is not None]
        tables = [TABLES[name] for name in (*self.needs, *self.gives) if name in TABLES]
        return combine(
            code_digest(*(f"{f.__module__}:{f.__name__}" for f in made_by)),
            *(table.ddl for table in tables),
        )

    def key(self, context: Context) -> str:
        """Digest of all that the output depends on."""
        from nes_spark.swapping import seed_fingerprint

        config = context.config
        # Where files lie does not matter, only what they hold (input_fingerprint, _clues_digest).
        inputs = config.input.model_copy(
            update={"path": None, "metadata_table": None, "options": {}}
        )
        entities = config.entities.model_copy(update={"clues": None})
        config = config.model_copy(update={"input": inputs, "entities": entities})
        parts = [self.code(), self.name]
        if self.sections:
            parts.append(config.fingerprint(*self.sections))
        if self.draws:
            parts.append(seed_fingerprint(context.secret))
        if self.also is not None:
            parts.append(self.also(context))
        for name in self.needs:
            if name == INPUT:
                parts += [context.input_fingerprint, config.period or ""]
            else:
                parts.append(finished(context.store, name).content)
        return combine(*parts)

    def units_key(self, context: Context) -> str:
        """Digest of all that a part of the output depends on besides its unit.

        A stage that gives one of :data:`nes_spark.run.earlier.UNITS` has it.
        """
        unit = UNITS[self.gives[0]]
        rest = tuple(name for name in self.needs if name != unit)
        return replace(self, needs=rest).key(context)

    def is_current(self, context: Context, key: str) -> bool:
        """Whether everything it gives is there with this key."""
        return all(context.store.is_current(name, key) for name in self.gives)

    def execute(self, context: Context, key: str) -> list[Manifest]:
        """Run the stage and commit what it gives."""
        inputs = {
            name: context.input_fingerprint
            if name == INPUT
            else finished(context.store, name).content
            for name in self.needs
        }
        started = time.perf_counter()
        if self.fill is not None:
            fill = self.fill
            (name,) = self.gives
            context.store.write_artifact(name, key, lambda folder: fill(context, folder), inputs)
        else:
            assert self.run is not None
            try:
                if context.config.output.reuse is not None and not context.anew:
                    for name in self.gives:
                        if name in UNITS or name in UNITS.values():
                            set_aside(context.store, name)
                if self.gives[0] in UNITS:
                    context.units_key = self.units_key(context)
                outputs = self._outputs(context, key)
                for name in self.gives:
                    context.store.write_table(name, outputs[name], key, inputs)
            finally:
                context.release_kept()
        seconds = round(time.perf_counter() - started, 3)
        details = self.details(context) if self.details else {}
        if context.taken is not None:
            details, context.taken = {**details, TAKEN: asdict(context.taken)}, None
        committed = []
        for name in self.gives:
            found = finished(context.store, name)
            committed.append(
                context.store.finish(name, seconds=seconds, details={**found.details, **details})
            )
        return committed

    def _outputs(self, context: Context, key: str) -> Outputs:
        """Run the stage, or take what it gave where it has begun already."""
        assert self.run is not None
        begun, promised = context.begun.pop(self.name, (None, None))
        return promised.result() if promised is not None and begun == key else self.run(context)


# -- the stages --------------------------------------------------------------------------------


def _documents(context: Context) -> Outputs:
    from nes_spark.text.reading_stages import read_documents
    from nes_spark.text.searched_stages import set_aside

    config = context.config
    documents, quarantine = read_documents(
        context.spark,
        config.input,
        config.presentation,
        config.identifiers,
        config.period,
        keep=context.keep,
    )
    documents, quarantine = set_aside(
        documents, quarantine, config.gates.require, config.identifiers
    )
    return {"documents": documents, "quarantine": quarantine}


def _required_kinds(context: Context) -> str:
    """Which kinds each document must have something to search for: decides what is accepted."""
    return ",".join(sorted(context.config.gates.require))


def _embedder(context: Context, folder: Any) -> dict[str, Any]:
    from nes_spark.embedding import load_embedder
    from nes_spark.embedding.stages import fit_embedder
    from nes_spark.text import split_sentences

    config = context.config.embedding
    spec = fit_embedder(
        context.table("documents"), config, folder, context.cache_path(), split_sentences
    )
    return {"model": config.model, "model_id": load_embedder(spec).model_id}


def _chunks(context: Context) -> Outputs:
    from nes_spark.run.earlier_stages import cut_documents
    from nes_spark.text.chunking_stages import chunk_documents

    config, spec = context.config, context.sentence_spec()

    def cut(documents: DataFrame) -> DataFrame:
        documents = spread(documents, "document_id")
        return chunk_documents(documents, config.chunking, config.identifiers, spec)

    return {"chunks": _with_earlier(context, "chunks", cut_documents, cut)}


def _with_earlier(context: Context, output: str, take: Take, make: Make) -> DataFrame:
    """Make an output, but for what an earlier run has of it; and note what was taken.

    Parameters
    ----------
    context : Context
    output : str
        One of :data:`nes_spark.run.earlier.UNITS`.
    take : callable
        Of :mod:`nes_spark.run.earlier_stages`: units of today, units and output of the earlier run,
        ``make`` and what persists a table -> the output and the number of units taken.
    make : callable
        Units -> their rows of the output.
    """
    unit, today = UNITS[output], context.units_key
    total = finished(context.store, unit).rows
    units, found = context.table(unit), find_earlier(context, output, today)
    taken, origin = 0, ""
    if found is None:
        made = make(units)
    else:
        origin, store = found
        before, results = (store.read_table(context.spark, name) for name in (unit, output))
        made, taken = take(units, before, results, make, context.keep, total)
    context.taken = Taken(today, taken, total, unit, origin if taken else "")
    return made


def _recognised(context: Context) -> Outputs:
    from nes_spark.entities.recognizers import GIVEN
    from nes_spark.entities.stages import find_mentions
    from nes_spark.run.earlier_stages import treat_texts

    config = context.config.entities
    if config.recognizer == GIVEN:  # they come with the documents
        return {"recognised": []}

    def recognise(chunks: DataFrame) -> DataFrame:
        return find_mentions(spread(chunks, "chunk_id"), config)

    return {"recognised": _with_earlier(context, "recognised", treat_texts, recognise)}


def _mentions(context: Context) -> Outputs:
    from nes_spark.entities.clue_stages import add_clues
    from nes_spark.entities.further import FURTHER
    from nes_spark.entities.further_stages import add_further, further_rows
    from nes_spark.entities.given_stages import given_mentions, given_spans, mentions_of
    from nes_spark.entities.recognizers import GIVEN
    from nes_spark.entities.stages import settle_mentions
    from nes_spark.entities.sweep_stages import find_candidates, settle_candidates
    from nes_spark.entities.telling_stages import find_telling
    from nes_spark.run.listed import listed_clues

    config = context.config.entities
    chunks = spread(context.table("chunks"), "chunk_id")
    found_here: list[tuple[Any, ...]] | None = None
    swept: DataFrame | Sequence[tuple[Any, ...]] = []
    spans: DataFrame | Sequence[tuple[Any, ...]] = []
    if config.recognizer == GIVEN:
        documents = spread(context.table("documents"), "document_id")
        given = context.keep(given_mentions(documents, chunks, config, context.config.identifiers))
        mentions, spans = settle_mentions(mentions_of(given), config), given_spans(given)
    else:
        mentions = settle_mentions(context.table("recognised"), config)
    if config.sweep != "off":
        mentions = context.keep(mentions)
        several = _several(chunks)
        raw = context.keep(find_candidates(chunks, mentions, config, elsewhere=several))
        found = settle_candidates(raw, chunks, config, mentions if several else None)
        swept = found.swept
        if config.sweep == "treat":
            mentions = mentions.unionByName(found.mentions)
    listed, share = listed_clues(context), config.telling
    if set(FURTHER) & set(config.categories):
        if context.words() <= FEW_WORDS:
            texts = context.store.rows("chunks", ["chunk_id", "document_id", "metadata", "text"])
            # clues that are listed lie over telling words: both are found together, below
            here = 0.0 if listed is not None else share
            share -= here
            mine = config.model_copy(update={"telling": here})
            found_here = further_rows(texts, mentions, mine)
        else:
            mentions = add_further(chunks, context.keep(mentions), config, context.keep)
    if listed is not None or share:
        if found_here is not None:
            mentions = context.spark.createDataFrame(found_here, MENTIONS.ddl)
            found_here = None
        mentions = context.keep(mentions)
        telling = None
        if share:
            telling = context.keep(find_telling(chunks, mentions, share, context.keep))
        mentions = add_clues(chunks, mentions, listed, context.keep, telling)
    return {
        "mentions": mentions if found_here is None else found_here,
        "swept": swept,
        "given_spans": spans,
    }


def _several(chunks: DataFrame) -> bool:
    """Whether some secret has several documents."""
    from pyspark.sql import functions as F

    counted = (F.count_distinct("metadata"), F.count_distinct("document_id"))
    ((alone, all_of_them),) = chunks.agg(*counted).collect()
    return bool(all_of_them > alone)


def _clues_digest(context: Context) -> str:
    """Digest of the list of clues; nothing where there is none."""
    path = context.config.entities.clues
    return input_fingerprint(context.spark, [path]) if path else ""


def _model_digest(name: str) -> str:
    """Digest of a model that lies outside the package: its files, or its installed version.

    The configuration holds a name or a path only, and what is behind it may change.
    """
    path = Path(name)
    if not path.exists():
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return ""  # loading it says what is wrong, or a remote model has a name only
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    for file in files:
        digest.update(str(file.relative_to(path.parent)).encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _recognizer_digest(context: Context) -> str:
    """Digest of the recogniser and section ``entities``, whatever is known of clues."""
    from nes_spark.entities.clues import CLUE

    config = context.config
    # clues bring their category: nothing is recognised anew for that
    entities = config.entities.model_copy(
        update={
            "clues": None,
            "telling": 0.0,
            "categories": [c for c in config.entities.categories if c != CLUE],
        }
    )
    told = config.model_copy(update={"entities": entities}).fingerprint("entities")
    name = config.entities.recognizer
    # bundled: part of the code version; given: part of the documents
    return combine(told, "" if name in ("bundled", "given") else _model_digest(name))


def _embedder_digest(context: Context) -> str:
    kind, _, name = context.config.embedding.model.partition(":")
    return _model_digest(name) if kind == "sentence-transformers" else ""


def _cells(context: Context) -> Outputs:
    from nes_spark.entities.clue_stages import names_told
    from nes_spark.entities.stages import build_cells
    from nes_spark.text.leak_stages import own_names

    config, mentions = context.config, context.table("mentions")
    own = own_names(mentions, context.table("documents"), config.identifiers)
    if config.entities.clues or config.entities.telling:
        own = own.unionByName(names_told(context.table("chunks"), mentions)).distinct()
    return {
        "cells": build_cells(context.table("chunks"), mentions, config.entities),
        "own_names": own,
    }


def _embeddings(context: Context) -> Outputs:
    from nes_spark.embedding.stages import embed_chunks, spread_by
    from nes_spark.run.earlier_stages import treat_texts

    spec = context.spec()

    def embed(chunks: DataFrame) -> DataFrame:
        return embed_chunks(spread(chunks, spread_by(spec)), spec)

    return {"embeddings": _with_earlier(context, "embeddings", treat_texts, embed)}


def _mixture(context: Context, folder: Any) -> dict[str, Any]:
    from nes_spark.mixture.stages import fit_mixtures
    from nes_spark.swapping import derive_seed

    earlier = earlier_run(context)
    models = fit_mixtures(
        context.table("embeddings"),
        context.config.mixture,
        derive_seed(context.secret, "mixture"),
        warm_start=None if earlier is None else read_models(earlier),
    )
    files = {}
    settings = {}
    for name, model in models.items():
        files[name] = f"{name}.npz"
        model.save(folder / files[name])
        settings[name] = {
            "converged": bool(model.converged),
            "n_iter": int(model.n_iter),
            "components": len(model.weights),
            "log_likelihood": float(model.log_likelihood),
        }
    return {
        "files": files,
        "settings": settings,
        "warm_start": None if earlier is None else posixpath.basename(earlier.root),
    }


def earlier_run(context: Context) -> Store | None:
    """Return the run whose mixtures this one starts from (``mixture.warm_start``).

    Returns
    -------
    Store or None
        None where none is asked for, and for ``previous`` where there is no earlier period with
        mixtures of the same embedding model.

    Raises
    ------
    ConfigError
        When the run folder named has no mixtures, or those of another embedding model.
    """
    named = context.config.mixture.warm_start
    if named is None:
        return None
    own = context.store.manifest("embedder")
    model = own.details.get("model_id") if own else None

    def fits(store: Store) -> str:
        """Why a run's mixtures cannot be used; empty where they can."""
        embedder = store.manifest("embedder")
        if store.manifest("mixture") is None or embedder is None:
            return "holds no fitted mixtures"
        if embedder.details.get("model") == "lsa":
            return "has vectors of an lsa model, which is fitted anew in every period"
        if embedder.details.get("model_id") != model:
            return "has vectors of another embedding model"
        return ""

    if named != PREVIOUS:
        store = Store(named)
        if reason := fits(store):
            raise ConfigError(f"mixture.warm_start: {named} {reason}")
        return store
    return next((store for store in earlier_periods(context) if not fits(store)), None)


def _warm_start_digest(context: Context) -> str:
    earlier = earlier_run(context)
    return "" if earlier is None else finished(earlier, "mixture").content


def _assignments(context: Context) -> Outputs:
    from nes_spark.mixture.stages import assign

    return {"assignments": assign(context.table("embeddings"), context.models())}


def sampling_tables(context: Context) -> dict[str, Any]:
    """What the sampler looks at besides cells and assignments, by parameter name."""
    from nes_spark.swapping.stages import chunk_facts

    constraints = context.config.releases.constraints
    return {
        "concentrations": {name: m.concentrations for name, m in context.models().items()},
        "covariates": context.table("documents").select("document_id", "covariates")
        if constraints.same_covariates
        else None,
        "embeddings": context.table("embeddings"),
        "own_names": context.table("own_names"),
        "facts": chunk_facts(context.table("chunks")),
    }


def _swaps(context: Context) -> Outputs:
    from nes_spark.swapping.stages import sample_candidates

    config = context.config
    if config.releases.plan == "whole":
        swaps, leftovers = draw_whole(context, config.releases, context.table("assignments"))
        return {"swaps": swaps, "leftovers": leftovers}
    swaps = sample_candidates(
        context.table("cells"),
        context.table("assignments"),
        config.releases,
        config.swapping,
        context.secret,
        **sampling_tables(context),
    )
    return {"swaps": swaps, "leftovers": []}


def draw_whole(
    context: Context, releases: ReleasesConfig, assignments: DataFrame
) -> tuple[DataFrame, DataFrame]:
    """Draw plan ``whole``: swaps in layers until nothing that can be exchanged stays.

    With both units there are two sequences, each drawn as if it were alone.

    Parameters
    ----------
    context : Context
        With the tables that the swaps need.
    releases : ReleasesConfig
        Section of the configuration, or one with other draws.
    assignments : pyspark.sql.DataFrame
        Table ASSIGNMENTS, of all or of some settings.

    Returns
    -------
    tuple of pyspark.sql.DataFrame
        Tables SWAPS and LEFTOVERS. What is persisted for them is let go of with the context's.
    """
    from nes_spark.audit.summaries_stages import summarise
    from nes_spark.entities.combination import combinations_of
    from nes_spark.entities.terms import TERM
    from nes_spark.swapping.plan_stages import sample_plans
    from nes_spark.swapping.whole import options_of_whole
    from nes_spark.swapping.whole_stages import (
        appended,
        as_leftovers,
        as_swaps,
        leftovers_by_chunk,
        swaps_by_chunk,
    )

    config = context.config
    summaries = None
    if "summary" in releases.leftover:
        summaries = partial(
            summarise,
            chunks=context.table("chunks"),
            mentions=context.table("mentions"),
            config=config.summary_audit(),
            store_path=config.audit.answers or context.store.path("sealed", "answers"),
            every_word=config.entities.telling > 0,
        )
    tables = sampling_tables(context)
    swaps, leftovers = [], []
    read: dict[str, Any] = {}
    for combination in combinations_of(releases):
        plan, left = None, None
        for one in options_of_whole(releases, config.entities, combination.unit):
            plans = sample_plans(
                context.table("cells"),
                assignments,
                one,
                releases,
                config.swapping,
                context.secret,
                **tables,
                terms_are_own=TERM in releases.further,
                means={name: model.means for name, model in context.models().items()},
                summarise=summaries,
                read=read,
            )
            context.kept.extend(plans.kept)
            drawn, rest = plans.plan, plans.leftovers
            if one.unit == "document":
                drawn = swaps_by_chunk(drawn, context.table("cells"))
                rest = leftovers_by_chunk(rest, context.table("cells"))
            plan = drawn if plan is None else appended(plan, drawn)
            left = rest if left is None else left.unionByName(rest)
        assert plan is not None and left is not None
        swaps.append(as_swaps(plan, combination.name))
        leftovers.append(as_leftovers(left, combination.name))
    return (
        reduce(lambda a, b: a.unionByName(b), swaps),
        reduce(lambda a, b: a.unionByName(b), leftovers),
    )


def _rewrites(context: Context) -> Outputs:
    from nes_spark.swapping.stages import rewrite
    from nes_spark.swapping.whole_stages import leftover_orders, leftover_steps

    config = context.config
    swaps = context.table("swaps")
    last = None
    if config.releases.plan == "whole":
        last = leftover_steps(leftover_orders(context.table("leftovers"), swaps, context.secret))
    rewrites = rewrite(
        swaps,
        context.table("chunks"),
        context.table("mentions"),
        config.releases,
        config.swapping,
        config.entities,
        last,
        context.shifts(),
    )
    return {"rewrites": rewrites}


def _post_density(context: Context) -> Outputs:
    from nes_spark.embedding.stages import is_fast
    from nes_spark.swapping.stages import replaced_everywhere
    from nes_spark.utility.density_stages import post_density, post_density_here

    releases, replaced = context.config.releases, None
    store, spec = context.store, context.spec()
    few = finished(store, "chunks").rows <= FEW_CHUNKS
    here = few and finished(store, "rewrites").rows <= FEW_TEXTS and is_fast(spec)
    if releases.must_change or releases.shift:
        replaced = replaced_everywhere(
            context.table("chunks"),
            context.table("mentions"),
            releases.must_change,
            releases.shift,
            context.shifts(),
        )
    if here:
        found = post_density_here(
            store.read_pandas(
                "rewrites", ["setting", "combination", "draw", "order", "chunk_id", "text"]
            ),
            store.read_pandas("assignments", ["setting", "chunk_id", "component"]),
            spec,
            context.models(),
            replaced,
        )
        return {"post_density": [*found.itertuples(index=False, name=None)]}
    if replaced is not None and not is_fast(spec):
        # looked at for what to embed, for what to place and for what is silent
        replaced = context.keep(replaced)
    densities = post_density(
        context.table("rewrites"), context.table("assignments"), spec, context.models(), replaced
    )
    return {"post_density": densities}


def _utility(context: Context) -> Outputs:
    from nes_spark.run.judging import judge_stage

    return judge_stage(context)


def _judged_setting(context: Context) -> str:
    from nes_spark.run.judging import judged_setting

    return judged_setting(context)


def _judge_details(context: Context) -> dict[str, Any]:
    from nes_spark.run.judging import judge_details

    return judge_details(context)


def _risk_fits(context: Context) -> Outputs:
    from nes_spark.releases import combinations_of
    from nes_spark.risk.stages import fit_risk

    fits = fit_risk(
        context.table("cells"),
        combinations_of(context.config.releases),
        context.config.risk.empty_cell,
    )
    return {"risk_fits": fits}


def populations(context: Context) -> list[float]:
    """Population sizes N of the run, the first of them that of the choice unless named."""
    from nes_spark.risk.tables import resolved_populations

    return resolved_populations(
        context.config.risk.population, finished(context.store, "chunks").rows
    )


def _scores(context: Context) -> Outputs:
    from nes_spark.releases.scoring import OF_FITS, score_tables
    from nes_spark.releases.stages import score

    store, risk = context.store, context.config.risk
    few = finished(store, "chunks").rows <= FEW_CHUNKS
    if few and finished(store, "swaps").rows <= FEW_SWAPS:
        fits = store.rows("risk_fits", [*OF_FITS])
        found = score_tables(
            store.read_pandas(
                "swaps", ["setting", "combination", "draw", "order", "chunk_a", "chunk_b"]
            ),
            store.read_pandas("cells", ["chunk_id", "cell"]),
            store.read_pandas("assignments", ["setting", "chunk_id", "log_density"]),
            store.read_pandas("post_density"),
            [dict(zip(OF_FITS, row, strict=True)) for row in fits],
            populations(context),
            on_failure=risk.on_failure,
            empty_cell=risk.empty_cell,
        )
        return {"scores": [*found.itertuples(index=False, name=None)]}
    scores = score(
        context.table("swaps"),
        context.table("cells"),
        context.table("assignments"),
        context.table("post_density"),
        context.table("risk_fits"),
        populations(context),
        on_failure=risk.on_failure,
        empty_cell=risk.empty_cell,
    )
    return {"scores": scores}


def _per_draw(context: Context) -> str:
    """Whether draws are candidates of their own: all of section choice that a table depends on."""
    return str(context.config.choice.per_draw)


def _measured_risk(context: Context) -> Outputs:
    from nes_spark.run.measuring import measure_candidates
    from nes_spark.schemas import MEASURED_RISK

    found = [
        tuple(row)
        for part in measure_candidates(context)
        for row in part[MEASURED_RISK.names].itertuples(index=False)
    ]
    return {"measured_risk": found}


def _measuring_digest(context: Context) -> str:
    """What measured candidates depend on of section audit; nothing where none are measured."""
    audit = context.config.audit
    wanted = audit.linkage and audit.documents and audit.candidates
    if context.config.releases.plan != "whole" or not wanted:
        return ""
    known = input_fingerprint(context.spark, [audit.background]) if audit.background else ""
    used = (
        "smoothing", "pair_weight", "max_candidates_per_entity", "max_documents", "max_words",
        "max_chunks",
    )  # fmt: skip
    return combine(known, *(str(getattr(audit, name)) for name in used))


def _candidates(context: Context) -> Outputs:
    from pyspark.sql import functions as F

    from nes_spark.mixture.settings import settings_of
    from nes_spark.releases.scoring import at_tenths, base_utility, summarize_tables
    from nes_spark.releases.stages import scored_base, summarize, untouched_utility
    from nes_spark.swapping import whole_stages

    config, store = context.config, context.store
    settings = [setting.name for setting in settings_of(config.mixture)]
    if finished(store, "scores").rows <= FEW_SCORES:
        read = store.read_pandas("scores")
        base = base_utility(read)
        # densities are summed on Spark for settings without a score
        if set(settings) <= set(base):
            found = summarize_tables(
                at_tenths(read) if config.releases.plan == "whole" else read,
                settings,
                populations(context),
                config.choice.per_draw,
                config.releases.draws,
                base,
            )
            rows = found.astype(object).where(found.notna(), None)
            return {"candidates": [*rows.itertuples(index=False, name=None)]}
    scores = context.table("scores")
    # where something was scored its sums are there; densities are summed for other settings only
    untouched = scored_base(scores)
    if unscored := sorted(set(settings) - set(untouched)):
        untouched |= untouched_utility(
            *(
                context.table(name).where(F.col("setting").isin(unscored))
                for name in ("post_density", "assignments")
            )
        )
    if config.releases.plan == "whole":
        scores = whole_stages.at_tenths(scores)
    candidates = summarize(
        scores,
        settings,
        populations(context),
        per_draw=config.choice.per_draw,
        draws=config.releases.draws,
        untouched=untouched,
    )
    return {"candidates": candidates}


STAGES: tuple[Stage, ...] = (
    Stage(
        name="documents",
        what="read, validate, cut to the presentation part",
        needs=(INPUT,),
        gives=("documents", "quarantine"),
        sections=("input", "presentation", "identifiers"),
        run=_documents,
        also=_required_kinds,
    ),
    Stage(
        name="embedder",
        what="fit the embedding model where it is fitted on the corpus",
        needs=("documents",),
        gives=("embedder",),
        sections=("embedding",),
        fill=_embedder,
    ),
    Stage(
        name="chunks",
        what="cut into semantic chunks, suppress direct identifiers",
        needs=("documents", "embedder"),
        gives=("chunks",),
        sections=("chunking", "identifiers", "embedding"),
        run=_chunks,
        also=_embedder_digest,
    ),
    Stage(
        name="recognised",
        what="recognise named entities, chunk by chunk",
        needs=("chunks",),
        gives=("recognised",),
        sections=(),
        run=_recognised,
        also=_recognizer_digest,
    ),
    Stage(
        name="mentions",
        what="make names consistent, link and sweep",
        needs=("documents", "chunks", "recognised"),
        gives=("mentions", "swept", "given_spans"),
        sections=("entities", "identifiers"),
        run=_mentions,
        also=_clues_digest,
    ),
    Stage(
        name="cells",
        what="build the entity combination table; which entities name a document",
        needs=("documents", "chunks", "mentions"),
        gives=("cells", "own_names"),
        sections=("entities", "identifiers"),
        run=_cells,
    ),
    Stage(
        name="embeddings",
        what="embed the chunks",
        needs=("chunks", "embedder"),
        gives=("embeddings",),
        sections=("embedding",),
        run=_embeddings,
        also=_embedder_digest,
    ),
    Stage(
        name="mixture",
        what="fit mixtures on the sphere",
        needs=("embeddings",),
        gives=("mixture",),
        sections=("mixture",),
        fill=_mixture,
        draws=True,
        also=_warm_start_digest,
    ),
    Stage(
        name="assignments",
        what="assign chunks to components",
        needs=("embeddings", "mixture"),
        gives=("assignments",),
        sections=(),
        run=_assignments,
    ),
    Stage(
        name="swaps",
        what="draw the swaps of every candidate",
        needs=("documents", "chunks", "cells", "own_names", "embeddings", "mixture", "assignments"),
        gives=("swaps", "leftovers"),
        sections=("releases", "swapping", "entities"),
        run=_swaps,
        draws=True,
    ),
    Stage(
        name="rewrites",
        what="exchange the entities in the texts",
        needs=("documents", "swaps", "leftovers", "chunks", "mentions"),
        gives=("rewrites",),
        sections=("releases", "swapping", "entities"),
        run=_rewrites,
        draws=True,
    ),
    Stage(
        name="post_density",
        what="embed the changed chunks",
        needs=(
            "documents",
            "rewrites",
            "chunks",
            "mentions",
            "embedder",
            "mixture",
            "assignments",
        ),
        gives=("post_density",),
        sections=("releases", "embedding"),
        run=_post_density,
        draws=True,
        also=_embedder_digest,
    ),
    Stage(
        name="risk_fits",
        what="fit the Ewens-Pitman model to every table",
        needs=("cells",),
        gives=("risk_fits",),
        sections=("releases",),
        run=_risk_fits,
    ),
    Stage(
        name="scores",
        what="score disclosure risk and data utility",
        needs=("swaps", "cells", "assignments", "post_density", "risk_fits"),
        gives=("scores",),
        sections=("risk",),
        run=_scores,
    ),
    Stage(
        name="candidates",
        what="average over draws, find the frontier",
        needs=("scores", "post_density", "assignments"),
        gives=("candidates",),
        sections=("mixture", "risk", "releases"),
        run=_candidates,
        also=_per_draw,
    ),
    Stage(
        name="measured_risk",
        what="attack every candidate of plan whole",
        needs=("documents", "chunks", "mentions", "cells", "mixture", "swaps", "rewrites"),
        gives=("measured_risk",),
        sections=("releases",),
        run=_measured_risk,
        draws=True,
        also=_measuring_digest,
        ahead=True,
    ),
    Stage(
        name="utility",
        what="let the judge read a sample of the changed chunks",
        needs=("documents", "rewrites", "chunks", "mentions", "assignments"),
        gives=("judged", "fidelity"),
        sections=("utility", "releases"),
        run=_utility,
        draws=True,
        details=_judge_details,
        also=_judged_setting,
        ahead=True,
    ),
)
