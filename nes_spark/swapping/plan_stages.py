"""Spark: plan ``whole``: components in parallel, the same plan as in memory.

Each pass reads the units of a component in one task, as 64-bit hashes (about 400 bytes a unit), and
draws all layers there; nothing that grows with the corpus comes to the driver. Names are joined to
the swaps and to what is left over, each row by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.config import ReleasesConfig, SwappingConfig
from nes_spark.entities.further_stages import terms_as_own_names
from nes_spark.entities.quantities import LIKENESS
from nes_spark.entities.terms import TERM
from nes_spark.errors import parameter_error
from nes_spark.schemas import FATES, PLAN, PLAN_LEFTOVERS
from nes_spark.spreading import balanced, placed, shuffle_partitions
from nes_spark.swapping.collected_stages import collected_plans
from nes_spark.swapping.constraints import constraints_of
from nes_spark.swapping.exchange import Policy
from nes_spark.swapping.layers import Drawing, layers_of, meetings, nearest_components
from nes_spark.swapping.likeness import choosing
from nes_spark.swapping.plan import (
    EXCHANGED,
    MUST_CHANGE,
    NOT_REACHED,
    NOT_SWAPPED,
    PART,
    check_document_constraints,
    constraints_of_likeness,
    policy_of,
)
from nes_spark.swapping.plan_batches import (
    DRAWN_DDL,
    PLAN_GROUP,
    WANTED_DDL,
    Meeting,
    direction_batches,
    donor_batches,
    exchange_batches,
    layer_batches,
    standing_batches,
    treat_batches,
)
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.stages import (
    constrained,
    giver,
    other_side,
    own_hashes,
    with_own_names,
    with_vectors,
)
from nes_spark.swapping.treatments import Means, check_order, is_choosy
from nes_spark.swapping.whole import PlanOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

_OWNER = "sample_plans"
_HASHES = "array<array<bigint>>"
_UNIT = ("setting", "draw", "chunk_id")


@dataclass(frozen=True)
class Plans:
    """Two tables of plans, and what to let go of when they are written.

    Attributes
    ----------
    plan : pyspark.sql.DataFrame
        Table PLAN: the swaps.
    leftovers : pyspark.sql.DataFrame
        Table PLAN_LEFTOVERS.
    kept : tuple of pyspark.sql.DataFrame
        Intermediate tables that are persisted.
    """

    plan: DataFrame
    leftovers: DataFrame
    kept: tuple[DataFrame, ...]

    def unpersist(self) -> None:
        """Free the intermediate tables."""
        for frame in self.kept:
            frame.unpersist()


def sample_plans(
    cells: DataFrame,
    assignments: DataFrame,
    options: PlanOptions,
    releases: ReleasesConfig,
    swapping: SwappingConfig,
    secret: bytes,
    concentrations: Mapping[str, Sequence[float]] | None = None,
    covariates: DataFrame | None = None,
    embeddings: DataFrame | None = None,
    own_names: DataFrame | None = None,
    terms_are_own: bool = False,
    facts: DataFrame | None = None,
    means: Mapping[str, Any] | None = None,
    summarise: Callable[[DataFrame], DataFrame] | None = None,
    read: dict[str, Any] | None = None,
) -> Plans:
    """Draw plan ``whole`` for every mixture setting and draw.

    Up to ``swapping.in_memory_rows`` chunks times settings times draws are drawn on the driver,
    where no Spark job takes longer than the work; with treatment ``summary`` never.

    Parameters
    ----------
    cells, assignments : pyspark.sql.DataFrame
        Tables CELLS and ASSIGNMENTS.
    options : PlanOptions
    releases : ReleasesConfig
        Draws and constraints.
    swapping : SwappingConfig
        Matching, uniques first, cosine weight, sticky.
    secret : bytes
        The secret seed.
    concentrations, covariates, embeddings, own_names, facts
        As for :func:`nes_spark.swapping.stages.sample_candidates`.
    terms_are_own : bool
        Whether no donor gives a document back what sets it apart, its terms and the words of its
        clues (:func:`nes_spark.entities.further_stages.terms_as_own_names`).
    means : mapping of str to ndarray, shape (K, d), optional
        Setting -> mean directions of its components; needed for ``options.neighbours``.
    summarise : callable, optional
        Takes ``chunk_id`` of chunks that treatment ``summary`` comes to, and returns
        ``chunk_id, summary`` of those that have one; needed for that treatment.
    read : dict, optional
        Where several plans are drawn of the same tables: what was collected for the one before.

    Returns
    -------
    Plans
        The same swaps and left-over names as ``sample_plan`` gives for each setting and draw.

    Raises
    ------
    ValueError
        As ``sample_plan``, and when an option lacks the table it needs.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    order = check_order(options.leftover, _OWNER)
    constraints = constraints_of(releases.constraints)
    documents, alike = options.unit == "document", options.unit == "likeness"
    if documents:
        check_document_constraints(_OWNER, constraints)
    if options.neighbours < 0 or (options.neighbours and options.unit != "chunk"):
        allowed = "at least 0, and 0 unless the unit is 'chunk'"
        raise parameter_error(_OWNER, "neighbours", allowed, options.neighbours)
    if alike:
        if len(options.swap) != 1:
            allowed = "one category with unit 'likeness'"
            raise parameter_error(_OWNER, "swap", allowed, list(options.swap))
        constraints = constraints_of_likeness(constraints)
        swapping = swapping.model_copy(update={"uniques_first": False, "cosine_weight": None})
    if "summary" in order and (summarise is None or documents):
        allowed = "given with treatment 'summary', which is for chunks"
        raise parameter_error(_OWNER, "summarise", allowed, options.unit)
    settings = None
    if options.neighbours:
        settings = sorted(r["setting"] for r in assignments.select("setting").distinct().collect())
        absent = [s for s in settings if s not in (means or {})]
        if means is None or absent:
            allowed = "the means of every setting, given with neighbours"
            raise parameter_error(_OWNER, "means", allowed, f"none of {absent[:5]}")
    if "summary" not in order:
        if read and "assignments" in read:
            placed_rows = len(read["assignments"])
        else:
            placed_rows = assignments.limit(swapping.in_memory_rows + 1).count()
        if placed_rows * releases.draws <= swapping.in_memory_rows:
            plan, left = collected_plans(
                cells, assignments, options, releases, swapping, secret,
                concentrations=concentrations, covariates=covariates, embeddings=embeddings,
                own_names=own_names, terms_are_own=terms_are_own, facts=facts, means=means,
                read=read,
            )  # fmt: skip
            return Plans(plan, left, ())
    drawing = Drawing(
        Secret(secret),
        options.swap,
        layers_of(options.swap, options.layers),
        options.unit,
        constraints,
        swapping.uniques_first,
        swapping.cosine_weight,
        swapping.sticky,
        options.donors,
    )
    if terms_are_own:
        terms = terms_as_own_names(cells)
        own_names = terms if own_names is None else own_names.unionByName(terms)
    units = units_of(cells, own_names, options)
    if options.unit != "chunk":
        places = assignments.select("setting").distinct()
        homes = units.select("chunk_id").crossJoin(F.broadcast(places))
        homes = homes.withColumn("component", F.lit(-1))
        if embeddings is not None and drawing.needs_vectors:
            embeddings = _directions(embeddings, cells)
    else:
        homes = assignments.select("setting", "chunk_id", "component")
    rows = hashed_units(units, drawing, options).join(homes, "chunk_id")
    rows = constrained(rows, constraints, concentrations, covariates, facts)
    rows = with_vectors(rows, constraints, swapping, embeddings).drop("document_id")
    if alike:
        rows = rows.withColumn(
            "stratum", F.xxhash64("stratum", F.substring_index("chunk_id", PART, -1))
        )
    draws = F.explode(F.sequence(F.lit(0), F.lit(releases.draws - 1)))
    rows = rows.withColumn("draw", draws).persist(StorageLevel.DISK_ONLY)
    kept = [rows]

    drawn = _pass(_opened(rows, None, drawing), drawing, Meeting(), rows)
    drawn = drawn.persist(StorageLevel.DISK_ONLY)
    kept.append(drawn)
    for k in range(1, options.neighbours + 1):
        assert means is not None and settings is not None
        near = {
            s: nearest_components(dict(enumerate(means[s])), options.neighbours) for s in settings
        }
        left = _together(_still_open(_opened(rows, drawn, drawing)), near, k)
        more = _pass(left, drawing, _pairs(near, k), left)
        more = more.persist(StorageLevel.DISK_ONLY)
        kept.append(more)
        drawn = drawn.unionByName(more)
    policy = policy_of(order)
    made = _exchanged(drawn, rows, units, drawing, swapping, policy)
    made = made.persist(StorageLevel.DISK_ONLY)
    kept.append(made)
    plan = _numbered(made).persist(StorageLevel.DISK_ONLY)
    kept.append(plan)
    means_ = Means(
        options.placeholders,
        options.recoding,
        matching=swapping.matching,
        choosy=is_choosy(order, options.fitting),
        strict=is_choosy(order, options.fitting, names=True),
    )
    summaries = None
    if "summary" in order:
        assert summarise is not None
        # what would stay if nothing came after the treatments before it
        before = (*order[: order.index("summary")], "keep")
        asked = _left_over(plan, rows, units, drawing, before, means_, kept)
        asked = asked.where("treatment = 'keep'")
        chunk = F.substring_index("chunk_id", PART, 1).alias("chunk_id")
        summaries = summarise(asked.select(chunk).distinct()).persist(StorageLevel.DISK_ONLY)
        kept.append(summaries)
    left = _left_over(plan, rows, units, drawing, order, means_, kept, summaries)
    if alike:
        for name in ("chunk_a", "chunk_b"):
            plan = plan.withColumn(name, F.substring_index(name, PART, 1))
        for name in ("chunk_id", "donor"):
            left = left.withColumn(name, F.substring_index(name, PART, 1))
    return Plans(plan.select(*PLAN.names), left.select(*PLAN_LEFTOVERS.names), tuple(kept))


def name_fates(
    plan: DataFrame,
    leftovers: DataFrame,
    cells: DataFrame,
    options: PlanOptions,
    must_change: Mapping[str, str] | None = None,
    share: float | None = None,
) -> DataFrame:
    """Account for every name of every chunk, as ``Plan.fates`` does in memory.

    Parameters
    ----------
    plan, leftovers : pyspark.sql.DataFrame
        Tables PLAN and PLAN_LEFTOVERS of one unit, as :func:`sample_plans` gives them.
    cells : pyspark.sql.DataFrame
        Table CELLS.
    options : PlanOptions
        Of the plan.
    must_change : mapping of str to str, optional
        Category -> placeholder that replaces it in every chunk.
    share : float, optional
        Only this share of the exchanges of each setting and draw (rounded up), and nothing else;
        None for all of them with what is left over treated.

    Returns
    -------
    pyspark.sql.DataFrame
        Table FATES, for the settings and draws that have swaps or left-over names. When a name of
        a chunk is treated by ``drop``, all names of that chunk are.

    Raises
    ------
    ValueError
        When the share is not from 0 to 1.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    if share is not None and not 0 <= share <= 1:
        raise parameter_error("name_fates", "share", "a number from 0 to 1", share)
    run = ["setting", "unit", "draw"]
    runs = plan.select(*run).unionByName(leftovers.select(*run)).distinct()
    swaps = plan
    if share is not None:
        totals = plan.groupBy(*run).agg(F.max("order").alias("_total"))
        last = F.ceil(F.round(F.col("_total") * share, 9))
        swaps = plan.join(F.broadcast(totals), run).where(F.col("order") <= last)
    moved = swaps.withColumn("e", F.explode("exchanged")).select(
        *run,
        giver().alias("_of"),
        F.col("e.category").alias("category"),
        F.col("e.old").alias("entity"),
        F.lit(EXCHANGED).alias("treatment"),
        F.col("e.new").alias("replacement"),
        "order",
        "layer",
        other_side().alias("partner"),
        F.lit("").alias("reason"),
    )
    if share is None:
        moved = moved.unionByName(
            leftovers.select(
                *run,
                F.col("chunk_id").alias("_of"),
                "category",
                "entity",
                "treatment",
                "replacement",
                F.lit(None).cast("int").alias("order"),
                F.lit(None).cast("int").alias("layer"),
                F.col("donor").alias("partner"),
                "reason",
            )
        )
    listed = cells.select(
        "chunk_id",
        F.col("document_id" if options.unit == "document" else "chunk_id").alias("_of"),
        F.explode("entities").alias("category", "_names"),
    ).select("chunk_id", "_of", "category", F.explode(F.array_distinct("_names")).alias("entity"))
    words = {c: word for c, word in (must_change or {}).items() if c not in options.swap}
    kept, reason, new = F.lit("keep"), F.lit(NOT_SWAPPED), F.lit(None).cast("string")
    for category, word in words.items():
        here = F.col("category") == category
        kept = F.when(here, "placeholder").otherwise(kept)
        reason = F.when(here, MUST_CHANGE).otherwise(reason)
        new = F.when(here, word).otherwise(new)
    reason = F.when(F.col("category").isin(list(options.swap)), NOT_REACHED).otherwise(reason)
    found = (
        listed.crossJoin(F.broadcast(runs))
        .join(moved, [*run, "_of", "category", "entity"], "left")
        .withColumn("reason", F.coalesce("reason", reason))
        .withColumn(
            "replacement", F.when(F.col("treatment").isNull(), new).otherwise(F.col("replacement"))
        )
        .withColumn("treatment", F.coalesce("treatment", kept))
    )
    if share is None and "drop" in options.leftover:
        chunk = Window.partitionBy(*run, "chunk_id")
        found = (
            found.withColumn("_gone", F.max(F.col("treatment") == "drop").over(chunk))
            .withColumn("treatment", F.when(F.col("_gone"), "drop").otherwise(F.col("treatment")))
            .withColumn("replacement", F.when(~F.col("_gone"), F.col("replacement")))
        )
    return found.select(*FATES.names)


def units_of(cells: DataFrame, own_names: DataFrame | None, options: PlanOptions) -> DataFrame:
    """Return what is exchanged as a whole, one row each.

    Parameters
    ----------
    cells : pyspark.sql.DataFrame
        Table CELLS.
    own_names : pyspark.sql.DataFrame or None
        Table OWN_NAMES.
    options : PlanOptions

    Returns
    -------
    pyspark.sql.DataFrame
        ``chunk_id`` (of a document, where that is the unit; with the likeness behind
        :data:`~nes_spark.swapping.plan.PART` for unit ``likeness``), ``document_id, metadata``,
        ``entities`` (of the categories of the plan) and ``own`` (names of the document, null for
        none).
    """
    from pyspark.sql import functions as F

    names = [*options.swap, *options.others]
    nothing = F.array().cast("array<string>")

    def of(category: str) -> Column:
        return F.coalesce(F.col("entities")[category], nothing)

    if options.unit == "document":
        united = [
            F.array_sort(F.array_distinct(F.flatten(F.collect_list(of(c))))).alias(f"c{i}")
            for i, c in enumerate(names)
        ]
        gathered = cells.groupBy("document_id").agg(F.min("metadata").alias("metadata"), *united)
        entities = [part for i, c in enumerate(names) for part in (F.lit(c), F.col(f"c{i}"))]
        found = gathered.select(
            F.col("document_id").alias("chunk_id"),
            "document_id",
            "metadata",
            F.create_map(*entities).alias("entities"),
        )
    elif options.unit == "likeness":
        (category,) = options.swap
        rest = [part for c in options.others for part in (F.lit(c), F.array_sort(of(c)))]
        found = (
            cells.withColumn("_name", F.explode(of(category)))
            .withColumn("_kind", F.regexp_extract("_name", LIKENESS, 1))
            .groupBy("chunk_id", "document_id", "metadata", "_kind")
            .agg(F.array_sort(F.collect_set("_name")).alias("_names"))
            .join(cells.select("chunk_id", "entities"), "chunk_id")
            .select(
                F.concat("chunk_id", F.lit(PART), "_kind").alias("chunk_id"),
                "document_id",
                "metadata",
                F.create_map(F.lit(category), F.col("_names"), *rest).alias("entities"),
            )
        )
        return with_own_names(found, None)
    else:
        entities = [part for c in names for part in (F.lit(c), F.array_sort(of(c)))]
        found = cells.select(
            "chunk_id", "document_id", "metadata", F.create_map(*entities).alias("entities")
        )
    return with_own_names(found, own_names)


def _directions(embeddings: DataFrame, cells: DataFrame) -> DataFrame:
    """Return the mean direction of the chunks of each document, as ``chunk_id, vector``."""
    from pyspark.sql import functions as F

    def average(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from direction_batches(batches)

    parts = embeddings.join(cells.select("chunk_id", "document_id"), "chunk_id")
    gathered = parts.groupBy(F.col("document_id").alias("_document")).agg(
        F.collect_list(F.struct("chunk_id", "vector")).alias("parts")
    )
    return gathered.select(F.col("_document").alias("chunk_id"), "parts").mapInArrow(
        average, "chunk_id string, vector array<float>"
    )


def hashed_units(units: DataFrame, drawing: Drawing, options: PlanOptions) -> DataFrame:
    """Cut units down to 64-bit hashes; those without a name in a swapped category are left out.

    Parameters
    ----------
    units : pyspark.sql.DataFrame
        As :func:`units_of` gives them.
    drawing : Drawing
    options : PlanOptions

    Returns
    -------
    pyspark.sql.DataFrame
        ``chunk_id, document_id, metadata``; ``available`` and ``own`` (by swapped category),
        ``outside`` (by layer) and ``uniques`` (by layer; null unless uniques come first).
    """
    from pyspark.sql import functions as F

    def hashes(category: str) -> Column:
        return F.transform(
            F.col("entities")[category], lambda name: F.xxhash64(F.lit(category), name)
        )

    def cell(categories: Sequence[str]) -> Column:
        # The number of names keeps cells apart whose names merely follow each other.
        parts = [
            p for c in categories for p in (F.size(F.col("entities")[c]), F.col("entities")[c])
        ]
        return F.xxhash64(*parts) if parts else F.lit(0).cast("bigint")

    every = [*options.swap, *options.others]
    outside = [cell([c for c in every if c not in j]) for j in drawing.layers]
    rows = units.select(
        "chunk_id",
        "document_id",
        F.xxhash64("metadata").alias("metadata"),
        F.array(*(hashes(c) for c in drawing.swap)).alias("available"),
        F.when(F.col("own").isNotNull(), F.array(*(own_hashes(c) for c in drawing.swap))).alias(
            "own"
        ),
        F.array(*outside).alias("outside"),
        F.array(*(cell(j) for j in drawing.layers)).alias("inside"),
    ).where(F.exists("available", lambda names: F.size(names) > 0))
    if not drawing.uniques_first:
        return rows.drop("inside").withColumn("uniques", F.lit(None).cast("array<boolean>"))
    listed = rows.select("chunk_id", F.posexplode("inside").alias("layer", "inside"))
    alone = listed.groupBy("layer", "inside").agg((F.count(F.lit(1)) == 1).alias("alone"))
    flags = (
        listed.join(alone, ["layer", "inside"])
        .groupBy("chunk_id")
        .agg(F.sort_array(F.collect_list(F.struct("layer", "alone"))).alias("_flags"))
        .select("chunk_id", F.col("_flags.alone").alias("uniques"))
    )
    return rows.drop("inside").join(flags, "chunk_id")


def _sides(drawn: DataFrame, drawing: Drawing) -> DataFrame:
    """Return one row a swap, unit and category: ``category`` by number, and the partner."""
    from pyspark.sql import functions as F

    number = {c: i for i, c in enumerate(drawing.swap)}
    lists = F.array(*(F.array(*(F.lit(number[c]) for c in j)) for j in drawing.layers))
    both = F.array(
        F.struct(F.col("chunk_a").alias("chunk_id"), F.col("chunk_b").alias("partner_id")),
        F.struct(F.col("chunk_b").alias("chunk_id"), F.col("chunk_a").alias("partner_id")),
    )
    return (
        drawn.withColumn("s", F.explode(both))
        .withColumn("category", F.explode(lists[F.col("layer")]))
        .select("setting", "draw", "s.*", "neighbour", "layer", "category")
    )


def _opened(rows: DataFrame, drawn: DataFrame | None, drawing: Drawing) -> DataFrame:
    """Add ``open`` (by category) and ``swaps_before``, after the swaps drawn so far."""
    from pyspark.sql import functions as F

    free = F.transform("available", lambda names: (F.size(names) > 0) & (F.col("barred") == ""))
    if drawn is None:
        return rows.withColumn("open", free).withColumn("swaps_before", F.lit(0))
    closed = (
        _sides(drawn, drawing)
        .groupBy(*_UNIT)
        .agg(
            F.collect_set("category").alias("_closed"),
            F.countDistinct("neighbour", "layer").cast("int").alias("swaps_before"),
        )
    )
    nothing = F.array().cast("array<int>")
    gone = F.coalesce("_closed", nothing)
    state = rows.join(closed, list(_UNIT), "left").withColumn("_open", free)
    return state.withColumn(
        "open", F.transform("_open", lambda is_open, i: is_open & ~F.array_contains(gone, i))
    ).select(*rows.columns, "open", F.coalesce("swaps_before", F.lit(0)).alias("swaps_before"))


def _still_open(rows: DataFrame) -> DataFrame:
    """Keep the units that have an open category."""
    from pyspark.sql import functions as F

    return rows.where(F.exists("open", lambda is_open: is_open))


def _together(
    rows: DataFrame, near: Mapping[str, Mapping[int, Sequence[int]]], neighbour: int
) -> DataFrame:
    """Put components together that may meet: ``component`` is one of them, ``place`` its own."""
    from pyspark.sql import functions as F

    listed = [
        (setting, component, leader)
        for setting, found in near.items()
        for component, leader in meetings(found, neighbour).items()
    ]
    together = rows.sparkSession.createDataFrame(
        listed, "setting string, component int, _leader int"
    )
    return (
        rows.join(F.broadcast(together), ["setting", "component"])
        .withColumn("place", F.col("component"))
        .withColumn("component", F.col("_leader"))
        .drop("_leader")
    )


def _pairs(near: Mapping[str, Mapping[int, Sequence[int]]], neighbour: int) -> Meeting:
    return Meeting(
        neighbour,
        {
            setting: frozenset(
                (c, others[neighbour - 1])
                for c, others in found.items()
                if len(others) >= neighbour
            )
            for setting, found in near.items()
        },
    )


_PASS = (
    "setting", "component", "stratum", "draw", "chunk_id", "metadata", "available", "own",
    "outside", "uniques", "vector", "numbers", "open", "swaps_before", "place",
)  # fmt: skip


def _grouped(rows: DataFrame, columns: Sequence[str], of: DataFrame) -> DataFrame:
    """Bring the rows of a group together and in order, for one task to read one after another.

    Parameters
    ----------
    rows : pyspark.sql.DataFrame
        At least `columns`.
    columns : sequence of str
        With those of a group.
    of : pyspark.sql.DataFrame
        By which groups are sized: `rows`, or what they were made of and is cheaper to count.

    Notes
    -----
    A group is one task's, so no division ends before the largest group does. Smaller ones are put
    together to as much: left to the hash of a group, two large ones meet by chance in one task.
    So there are as few tasks as end with the largest group.
    """
    from pyspark.sql import functions as F

    most = shuffle_partitions(rows)
    largest = (
        of.groupBy(*PLAN_GROUP)
        .agg(F.count(F.lit(1)).alias("n"))
        .orderBy(F.desc("n"))
        .limit(2 * most + 1)
        .collect()
    )
    sizes = {tuple(row[name] for name in PLAN_GROUP): row["n"] for row in largest}
    tasks, laid = most, {}
    if len(sizes) > 2 * most:  # these are not all: there are many small ones, which go by hash
        laid = balanced(sizes, tasks)
    elif sizes:
        longest = max(sizes.values())
        for tasks in range(min(most, -(-sum(sizes.values()) // longest)), most + 1):
            laid = balanced(sizes, tasks)
            if max(_loads(sizes, laid)) == longest:
                break
    rows_of_plan = [(*group, task) for group, task in laid.items()]
    kinds = ", ".join(f"{name} {kind}" for name, kind in rows.select(*PLAN_GROUP).dtypes)
    plan = rows.sparkSession.createDataFrame(rows_of_plan, f"{kinds}, _task int")
    chance = F.pmod(F.xxhash64(*PLAN_GROUP), F.lit(tasks))
    task = F.coalesce(F.col("_task"), chance)
    return (
        rows.select(*columns)
        .join(F.broadcast(plan), [*PLAN_GROUP], "left")
        .repartition(tasks, placed(rows.sparkSession, task, tasks, tasks))
        .select(*columns)
        .sortWithinPartitions(*PLAN_GROUP, "chunk_id")
    )


def _loads(sizes: Mapping[Any, int], laid: Mapping[Any, int]) -> list[int]:
    """Rows of each task that has any."""
    loads: dict[int, int] = defaultdict(int)
    for group, task in laid.items():
        loads[task] += sizes[group]
    return [*loads.values()]


def _pass(rows: DataFrame, drawing: Drawing, meeting: Meeting, of: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    if "place" not in rows.columns:
        rows = rows.withColumn("place", F.col("component"))

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from layer_batches(batches, drawing, meeting)

    return _grouped(rows, _PASS, of).mapInArrow(draw, DRAWN_DDL)


def _exchanged(
    drawn: DataFrame,
    rows: DataFrame,
    units: DataFrame,
    drawing: Drawing,
    swapping: SwappingConfig,
    policy: Policy,
) -> DataFrame:
    """Decide what each swap exchanges, if anything.

    Columns of PLAN, ``order`` not yet known, and ``_octave``.
    """
    from pyspark.sql import functions as F

    names = F.array(*(F.lit(j.name) for j in drawing.layers))
    homes = rows.select(*_UNIT, "component").withColumnRenamed("chunk_id", "chunk_a")
    found = (
        drawn.withColumn("order", F.lit(None).cast("int"))
        .withColumn("combination", names[F.col("layer")])
        .withColumn("unit", F.lit(drawing.unit))
        .join(homes, ["setting", "draw", "chunk_a"])
        .withColumn("component", F.when(F.col("component") >= 0, F.col("component")))
    )
    for side in ("a", "b"):
        theirs = _names_of(units, drawing).select(
            F.col("chunk_id").alias(f"chunk_{side}"),
            F.col("entities").alias(f"entities_{side}"),
            F.col("own").alias(f"own_{side}"),
        )
        found = found.join(theirs, f"chunk_{side}")
    matching = swapping.matching

    def exchange(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from exchange_batches(batches, drawing, matching, policy)

    # Persisted with the rest, so that nobody computes a logarithm twice and comes to two octaves.
    return found.mapInArrow(exchange, PLAN.ddl).select("*", _octave())


#: Stands for the octave of a clock of 0, which has no logarithm: before all others.
_NEVER = -(1 << 40)


def _octave() -> Column:
    """Quarter of an octave of the clock: the same order as the clock, some thirty of a layer."""
    from pyspark.sql import functions as F

    return F.coalesce(F.floor(4 * F.log2("time")), F.lit(_NEVER)).alias("_octave")


def _numbered(made: DataFrame) -> DataFrame:
    """Give each swap its place in the sequence."""
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    # Numbered within layers and octaves of the clock: few layers have most swaps, and
    # a task that numbers a whole one holds it all, and leaves it in one place to whoever reads on.
    part = ("setting", "draw", "neighbour", "layer", "priority", "_octave")
    within = Window.partitionBy(*part).orderBy("time", "chunk_a", "chunk_b")
    before = Window.partitionBy("setting", "draw").orderBy(*part[2:])
    sizes = (
        made.groupBy(*part)
        .agg(F.count(F.lit(1)).alias("_n"))
        .withColumn("_before", F.sum("_n").over(before) - F.col("_n"))
        .drop("_n")
    )
    return (
        made.join(F.broadcast(sizes), list(part))
        .withColumn("order", (F.row_number().over(within) + F.col("_before")).cast("int"))
        .select(*PLAN.names)
    )


def _names_of(units: DataFrame, drawing: Drawing) -> DataFrame:
    """Return ``chunk_id, entities, own``: names by swapped category."""
    from pyspark.sql import functions as F

    def mine(category: str) -> Column:
        listed = F.filter("own", lambda name: name["category"] == category)
        return F.transform(listed, lambda name: name["name"])

    own = [part for c in drawing.swap for part in (F.lit(c), mine(c))]
    return units.select(
        "chunk_id",
        F.map_filter("entities", lambda c, _: c.isin(list(drawing.swap))).alias("entities"),
        F.when(F.col("own").isNotNull(), F.create_map(*own)).alias("own"),
    )


_DONORS = (
    "setting", "component", "stratum", "draw", "chunk_id", "metadata", "available", "own",
    "partner", "left", "status",
)  # fmt: skip


def _left_over(
    plan: DataFrame,
    rows: DataFrame,
    units: DataFrame,
    drawing: Drawing,
    order: tuple[str, ...],
    means: Means,
    kept: list[DataFrame],
    summaries: DataFrame | None = None,
) -> DataFrame:
    """Draw donors for what no exchange replaces, and treat it; what is persisted is `kept`."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    key = [*_UNIT, "category"]
    gone = _gone(plan)
    with_donors = "donor" in order
    alike = choosing(drawing.swap, means.matching)

    standing = {}
    if with_donors and means.choosy and TERM in drawing.swap:
        standing[TERM] = _standing(units, TERM, drawing, means)

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from donor_batches(batches, drawing, with_donors, alike, standing)

    def finish(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from treat_batches(batches, drawing, order, means)

    found = _with_partners(rows, gone, drawing)
    wanted = _grouped(found, _DONORS, rows).mapInArrow(look, WANTED_DDL)
    wanted = wanted.persist(StorageLevel.DISK_ONLY)
    kept.append(wanted)
    # Names come in row by row: those of the unit, of its partner, and of its donors.
    names = _names_of(units, drawing)
    theirs = names.select(
        F.col("chunk_id").alias("partner_id"),
        F.col("entities").alias("_entities"),
        F.col("own").alias("_own"),
    )
    givers = names.select(F.col("chunk_id").alias("donor"), F.col("entities").alias("_gives"))
    donors = (
        wanted.select(*key, F.posexplode("donors").alias("position", "donor"))
        .join(givers, "donor")
        .groupBy(*key)
        .agg(
            F.collect_list(
                F.struct("position", "donor", F.col("_gives")[F.col("category")].alias("names"))
            ).alias("given")
        )
    )
    treated = (
        wanted.drop("donors")
        .join(names, "chunk_id")
        .join(gone, key, "left")
        .join(theirs, "partner_id", "left")
        .join(donors, key, "left")
        .select(
            *key,
            "status",
            "gone",
            F.col("entities")[F.col("category")].alias("names"),
            F.col("own")[F.col("category")].alias("own"),
            F.col("_entities")[F.col("category")].alias("partner_names"),
            F.col("_own")[F.col("category")].alias("partner_own"),
            F.col("given").alias("donors"),
        )
    )
    if summaries is None:
        treated = treated.withColumn("summary", F.lit(None).cast("string"))
    else:
        told = summaries.withColumnRenamed("chunk_id", "_chunk")
        of = F.substring_index("chunk_id", PART, 1) == F.col("_chunk")
        treated = treated.join(told, of, "left").drop("_chunk")
    return treated.mapInArrow(finish, PLAN_LEFTOVERS.ddl)


def _standing(units: DataFrame, category: str, drawing: Drawing, means: Means) -> NDArray[np.int64]:
    """Return the hashes of the names of a category in whose place a donor's could come."""
    from pyspark.sql import functions as F

    def keep(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from standing_batches(batches, drawing, means)

    names = units.select(F.explode(F.col("entities")[category]).alias("entity")).distinct()
    kept = names.select(F.lit(category).alias("category"), "entity").mapInArrow(
        keep, "category string, entity string"
    )
    hashes = kept.select(F.xxhash64("category", "entity").alias("hash")).collect()
    return np.array([row["hash"] for row in hashes], dtype=np.int64)


def _gone(plan: DataFrame) -> DataFrame:
    """Return what each unit gave away: ``setting, draw, chunk_id, category, partner_id, gone``."""
    from pyspark.sql import functions as F

    return (
        plan.select("setting", "draw", "chunk_a", "chunk_b", F.explode("exchanged").alias("e"))
        .select(
            "setting",
            "draw",
            giver().alias("chunk_id"),
            other_side().alias("partner_id"),
            "e.category",
            "e.old",
        )
        # a category of a unit is exchanged with one partner
        .groupBy(*_UNIT, "category")
        .agg(F.first("partner_id").alias("partner_id"), F.collect_set("old").alias("gone"))
    )


def _with_partners(rows: DataFrame, gone: DataFrame, drawing: Drawing) -> DataFrame:
    """Add what the partner of each category had (``partner``) and what is ``left``, as hashes.

    As many are left as did not go; which ones says the exchange.
    """
    from pyspark.sql import functions as F

    nothing = F.array().cast("array<bigint>")
    width = len(drawing.swap)
    # Spark 3.5 has no column as what F.array_position looks for
    swapped = F.array(*map(F.lit, drawing.swap))
    number = F.call_function("array_position", swapped, F.col("category")) - 1
    had = rows.select("setting", "draw", F.col("chunk_id").alias("partner_id"), "available")
    item = number.cast("int").alias("item")
    theirs = (
        gone.select(*_UNIT, item, "partner_id", F.size("gone").alias("n_gone"))
        .join(had, ["setting", "draw", "partner_id"])
        .select(*_UNIT, "item", "n_gone", F.col("available")[F.col("item")].alias("had"))
    )
    by_category = theirs.groupBy(*_UNIT).agg(
        F.map_from_entries(F.collect_list(F.struct("item", F.struct("had", "n_gone")))).alias(
            "_with"
        )
    )
    found = rows.join(by_category, list(_UNIT), "left")

    def partner(i: int) -> Column:
        return F.coalesce(F.col("_with")[i]["had"], nothing)

    def left(i: int) -> Column:
        mine = F.col("available")[i]
        stays = F.size(mine) - F.coalesce(F.col("_with")[i]["n_gone"], F.lit(0))
        return F.slice(mine, F.lit(1), stays)  # the count is what matters

    return found.select(
        *rows.columns,
        F.array(*(partner(i) for i in range(width))).cast(_HASHES).alias("partner"),
        F.array(*(left(i) for i in range(width))).cast(_HASHES).alias("left"),
        F.col("barred").alias("status"),
    )
