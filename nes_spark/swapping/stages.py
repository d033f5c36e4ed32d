"""Spark: candidate swaps, rewritten chunks, and what became of every chunk.

Only ids, 64-bit hashes and counts travel to the sampler; names of entities are joined to the few
accepted swaps, and texts to them last. Every random number is keyed by the secret and by ids, so
the results do not depend on row order or partitioning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nes_spark.config import EntitiesConfig, ReleasesConfig, SwappingConfig
from nes_spark.entities.combination import Combination, combinations_of
from nes_spark.errors import parameter_error
from nes_spark.schemas import EDITS, REWRITES, STATUS, SWAPS
from nes_spark.swapping.batches import (
    ACCEPTED,
    ACCEPTED_DDL,
    GROUP,
    Task,
    constraint_batches,
    eligible_batches,
    partner_batches,
    sample_batches,
)
from nes_spark.swapping.constraints import (
    Constraint,
    SameComponent,
    columns_needed,
    constraints_of,
    numbers_of,
)
from nes_spark.swapping.prefix import GroupKey, Large, prefix_batches, smallest_batches
from nes_spark.swapping.rows import CHANGED_DDL, must_change_rows, plan_rows, rewrite_rows
from nes_spark.swapping.seeds import Secret

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

#: Draws that one task makes with the same loaded component.
DRAWS_PER_TASK = 8

#: Chunks of a large component that are loaded at first, per swap asked for.
FIRST_CHUNKS = 64

CANDIDATE = ("setting", "combination", "draw")

_NAMES = "array<struct<category:string,name:string>>"


def sample_candidates(
    cells: DataFrame,
    assignments: DataFrame,
    releases: ReleasesConfig,
    swapping: SwappingConfig,
    secret: bytes,
    concentrations: Mapping[str, Sequence[float]] | None = None,
    covariates: DataFrame | None = None,
    embeddings: DataFrame | None = None,
    own_names: DataFrame | None = None,
    facts: DataFrame | None = None,
) -> DataFrame:
    """Draw the sequence of swaps of every candidate: setting x combination J x draw.

    Parameters
    ----------
    cells, assignments : pyspark.sql.DataFrame
        Tables CELLS and ASSIGNMENTS.
    releases : ReleasesConfig
        Combinations, longest sequence, draws and constraints.
    swapping : SwappingConfig
        Policy, matching, rounds and weights.
    secret : bytes
        The secret seed.
    concentrations : mapping, optional
        Setting -> concentration of each component; needed for ``min_concentration``.
    covariates : pyspark.sql.DataFrame, optional
        ``document_id, covariates`` (map); needed for ``same_covariates``.
    embeddings : pyspark.sql.DataFrame, optional
        Table EMBEDDINGS; needed for ``min_cosine`` and ``cosine_weight``. Only then do vectors
        travel to the sampler.
    own_names : pyspark.sql.DataFrame, optional
        Table OWN_NAMES: no swap brings such an entity into a chunk of its document.
    facts : pyspark.sql.DataFrame, optional
        ``chunk_id`` and whatever further columns a constraint asks for, see :func:`chunk_facts`.

    Returns
    -------
    pyspark.sql.DataFrame
        Table SWAPS. With M draws and at most ``max_swaps`` swaps each; the first k rows of a
        candidate are the candidate with k swaps.

    Raises
    ------
    ValueError
        When an option lacks the table it needs.

    Notes
    -----
    A task reads the eligible chunks of one component (about 150 bytes each) and makes several draws
    with them. Of a component with more than ``swapping.task_chunks`` eligible chunks only those are
    read that the clocks name (:mod:`nes_spark.swapping.prefix`); only when the swaps asked for
    cannot be found among ``task_chunks`` chunks is it read as a whole. With ``swapping.sticky``
    components are always read as a whole.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    secret = Secret(secret)
    constraints = constraints_of(releases.constraints)
    base = eligible_rows(
        cells, assignments, combinations_of(releases), constraints, swapping,
        concentrations, covariates, embeddings, own_names, facts, tuple(releases.must_change),
    ).where("barred = ''")  # fmt: skip
    swaps: DataFrame | None = None
    for round_ in range(1, swapping.rounds + 1):
        task = _task(releases, swapping, secret, round_)
        if swaps is None:
            accepted = _first_round(base, cells, task, swapping.task_chunks)
            state = None
            done = F.lit(0)
        else:
            counts = swaps.groupBy(*CANDIDATE).agg(F.count(F.lit(1)).cast("int").alias("_done"))
            state = _state(swaps)
            accepted = _later_round(base, state, counts, task, releases.max_swaps)
            accepted = accepted.join(F.broadcast(counts), list(CANDIDATE), "left")
            done = F.coalesce(F.col("_done"), F.lit(0))
        sequence = Window.partitionBy(*CANDIDATE).orderBy("priority", "time", "chunk_a", "chunk_b")
        accepted = (
            accepted.withColumn("order", (F.row_number().over(sequence) + done).cast("int"))
            .where(F.col("order") <= releases.max_swaps)
            .withColumn("round", F.lit(round_))
            .drop("_done")
        )
        planned = _plan(accepted, cells, state, own_names, swapping, secret)
        if swapping.rounds > 1:
            planned = planned.persist()  # the next round begins from it
            if round_ > 1 and planned.isEmpty():
                break
        swaps = planned if swaps is None else swaps.unionByName(planned)
    assert swaps is not None
    return swaps


def _task(releases: ReleasesConfig, swapping: SwappingConfig, secret: Secret, round_: int) -> Task:
    return Task(
        secret,
        round_,
        releases.draws,
        DRAWS_PER_TASK if round_ == 1 else 1,
        releases.max_swaps,
        constraints_of(releases.constraints),
        swapping.uniques_first,
        swapping.cosine_weight,
        swapping.sticky,
    )


def chunk_facts(chunks: DataFrame) -> DataFrame:
    """Return what the table of chunks says about each, without its text.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table CHUNKS.

    Returns
    -------
    pyspark.sql.DataFrame
        Its columns but ``text``, ``document_id`` and ``metadata``; and ``n_chunks``, the number of
        chunks of the document.
    """
    from pyspark.sql import functions as F

    sizes = chunks.groupBy("document_id").agg(F.count(F.lit(1)).alias("n_chunks"))
    return chunks.drop("text", "metadata").join(sizes, "document_id").drop("document_id")


def eligible_rows(
    cells: DataFrame,
    assignments: DataFrame,
    combinations: Sequence[tuple[str, ...]],
    constraints: Sequence[Constraint],
    swapping: SwappingConfig,
    concentrations: Mapping[str, Sequence[float]] | None = None,
    covariates: DataFrame | None = None,
    embeddings: DataFrame | None = None,
    own_names: DataFrame | None = None,
    facts: DataFrame | None = None,
    replaced: Sequence[str] = (),
) -> DataFrame:
    """Rows of chunks that have an entity in every category of J, cut down to hashes.

    Parameters
    ----------
    cells, assignments, concentrations, covariates, embeddings, own_names, facts
        As for :func:`sample_candidates`.
    combinations : sequence of tuple of str
        Each J.
    constraints : sequence of Constraint
    swapping : SwappingConfig
    replaced : sequence of str, optional
        Categories that are replaced in every chunk: what differs in them only does not differ in
        the release, so they do not count as outside J.

    Returns
    -------
    pyspark.sql.DataFrame
        Columns as :func:`nes_spark.swapping.batches.sample_batches` reads them but ``block``, and
        ``barred``: the status that a constraint gives a chunk which it keeps out, else ''.
    """
    from pyspark.sql import functions as F

    def hashes(category: str) -> Column:
        names = F.coalesce(F.col("entities")[category], F.array().cast("array<string>"))
        return F.transform(names, lambda name: F.xxhash64(F.lit(category), name))

    def outside(combination: tuple[str, ...]) -> Column:
        without = [*combination, *replaced]
        rest = F.map_filter("cell", lambda k, _: ~k.isin(without))
        return F.xxhash64(F.array_sort(F.map_entries(rest)))

    variants = [
        F.struct(
            F.lit(Combination(j).name).alias("combination"),
            F.array(*(hashes(c) for c in j)).alias("available"),
            F.when(F.col("own").isNotNull(), F.array(*(own_hashes(c) for c in j))).alias("own"),
            outside(j).alias("outside"),
            F.xxhash64(*(F.coalesce(F.col("cell")[c], F.lit("")) for c in j)).alias("inside"),
        )
        for j in combinations
    ]
    rows = (
        with_own_names(cells, own_names)
        .select(
            "chunk_id",
            "document_id",
            F.xxhash64("metadata").alias("metadata"),
            F.explode(F.array(*variants)).alias("v"),
        )
        .select("chunk_id", "document_id", "metadata", "v.*")
    )
    rows = rows.where(F.forall("available", lambda e: F.size(e) > 0))
    if swapping.uniques_first:
        # A chunk with the same cell is eligible too, so that counting eligible chunks is enough.
        unique = (
            rows.groupBy("combination", "inside")
            .agg(F.count(F.lit(1)).alias("_n"))
            .select("combination", "inside", (F.col("_n") == 1).alias("sample_unique"))
        )
        rows = rows.join(unique, ["combination", "inside"])
    else:
        rows = rows.withColumn("sample_unique", F.lit(False))
    rows = constrained(
        rows.drop("inside").join(
            assignments.select("setting", "chunk_id", "component"), "chunk_id"
        ),
        constraints, concentrations, covariates, facts,
    )  # fmt: skip
    rows = with_vectors(rows, constraints, swapping, embeddings)
    return rows.drop("document_id").withColumn("history", F.lit(None).cast("array<array<bigint>>"))


def with_own_names(cells: DataFrame, own_names: DataFrame | None) -> DataFrame:
    """Add ``own``: the entities that name the document of each row, null for none."""
    from pyspark.sql import functions as F

    if own_names is None:
        return cells.withColumn("own", F.lit(None).cast(_NAMES))
    return cells.join(_own_of(own_names), "document_id", "left")


def own_hashes(category: str) -> Column:
    """Return the hashes of the entities of one category in ``own``."""
    from pyspark.sql import functions as F

    mine = F.filter("own", lambda name: name["category"] == category)
    return F.transform(mine, lambda name: F.xxhash64(name["category"], name["name"]))


def with_vectors(
    rows: DataFrame,
    constraints: Sequence[Constraint],
    swapping: SwappingConfig,
    embeddings: DataFrame | None,
) -> DataFrame:
    """Add ``vector``, null unless a constraint or weights look at it."""
    from pyspark.sql import functions as F

    if swapping.cosine_weight is None and not any(c.needs_vectors for c in constraints):
        return rows.withColumn("vector", F.lit(None).cast("array<float>"))
    if embeddings is None:
        raise parameter_error("sample_candidates", "embeddings", "given", None)
    return rows.join(embeddings.select("chunk_id", "vector"), "chunk_id")


def constrained(
    rows: DataFrame,
    constraints: Sequence[Constraint],
    concentrations: Mapping[str, Sequence[float]] | None,
    covariates: DataFrame | None,
    facts: DataFrame | None,
) -> DataFrame:
    """Apply what constraints say of single chunks.

    Parameters
    ----------
    rows : pyspark.sql.DataFrame
        At least ``chunk_id, document_id, setting, component``.
    constraints, concentrations, covariates, facts
        As for :func:`eligible_rows`.

    Returns
    -------
    pyspark.sql.DataFrame
        The rows with ``stratum`` (64-bit hash of the groups that constraints form within a
        component), ``barred`` and ``numbers`` (what pairs are compared by; null for nothing).

    Raises
    ------
    ValueError
        When a table or column is missing that a constraint asks for.
    """
    from pyspark.sql import functions as F

    asked = columns_needed(constraints)
    numbers = numbers_of(constraints)
    known = {"component", "swaps_before"}
    found = rows
    if "swaps_before" in asked and "swaps_before" not in rows.columns:
        found = found.withColumn("swaps_before", F.lit(0))
    if "concentration" in asked:
        if concentrations is None:
            raise parameter_error("sample_candidates", "concentrations", "given", None)
        listed = [
            (setting, k, float(value))
            for setting, values in concentrations.items()
            for k, value in enumerate(values)
        ]
        table = rows.sparkSession.createDataFrame(
            listed, "setting string, component int, concentration double"
        )
        found = found.join(F.broadcast(table), ["setting", "component"])
        known.add("concentration")
    if "covariates" in asked:
        if covariates is None:
            raise parameter_error("sample_candidates", "covariates", "given", None)
        found = found.join(covariates.select("document_id", "covariates"), "document_id")
        known.add("covariates")
    further = [name for name in asked if name not in known]
    if further:
        given = [] if facts is None else facts.columns
        missing = [name for name in further if name not in given]
        if facts is None or missing:
            raise parameter_error(
                "sample_candidates", "facts", f"a table with the columns {missing}", given
            )
        found = found.join(facts.select("chunk_id", *further), "chunk_id")
    values = F.array(*(F.col(name).cast("double") for name in numbers))
    found = found.withColumn("numbers", values if numbers else F.lit(None).cast("array<double>"))
    # The stage groups by component anyway.
    rules = [
        c
        for c in constraints
        if not isinstance(c, SameComponent) and (c.overrides("groups") or c.overrides("eligible"))
    ]
    keep = [*rows.columns, "numbers"]
    if not rules:
        return found.select(
            *keep, F.lit(0).cast("bigint").alias("stratum"), F.lit("").alias("barred")
        )
    facts_of = list(dict.fromkeys(name for c in rules for name in c.columns))

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from constraint_batches(batches, rules, facts_of, keep)

    schema = found.select(*keep).schema
    kinds = ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in schema.fields)
    return found.select(*dict.fromkeys([*keep, *facts_of])).mapInArrow(
        look, f"{kinds}, stratum bigint, barred string"
    )


_ROWS = (
    "setting", "combination", "component", "stratum", "block", "chunk_id", "metadata", "outside",
    "sample_unique", "available", "history", "own", "vector", "numbers",
)  # fmt: skip


def _grouped(rows: DataFrame, *then: str) -> DataFrame:
    """Bring the rows of a group together and in order, for one task to read one after another."""
    columns = [*_ROWS, *(c for c in then if c not in _ROWS)]
    return rows.select(*columns).repartition(*GROUP).sortWithinPartitions(*GROUP, *then)


def _sampled(rows: DataFrame, task: Task) -> DataFrame:
    def sample(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from sample_batches(batches, task)

    return _grouped(rows, "chunk_id").mapInArrow(sample, ACCEPTED_DDL)


def _first_round(base: DataFrame, cells: DataFrame, task: Task, task_chunks: int) -> DataFrame:
    from pyspark.sql import functions as F

    large: dict[GroupKey, Large] = {}
    if not task.sticky and cells.limit(task_chunks + 1).count() > task_chunks:
        found = (
            base.groupBy(*GROUP[:4])
            .agg(F.count(F.lit(1)).alias("n"), F.min("chunk_id").alias("first_id"))
            .where(F.col("n") > task_chunks)
            .collect()
        )
        large = {
            tuple(row[name] for name in GROUP[:4]): Large(row["n"], row["first_id"])
            for row in found
        }
    blocks = -(-task.draws // task.draws_per_block)
    block = F.explode(F.sequence(F.lit(0), F.lit(blocks - 1))) if blocks > 1 else F.lit(0)
    usual = base.where(~_among(large)) if large else base
    accepted = _sampled(usual.withColumn("block", block), task)
    return accepted.unionByName(_large(base, large, task, task_chunks)) if large else accepted


def _among(keys: Iterable[GroupKey]) -> Column:
    from pyspark.sql import functions as F

    condition = F.lit(False)
    for key in keys:
        match = F.lit(True)
        for name, value in zip(GROUP[:4], key, strict=True):
            match = match & (F.col(name) == value)
        condition = condition | match
    return condition


def _large(
    base: DataFrame, large: dict[GroupKey, Large], task: Task, task_chunks: int
) -> DataFrame:
    """Swaps of components that no task should hold; see :mod:`nes_spark.swapping.prefix`."""
    from dataclasses import replace

    from pyspark.sql import functions as F

    single = replace(task, draws_per_block=1)
    rows = base.where(_among(large)).withColumn("block", F.lit(0))
    # With sample uniques first, the first phase is a component of its own: that of the uniques.
    ringing, facts = rows, large
    if task.uniques_first:
        ringing = rows.where("sample_unique")
        counts = ringing.groupBy(*GROUP[:4]).agg(F.count(F.lit(1)).alias("n")).collect()
        facts = {
            key: Large(row["n"], large[key].first_id)
            for row in counts
            if row["n"] > 1
            for key in [tuple(row[name] for name in GROUP[:4])]
        }
    draws = {key: list(range(task.draws)) for key in facts}
    accepted: list[Any] = []
    keep = max(1024, FIRST_CHUNKS * task.max_swaps)
    while draws and keep <= task_chunks:
        found = _ring(ringing, single, keep, draws, facts)
        short = {(tuple(r[n] for n in GROUP[:4]), r["draw"]) for r in found if not r["chunk_a"]}
        accepted += [tuple(r[n] for n in ACCEPTED.names) for r in found if r["chunk_a"] is not None]
        draws = {k: [d for d in ds if (k, d) in short] for k, ds in draws.items()}
        draws = {k: ds for k, ds in draws.items() if ds}
        keep *= 8
    session = base.sparkSession
    out = session.createDataFrame(accepted, ACCEPTED_DDL)
    whole = {key: list(range(task.draws)) for key in large if key not in facts} | draws
    if whole:
        parts = [
            rows.where(_among([key])).withColumn(
                "block", F.explode(F.array(*(F.lit(d) for d in ds)))
            )
            for key, ds in whole.items()
        ]
        for part in parts:
            out = out.unionByName(_sampled(part, single))
    return out


def _ring(
    rows: DataFrame,
    task: Task,
    keep: int,
    draws: dict[GroupKey, list[int]],
    large: dict[GroupKey, Large],
) -> list[Any]:
    def smallest(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from smallest_batches(batches, task, keep, draws)

    def ring(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from prefix_batches(batches, task, keep, large)

    chosen = rows.select(*_ROWS)
    schema = ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in chosen.schema.fields)
    first = chosen.mapInArrow(smallest, f"{schema}, shuffle bigint")
    return (
        _grouped(first, "shuffle", "chunk_id")
        .mapInArrow(ring, f"{ACCEPTED_DDL}, stratum bigint")
        .collect()
    )


def giver() -> Column:
    """Return which unit of a swap gives the name of ``e``, one of its exchanges."""
    from pyspark.sql import functions as F

    return F.when(F.col("e.side") == "a", F.col("chunk_a")).otherwise(F.col("chunk_b"))


def other_side() -> Column:
    """Return which unit of a swap gives what comes in that name's place; see :func:`giver`."""
    from pyspark.sql import functions as F

    return F.when(F.col("e.side") == "a", F.col("chunk_b")).otherwise(F.col("chunk_a"))


def _state(swaps: DataFrame) -> DataFrame:
    """What each swapped chunk gave and took so far: names and their hashes, all categories."""
    from pyspark.sql import functions as F

    moved = (
        swaps.select(*CANDIDATE, "round", "chunk_a", "chunk_b", F.explode("exchanged").alias("e"))
        .withColumn("chunk_id", giver())
        .select(
            *CANDIDATE,
            "round",
            "chunk_id",
            F.struct("e.category", F.col("e.old").alias("name")).alias("gave"),
            F.struct("e.category", F.col("e.new").alias("name")).alias("took"),
        )
    )

    def hashed(column: str) -> Column:
        return F.transform(F.col(column), lambda x: F.xxhash64(x["category"], x["name"]))

    return (
        moved.groupBy(*CANDIDATE, "chunk_id")
        .agg(
            F.collect_set("gave").alias("gave"),
            F.collect_set("took").alias("took"),
            F.countDistinct("round").cast("int").alias("swaps_before"),
        )
        .withColumn("gave_hashes", hashed("gave"))
        .withColumn("took_hashes", hashed("took"))
    )


def _later_round(
    base: DataFrame, state: DataFrame, counts: DataFrame, task: Task, max_swaps: int
) -> DataFrame:
    """Sample again, all chunks being free, for the candidates that have too few swaps."""
    from pyspark.sql import functions as F

    going = base.withColumn("draw", F.explode(F.sequence(F.lit(0), F.lit(task.draws - 1)))).join(
        # A candidate that found no pair at all will not find one now.
        F.broadcast(counts.where(F.col("_done") < max_swaps).select(*CANDIDATE)),
        list(CANDIDATE),
    )
    kept = state.select(*CANDIDATE, "chunk_id", "gave_hashes", "took_hashes", "swaps_before")
    again = [c for c in task.constraints if "swaps_before" in c.columns]
    rows = going.join(kept, [*CANDIDATE, "chunk_id"], "left")
    nothing = F.array().cast("array<bigint>")
    gave = F.coalesce("gave_hashes", nothing)
    took = F.coalesce("took_hashes", nothing)
    rows = rows.select(
        *(c for c in rows.columns if c not in ("available", "history")),
        F.transform("available", lambda e: F.array_except(e, gave)).alias("left"),
        # Hashes include the category, so that those of other categories do no harm.
        F.transform("available", lambda e: F.array_union(e, took)).alias("history"),
    ).withColumnRenamed("left", "available")
    rows = rows.where(F.forall("available", lambda e: F.size(e) > 0))
    if again:
        rows = rows.withColumn("swaps_before", F.coalesce("swaps_before", F.lit(0)))
        rows = _still_eligible(rows, again)
    return _sampled(rows.withColumn("block", F.col("draw")), task)


def _still_eligible(rows: DataFrame, constraints: Sequence[Constraint]) -> DataFrame:
    """Keep the rows that constraints on what was swapped before let take part."""

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from eligible_batches(batches, constraints)

    kinds = ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in rows.schema.fields)
    return rows.mapInArrow(look, kinds)


def _plan(
    accepted: DataFrame,
    cells: DataFrame,
    state: DataFrame | None,
    own_names: DataFrame | None,
    swapping: SwappingConfig,
    secret: Secret,
) -> DataFrame:
    """Join the names of the entities to the accepted swaps and decide what is exchanged."""
    from pyspark.sql import functions as F

    policy, matching, sticky = swapping.policy, swapping.matching, swapping.sticky

    def plan(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from plan_rows(batches, secret, policy, matching, sticky)

    rows = accepted
    for side in ("a", "b"):
        names = cells.select(
            F.col("chunk_id").alias(f"chunk_{side}"),
            F.map_entries("entities").alias(f"entities_{side}"),
            "document_id",
        )
        rows = rows.join(names, f"chunk_{side}")
        if own_names is None:
            rows = rows.withColumn(f"own_{side}", F.lit(None).cast(_NAMES))
        else:
            mine = _own_of(own_names).withColumnRenamed("own", f"own_{side}")
            rows = rows.join(mine, "document_id", "left")
        rows = rows.drop("document_id")
        if state is None:
            rows = rows.withColumn(f"gave_{side}", F.lit(None).cast(_NAMES))
            rows = rows.withColumn(f"took_{side}", F.lit(None).cast(_NAMES))
        else:
            past = state.select(
                *CANDIDATE,
                F.col("chunk_id").alias(f"chunk_{side}"),
                F.col("gave").alias(f"gave_{side}"),
                F.col("took").alias(f"took_{side}"),
            )
            rows = rows.join(past, [*CANDIDATE, f"chunk_{side}"], "left")
    return rows.mapInArrow(plan, SWAPS.ddl)


def _own_of(own_names: DataFrame) -> DataFrame:
    """Return one row a document that is named elsewhere: the entities that name it."""
    from pyspark.sql import functions as F

    one = F.struct("category", F.col("entity").alias("name"))
    return own_names.groupBy("document_id").agg(F.collect_set(one).alias("own"))


def _mentions_of(mentions: DataFrame) -> DataFrame:
    """Return one row a chunk: its mentions in order."""
    from pyspark.sql import functions as F

    one = F.struct("start", "end", "category", "surface", "entity")
    return mentions.groupBy("chunk_id").agg(F.sort_array(F.collect_list(one)).alias("mentions"))


def rewrite(
    swaps: DataFrame,
    chunks: DataFrame,
    mentions: DataFrame,
    releases: ReleasesConfig,
    swapping: SwappingConfig,
    entities: EntitiesConfig,
    last: DataFrame | None = None,
    shifts: DataFrame | None = None,
) -> DataFrame:
    """Write the chunks of every candidate swap.

    Parameters
    ----------
    swaps, chunks, mentions : pyspark.sql.DataFrame
        Tables SWAPS, CHUNKS and MENTIONS.
    releases : ReleasesConfig
        Must-change categories and their placeholders.
    swapping : SwappingConfig
        Whether articles are mended.
    entities : EntitiesConfig
        Categories and recoding, for the cells.
    last : pyspark.sql.DataFrame, optional
        From :func:`nes_spark.swapping.whole_stages.leftover_steps`: what is done to names that are
        left over, beside the swaps.
    shifts : pyspark.sql.DataFrame, optional
        From :func:`nes_spark.swapping.shift_stages.shifts_of`; needed for ``releases.shift``, whose
        dates are shifted in every text.

    Returns
    -------
    pyspark.sql.DataFrame
        Table REWRITES: two rows a swap. Text and edits of a chunk that is swapped in several rounds
        are cumulative: always from ``chunks.text``. In ``cell`` a must-change category has its
        placeholder as value where it had one at all.
    """
    from pyspark.sql import functions as F

    must_change = dict(releases.must_change)
    mend = swapping.mend_articles
    categories = list(entities.categories)
    recoding = {c: {k: list(v) for k, v in m.items()} for c, m in entities.recoding.items()}

    shift = _shift_of("rewrite", releases.shift, shifts)

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from rewrite_rows(batches, must_change, mend, categories, recoding, shift)

    sides = swaps.select(
        *CANDIDATE,
        "order",
        "exchanged",
        F.explode(
            F.array(
                F.struct(
                    F.lit("a").alias("side"),
                    F.col("chunk_a").alias("chunk_id"),
                    F.col("chunk_b").alias("partner_id"),
                ),
                F.struct(
                    F.lit("b").alias("side"),
                    F.col("chunk_b").alias("chunk_id"),
                    F.col("chunk_a").alias("partner_id"),
                ),
            )
        ).alias("s"),
    ).select(*CANDIDATE, "order", "exchanged", "s.*")
    nothing = F.lit(None).cast("string")
    if last is not None:
        also = last.withColumn("side", F.lit("a")).withColumn("last", F.lit(True))
        sides = sides.withColumn("last", F.lit(False)).withColumn("instead", nothing)
        sides = sides.unionByName(also)
    else:
        sides = sides.withColumn("last", F.lit(False)).withColumn("instead", nothing)
    involved = sides.select("chunk_id").distinct()
    known = _mentions_of(mentions.join(involved, "chunk_id", "left_semi"))
    partners = known.select(
        F.col("chunk_id").alias("partner_id"), F.col("mentions").alias("partner_mentions")
    )
    step = F.struct(
        "order", "last", "partner_id", "side", "exchanged", "instead", "partner_mentions"
    )
    chains = (
        sides.join(partners, "partner_id", "left")
        .groupBy(*CANDIDATE, "chunk_id")
        .agg(F.collect_list(step).alias("steps"))
    )
    texts, more = _with_shifts(chunks, shifts)
    return (
        chains.join(texts, "chunk_id")
        .join(known, "chunk_id", "left")
        .select(*CANDIDATE, "chunk_id", "text", "mentions", "steps", *more)
        .mapInArrow(write, REWRITES.ddl)
    )


def _shift_of(owner: str, shift: Sequence[str], shifts: DataFrame | None) -> tuple[str, ...]:
    if shift and shifts is None:
        raise parameter_error(owner, "shifts", f"given with releases.shift {list(shift)}", None)
    return tuple(shift)


def _with_shifts(chunks: DataFrame, shifts: DataFrame | None) -> tuple[DataFrame, list[str]]:
    """Return the texts, with the shift of their documents where there is one."""
    if shifts is None:
        return chunks.select("chunk_id", "text"), []
    more = ["shift_days", "shift_from", "day_first"]
    texts = chunks.select("chunk_id", "document_id", "text").join(shifts, "document_id")
    return texts.drop("document_id"), more


def replaced_everywhere(
    chunks: DataFrame,
    mentions: DataFrame,
    must_change: Mapping[str, str],
    shift: Sequence[str] = (),
    shifts: DataFrame | None = None,
) -> DataFrame:
    """Return the chunks that are altered whatever is swapped, as ``chunk_id, text``.

    Parameters
    ----------
    chunks, mentions, must_change, shift, shifts
        As for :func:`apply_must_change`.
    """
    written, _ = _replaced(chunks, mentions, must_change, True, shift, shifts, None)
    return written.select("chunk_id", "text")


def apply_must_change(
    chunks: DataFrame,
    mentions: DataFrame,
    must_change: Mapping[str, str],
    mend_articles: bool = True,
    shift: Sequence[str] = (),
    shifts: DataFrame | None = None,
    told: DataFrame | None = None,
) -> DataFrame:
    """Replace must-change categories by their placeholders, and shift dates, in every chunk.

    Parameters
    ----------
    chunks, mentions : pyspark.sql.DataFrame
        Tables CHUNKS and MENTIONS.
    must_change : mapping of str to str
        Category -> placeholder.
    mend_articles : bool
        Whether a or an before a placeholder follows its first sound.
    shift, shifts
        Categories whose dates are shifted, and by how much; see :func:`rewrite`.
    told : pyspark.sql.DataFrame, optional
        ``chunk_id, told``: names that were exchanged elsewhere in their documents
        (:func:`nes_spark.swapping.throughout_stages.written_throughout`).

    Returns
    -------
    pyspark.sql.DataFrame
        ``chunk_id, text, edits``: one row for every chunk; no edits where nothing had to change.
    """
    from pyspark.sql import functions as F

    written, concerned = _replaced(
        chunks, mentions, must_change, mend_articles, shift, shifts, told
    )
    untouched = (
        chunks.select("chunk_id", "text")
        .join(concerned, "chunk_id", "left_anti")
        .withColumn("edits", F.from_json(F.lit("[]"), EDITS))
    )
    return written.unionByName(untouched)


def _replaced(
    chunks: DataFrame,
    mentions: DataFrame,
    must_change: Mapping[str, str],
    mend_articles: bool,
    shift: Sequence[str],
    shifts: DataFrame | None,
    told: DataFrame | None,
) -> tuple[DataFrame, DataFrame]:
    """Return the chunks that :func:`apply_must_change` has to look at, changed, and their ids."""
    from pyspark.sql import functions as F

    categories = dict(must_change)
    shifted = _shift_of("apply_must_change", shift, shifts)

    def replace(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from must_change_rows(batches, categories, mend_articles, shifted)

    concerned = (
        mentions.where(F.col("category").isin([*categories, *shifted]))
        .select("chunk_id")
        .distinct()
    )
    texts, more = _with_shifts(chunks, shifts)
    if told is not None:
        concerned = concerned.union(told.select("chunk_id")).distinct()
        texts, more = texts.join(told, "chunk_id", "left"), [*more, "told"]
    written = (
        texts.join(_mentions_of(mentions.join(concerned, "chunk_id", "left_semi")), "chunk_id")
        .select("chunk_id", "text", "mentions", *more)
        .mapInArrow(replace, CHANGED_DDL)
    )
    return written, concerned


def chunk_status(
    cells: DataFrame,
    assignments: DataFrame,
    swaps: DataFrame | None,
    combination: Sequence[str],
    setting: str,
    releases: ReleasesConfig,
    concentrations: Mapping[str, Sequence[float]] | None = None,
    covariates: DataFrame | None = None,
    embeddings: DataFrame | None = None,
    own_names: DataFrame | None = None,
    facts: DataFrame | None = None,
) -> DataFrame:
    """Account for every chunk under one release.

    Parameters
    ----------
    cells, assignments : pyspark.sql.DataFrame
        Tables CELLS and ASSIGNMENTS.
    swaps : pyspark.sql.DataFrame or None
        The swaps of the release: its candidate, draw, and no more rows than it has swaps.
    combination : sequence of str
        J.
    setting : str
        Mixture setting.
    releases : ReleasesConfig
        Constraints.
    concentrations, covariates, embeddings, own_names, facts
        As for :func:`sample_candidates`; needed where a constraint needs them.

    Returns
    -------
    pyspark.sql.DataFrame
        Table STATUS, one row a chunk: ``swapped``; ``unpaired`` (it has valid partners, but was not
        drawn before the sequence ended, or they were all taken); ``no_valid_partner`` (every other
        chunk of its component shares its entities in a category of J, has the same cell outside J,
        would bring in its own document's name, or breaks a constraint); ``same_metadata_only``
        (all eligible chunks of its component are of the same metadata); ``alone_in_component`` (no
        other eligible chunk there); ``low_concentration``; ``no_entity`` (none in some category of
        J).
    """
    from pyspark.sql import functions as F

    mine = assignments.where(F.col("setting") == setting)
    options = SwappingConfig.model_validate({})
    constraints = constraints_of(releases.constraints)
    rows = eligible_rows(
        cells, mine, [tuple(combination)], constraints, options,
        concentrations, covariates, embeddings, own_names, facts, tuple(releases.must_change),
    ).withColumn("block", F.lit(0))  # fmt: skip
    parts = []
    if any(c.overrides("eligible") for c in constraints):
        parts.append(rows.where("barred <> ''").select("chunk_id", F.col("barred").alias("status")))
        rows = rows.where("barred = ''")
    task = _task(releases.model_copy(update={"draws": 1}), options, Secret(b"unused"), 1)

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from partner_batches(batches, task)

    parts.append(_grouped(rows, "chunk_id").mapInArrow(look, STATUS.ddl))
    known = parts[0]
    for part in parts[1:]:
        known = known.unionByName(part)
    status = cells.select("chunk_id").join(known, "chunk_id", "left")
    value = F.coalesce("status", F.lit("no_entity"))
    if swaps is not None:
        both = F.explode(F.array("chunk_a", "chunk_b"))
        swapped = swaps.select(both.alias("chunk_id")).distinct().withColumn("_in", F.lit(True))
        status = status.join(swapped, "chunk_id", "left")
        value = F.when(F.col("_in"), F.lit("swapped")).otherwise(value)
    return status.select("chunk_id", value.alias("status"))
