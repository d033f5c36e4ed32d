"""Lists of chunks not to publish as they are and of clues in them: those given, those proposed.

Proposed are chunks that a language model named, and chunks in which an identifier is left; clues
are what told a model whose a chunk is.
"""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from nes_spark.errors import InputError
from nes_spark.logs import LOGGER
from nes_spark.run.beside import read_beside
from nes_spark.run.context import Context, finished
from nes_spark.swapping.summaries import A_SUMMARY, BRIEF, NOTHING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Chunks that a language model named, below the run folder: which they are tells something of them.
NAMED = ("sealed", "named.csv")
#: What told a language model whose the chunks are that it named.
CLUES = ("sealed", "clues.csv")
#: Chunks in which a direct identifier of their own document is left, or an exchanged name.
LEAKING = ("sealed", "leaking.csv")
#: Columns of a list of clues, and a row of it.
_COLUMNS = ("chunk_id", "digest", "metadata", "clue")
_Row = tuple[str, str, str, str]
#: Letters of a word that a message may show.
_WORD = 20
#: Values of the metadata that a message tells of.
_NAMED = 3
#: Of shorter ones no letter is told.
_HINTED = 6
#: Likeness from which a value of the metadata may be meant by another (difflib).
_ALIKE = 0.75


def some_of(places: Iterable[object]) -> str:
    """Name the first of some, and how many more there are.

    Examples
    --------
    >>> some_of(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    named = [str(one) for one in places]
    more = len(named) - _NAMED
    return ", ".join(named[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def hint(secret: str) -> str:
    """Tell a secret to who has the list beside them, and to nobody who reads a log.

    Examples
    --------
    >>> hint("Bob Field"), hint("IBM")
    ('B...d (9 characters)', '... (3 characters)')
    """
    told = f"({len(secret)} characters)"
    return f"{secret[0]}...{secret[-1]} {told}" if len(secret) >= _HINTED else f"... {told}"


def not_here(names: Iterable[str], known: Collection[str]) -> str:
    """Tell of values that this run does not have, each with the one that may be meant.

    Examples
    --------
    >>> not_here(["Bob Fields", "Zed"], {"Bob Field", "Ann Roe"})
    'B...s (10 characters), almost B...d (9 characters) here, ... (3 characters)'
    """
    ordered = sorted(names)
    words = []
    for name in ordered[:_NAMED]:
        close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=_ALIKE)
        words.append(f"{hint(name)}, almost {hint(close[0])} here" if close else hint(name))
    return some_of([*words, *ordered[_NAMED:]])


def withheld_chunks(context: Context, warn: bool = False) -> DataFrame | None:
    """Return the chunks that ``output.withhold`` lists, None without one.

    Parameters
    ----------
    context : Context
    warn : bool, optional
        Whether to tell of chunks listed that are not in this run.

    Returns
    -------
    pyspark.sql.DataFrame or None
        Columns ``chunk_id``, of chunks of this run, each once, and ``instead``: ``nothing``, or,
        where ``output.instead`` asks for summaries, what the list says, else ``summary``.

    Raises
    ------
    InputError
        When the list cannot be read, names no chunk of this run, is one for other texts, has
        another word in column ``instead``, or leaves nothing to publish.
    """
    from pyspark.sql import functions as F

    output = context.config.output
    if output.withhold is None:
        return None
    listed = _withheld_as_given(context, output.withhold, warn)
    if output.instead == NOTHING:
        listed = listed.withColumn("instead", F.lit(NOTHING))
    listed = listed.replace("", A_SUMMARY, ["instead"])
    left_out = listed.where(F.col("instead") == NOTHING).count()
    if left_out == finished(context.store, "chunks").rows:
        raise InputError(
            f"output.withhold: {output.withhold} lists all chunks: nothing is left to publish"
        )
    return listed


def _withheld_as_given(context: Context, path: str, warn: bool = False) -> DataFrame:
    """Return ``chunk_id, instead`` of a list: of chunks of this run, each once."""
    from pyspark.sql import functions as F

    key = "output.withhold"
    given = read_beside(context.spark, key, path, ["chunk_id"]).where("chunk_id IS NOT NULL")
    if "instead" not in given.columns:
        given = given.withColumn("instead", F.lit(""))
    found = _placed(context, given, "instead").withColumn(
        "instead", F.coalesce(F.trim("instead"), F.lit(""))
    )
    total, here = _counted(key, path, found)
    if total and not here:
        raise InputError(f"{key}: {path} lists no chunk of this run")
    other = found.where(~F.col("instead").isin("", BRIEF, NOTHING)).first()
    if other is not None:
        told = other["instead"]
        # of columns that were shifted it may be a text
        shown = repr(told) if told.isalpha() and len(told) <= _WORD else "something else"
        raise InputError(
            f"{key}: {path} has {shown} in its column 'instead'; allowed: "
            f"{BRIEF!r}, {NOTHING!r}, or empty for what output.instead says"
        )
    if here < total and warn:
        LOGGER.warning("%s: %d of the chunks listed are not in this run", key, total - here)
    mine = found.where("_digest IS NOT NULL")
    # the order of the alphabet is that of what hides more
    return mine.groupBy("chunk_id").agg(F.max("instead").alias("instead"))


def listed_clues(context: Context, warn: bool = False) -> DataFrame | None:
    """Return the clues that ``entities.clues`` lists, None without a list.

    Parameters
    ----------
    context, warn
        As for :func:`withheld_chunks`.

    Returns
    -------
    pyspark.sql.DataFrame or None
        ``chunk_id, metadata, clue``, each once: of chunks of this run, and of others whose metadata
        this run has too, as those of an earlier quarter; those of a user's own have no
        ``chunk_id``.

    Raises
    ------
    InputError
        When the list cannot be read, names no chunk of this run and no metadata of it, or is one
        for other texts.
    """
    from pyspark.sql import functions as F

    key, path = "entities.clues", context.config.entities.clues
    if path is None:
        return None
    given = read_beside(context.spark, key, path, ["chunk_id", "clue"])
    metadata = ["metadata"] if "metadata" in given.columns else []
    found = _placed(context, given, "clue", *metadata)
    _counted(key, path, found)
    rows = (
        found.where("trim(clue) <> ''")
        .select(
            F.when(F.col("chunk_id") != "", F.col("chunk_id")).alias("chunk_id"),
            F.coalesce("_metadata", *metadata).alias("metadata"),
            "clue",
        )
        .distinct()
    )
    # A company says its slogans every quarter.
    secrets = context.table("chunks").select("metadata")
    listed = rows.join(secrets, "metadata", "left_semi")
    if warn:
        total, used = rows.count(), listed.count()
        if not total:
            raise InputError(f"{key}: {path} lists no clue")
        if used < total:
            others = rows.join(secrets, "metadata", "left_anti")
            # ids of chunks hold those of documents
            names = others.where("metadata IS NOT NULL").select("metadata").distinct().collect()
            known = {row["metadata"] for row in secrets.distinct().collect()}
            named = not_here([name for (name,) in names], known) or "chunks of no text here"
            if not used:
                raise InputError(
                    f"{key}: {path} lists no chunk and no metadata of this run, but {named}"
                )
            LOGGER.warning(
                "%s: %d of %d clues are not of this run: %s", key, total - used, total, named
            )
    return listed.select("chunk_id", "metadata", "clue")


def _placed(context: Context, given: DataFrame, *columns: str) -> DataFrame:
    """Return rows of a list with ``_told``, their digest, and what this run knows of the chunk."""
    from pyspark.sql import functions as F

    digest = F.col("digest") if "digest" in given.columns else F.lit(None)
    listed = given.select(
        *(F.col(name).cast("string") for name in ("chunk_id", *columns)),
        digest.cast("string").alias("_told"),
    )
    known = context.table("chunks").select(
        "chunk_id", F.col("metadata").alias("_metadata"), F.col("text").alias("_text")
    )
    found = listed.join(known, "chunk_id", "left")
    return found.withColumn("_digest", F.sha2("_text", 256)).drop("_text")


def _counted(key: str, path: str, found: DataFrame) -> tuple[int, int]:
    """Count the chunks of a list, and those of this run; refuse one with digests of other texts."""
    from pyspark.sql import functions as F

    def chunks(condition: str) -> F.Column:
        return F.countDistinct(F.when(F.expr(condition), F.col("chunk_id")))

    ((total, here, others),) = found.agg(
        chunks("true"),
        chunks("_digest IS NOT NULL"),
        chunks("_told IS NOT NULL AND _digest <> lower(_told)"),
    ).collect()
    if others:
        raise InputError(
            f"{key}: {path} is a list for other texts: {others:,} of its digests "
            "are not those of this run's chunks; ask the models again (nes-spark audit)"
        )
    return total, here


def list_named(context: Context) -> tuple[int, int]:
    """List the released chunks whose source a language model named, with those withheld before.

    Returns
    -------
    int, int
        Chunks named of those asked about. Without one, no list is written.
    """
    told = context.table("language_predictions").where("side = 'post' AND draw = 0")
    asked = told.select("chunk_id").distinct().count()
    named = told.where("correct").select("chunk_id").distinct()
    count = named.count()
    if not count:
        return 0, asked
    _write(context, named, NAMED)
    return count, asked


def list_leaking(context: Context, assembled: DataFrame) -> int:
    """List the chunks in which something was found that no gate accepts, with those withheld.

    Column ``found`` quotes what names their own documents, or is left of a name that was
    exchanged, which no message may.

    Parameters
    ----------
    context : Context
        With tables ``leaks`` and ``given_away`` of this try.
    assembled : pyspark.sql.DataFrame
        ``chunk_id, document_id, text`` as they were to be released.

    Returns
    -------
    int
        Chunks found; those withheld before are none of them. Without one, no list is written.
    """
    from pyspark.sql import functions as F

    from nes_spark.text.leak_stages import quote_leaks

    accepted = context.config.gates.accept_identifiers
    is_open = ~(F.col("kind").isin(accepted) | F.col("rule").isin(accepted))
    leaking = context.table("leaks").where(is_open).select("chunk_id")
    given_away = context.table("given_away")
    listed = leaking.union(given_away.select("chunk_id")).distinct()
    count = listed.count()
    if count:
        texts = assembled.join(leaking, "chunk_id", "left_semi")
        quoted = (
            quote_leaks(texts, context.table("documents"), context.config.identifiers)
            .union(given_away.select("chunk_id", "word"))
            .groupBy("chunk_id")
            .agg(F.array_join(F.sort_array(F.collect_set(F.nullif("found", F.lit("")))), "; "))
            .toDF("chunk_id", "found")
        )
        _write(context, listed, LEAKING, quoted)
    return count


def list_clues(context: Context, told: DataFrame) -> tuple[int, int]:
    """List clues, those that the run was given and those listed before, for ``entities.clues``.

    Parameters
    ----------
    context : Context
    told : pyspark.sql.DataFrame
        ``chunk_id, clue``.

    Returns
    -------
    int, int
        Clues of chunks of this run that it was not given, and the chunks that they are of. Without
        one in `told` no list is written.

    Notes
    -----
    Rows of other runs stay as they are, whatever this one makes of them: the next may be theirs. A
    row listed before goes where its chunk has another text now; it would have the list refused.
    """
    told_now = [(row["chunk_id"], "", "", row["clue"]) for row in told.collect()]
    if not told_now:
        return 0, 0
    listed_clues(context)  # refuses a list for other texts
    given = _rows_of(context, context.config.entities.clues)
    before = _rows_of(context, context.store.path(*CLUES) if context.store.exists(*CLUES) else None)
    rows = [*told_now, *given, *before]
    of = _texts_of(context, {chunk for chunk, *_ in rows})
    listed = {
        (chunk, *of.get(chunk, (digest, metadata)), clue)
        for chunk, digest, metadata, clue in rows
        if chunk not in of or digest.lower() in ("", of[chunk][0])
    }
    _write_csv(context, _COLUMNS, sorted(listed), CLUES)
    new = {pair for pair in _pairs(listed) if pair[0] in of} - _pairs(given)
    return len(new), len({chunk for chunk, _ in new})


def _pairs(rows: Iterable[_Row]) -> set[tuple[str, str]]:
    return {(chunk, clue) for chunk, _, _, clue in rows}


def _rows_of(context: Context, path: str | None) -> list[_Row]:
    """Return the rows of a list of clues, with nothing for what it does not tell."""
    from pyspark.sql import functions as F

    if path is None:
        return []
    given = read_beside(context.spark, "entities.clues", path, ["chunk_id", "clue"])
    columns = [
        F.coalesce(F.col(name).cast("string"), F.lit("")) if name in given.columns else F.lit("")
        for name in _COLUMNS
    ]
    return [tuple(row) for row in given.select(*columns).collect() if row[-1].strip()]


def _texts_of(context: Context, chunks: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return digest and metadata of those of some chunks that this run has."""
    from pyspark.sql import functions as F

    wanted = context.spark.createDataFrame([(c,) for c in chunks], "chunk_id string")
    facts = (
        context.table("chunks")
        .join(wanted, "chunk_id")
        .select("chunk_id", F.sha2("text", 256), "metadata")
        .collect()
    )
    return {chunk: (digest, metadata) for chunk, digest, metadata in facts}


def _write(
    context: Context,
    listed: DataFrame,
    place: tuple[str, ...],
    quoted: DataFrame | None = None,
) -> None:
    """Write chunks, and those that are listed already, as ``output.withhold`` takes them.

    Of one that is found although a summary is published, a brief one is to be, then nothing. With
    `quoted` (``chunk_id, found``) a column more, which is for a person.
    """
    from pyspark.sql import functions as F

    listed = listed.select("chunk_id", F.lit("").alias("instead"))
    if (path := context.config.output.withhold) is not None:
        more = F.when(F.col("instead") == A_SUMMARY, BRIEF).otherwise(NOTHING)
        told = context.table("withheld").where("summary IS NOT NULL")
        again = listed.select("chunk_id").join(told, "chunk_id").select("chunk_id", more)
        listed = listed.union(again).union(_withheld_as_given(context, path))
    rows = (
        context.table("chunks")
        .join(listed.groupBy("chunk_id").agg(F.max("instead").alias("instead")), "chunk_id")
        .select("chunk_id", F.sha2("text", 256).alias("digest"), "instead")
    )
    if quoted is not None:
        rows = rows.join(quoted, "chunk_id", "left").fillna("", ["found"])
    _write_csv(context, rows.columns, sorted(tuple(row) for row in rows.collect()), place)


def _write_csv(
    context: Context,
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    place: tuple[str, ...],
) -> None:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    context.store.write_bytes(written.getvalue().encode(), *place, mode=0o600)
