"""Measured risk of the chosen release, and of the candidates that it is chosen among.

Every attacker that needs no network is asked about documents and about all chunks with names
(:mod:`nes_spark.audit.measured`), before and after. Nothing here changes what is released.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import TYPE_CHECKING, Any

from nes_spark.errors import InputError
from nes_spark.logs import LOGGER
from nes_spark.releases.choice import Choice
from nes_spark.run.beside import read_beside
from nes_spark.run.context import Context, finished
from nes_spark.run.listed import not_here

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from nes_spark.audit.measured import Measurement
    from nes_spark.audit.text_stages import KnownWords
    from nes_spark.config import Config
    from nes_spark.store import Store

    #: The attackers, and the entities of every chunk.
    _Ready = tuple[Measurement, dict[str, dict[str, Any]]]

#: Of more documents or chunks with names a sample is asked about for every candidate; the chosen
#: release is measured completely.
CANDIDATE_DOCUMENTS = 500
CANDIDATE_CHUNKS = 1000
#: Of a corpus of so many chunks at most, all are asked about for every candidate as well: the same
#: attackers serve both, and looking at the texts a second time costs more than such a sample saves.
FEW_CHUNKS = 2000
#: So many documents are asked about where the corpus does not fit the driver.
SAMPLED_DOCUMENTS = 1000
#: Of at most so many words the attackers are made ready ahead.
READY_WORDS = 1_000_000
#: Candidates are compared in this draw.
DRAW = 0

_KEYS = ["setting", "combination", "draw", "order"]


def is_measured(context: Context) -> bool:
    """Whether documents are measured at all."""
    return context.config.audit.linkage and context.config.audit.documents


def fits_in_memory(context: Context) -> bool:
    """Whether the driver can hold the texts; above that a sample is attacked on Spark."""
    audit = context.config.audit
    documents = finished(context.store, "documents").rows
    if documents > audit.max_documents:
        return False
    if audit.background is not None or audit.public_words is not None:
        return True
    return context.words() <= audit.max_words


def read_background(context: Context) -> dict[str, str] | None:
    """Read ``audit.background``: metadata to text, texts of one value joined in their order.

    Raises
    ------
    InputError
        When the table cannot be read, lacks a column, or holds no text.
    """
    found = _read_known(context, "background", "text")
    if found is None:
        return None
    return {metadata: "\n\n".join(parts) for metadata, parts in found.items()}


def read_public_words(context: Context, warn: bool = False) -> dict[str, list[str]] | None:
    """Read ``audit.public_words``: metadata to words and phrases.

    Parameters
    ----------
    context : Context
    warn : bool, optional
        Whether to tell of metadata listed that are not in this run.

    Raises
    ------
    InputError
        When the table cannot be read, lacks a column, holds no words, or names none of the corpus.
    """
    from nes_spark.audit.public_words import word_key

    found = _read_known(context, "public_words", "words")
    if found is None:
        return None
    known = set(dict(context.store.rows("chunks", ["chunk_id", "metadata"])).values())
    words = {
        metadata: [word.strip() for part in parts for word in part.split(";") if word_key(word)]
        for metadata, parts in found.items()
        if metadata in known
    }
    named = not_here(found.keys() - known, known)
    if not words:
        raise InputError(
            f"audit.public_words: {context.config.audit.public_words} names none of the corpus's "
            f"values of input.columns.metadata, but {named}; they must be spelled as there"
        )
    if named and warn:
        LOGGER.warning(
            "audit.public_words: %d of %d values of the metadata are not of this run: %s",
            len(found) - len(words),
            len(found),
            named,
        )
    if not all(words.values()):
        raise InputError(
            f"audit.public_words: {context.config.audit.public_words} has a row without a word; "
            "divide words by semicolons"
        )
    return words


def check_known(context: Context, warn: bool = False) -> None:
    """Look at what attackers are to know of each value of the metadata, before the long work.

    Parameters
    ----------
    context, warn
        As for :func:`read_public_words`.

    Raises
    ------
    InputError
        As :func:`read_public_words`; where there are too many documents for it.
    """
    audit = context.config.audit
    given = [name for name in ("background", "public_words") if getattr(audit, name) is not None]
    if not given or not is_measured(context):
        return
    if not fits_in_memory(context):
        raise InputError(
            f"audit.{given[0]}: what is known of candidates is read by the driver, for at most "
            "audit.max_documents documents; raise that or leave it out"
        )
    read_public_words(context, warn)


def _read_known(context: Context, key: str, column: str) -> dict[str, list[str]] | None:
    """Read a table of what an attacker knows of each value of the metadata, in a fixed order."""
    path = getattr(context.config.audit, key)
    if path is None:
        return None
    frame = read_beside(context.spark, f"audit.{key}", path, ["metadata", column])
    rows = frame.select("metadata", column).dropna().toPandas().astype(str)
    found: dict[str, list[str]] = {}
    for metadata, value in sorted(zip(rows["metadata"], rows[column], strict=True)):
        found.setdefault(metadata, []).append(value)
    if not found:
        raise InputError(f"audit.{key}: {path} holds no {column}")
    return found


def _exchanged(config: Config) -> list[str]:
    """Return the categories whose names a release may change."""
    releases = config.releases
    return [*releases.swap, *releases.further, *releases.must_change, *releases.shift]


def _entities(value: Any) -> dict[str, list[str]]:
    """Return a map as a column holds it, be it a dict or a list of pairs."""
    return {name: list(found) for name, found in dict(value).items() if found is not None}


def make_ready(context: Context) -> None:
    """Begin to make the attackers ready in a thread: they look at the originals alone.

    For a run whose swaps are about to be drawn, which keeps one core busy. What goes wrong is said
    where the attackers are asked. Nothing begins where what is known of candidates is read by
    Spark, or where the texts are many: those for the candidates and those for the release are in
    memory together.
    """
    audit = context.config.audit
    if not is_measured(context) or audit.background is not None or audit.public_words is not None:
        return
    if not fits_in_memory(context) or context.words() > READY_WORDS:
        return
    wanted = [_limits(context, candidates=False)]
    if context.config.releases.plan == "whole" and audit.candidates:
        wanted.insert(0, _limits(context, candidates=True))
    wanted = wanted[:1] if wanted[0] == wanted[-1] else wanted
    key = _halving_key(context)
    promised: list[Future[_Ready]] = [Future() for _ in wanted]
    for limits, future in zip(wanted, promised, strict=True):
        context.ready[_asked(context, limits)] = future

    def work() -> None:
        for limits, future in zip(wanted, promised, strict=True):
            try:
                future.set_result(_make(context.store, context.config, key, limits))
            except Exception as error:
                future.set_exception(error)

    Thread(target=work, name="attackers", daemon=True).start()


def _halving_key(context: Context) -> bytes:
    """Return the key that says which half of a document the attackers hold."""
    from nes_spark.swapping import derive_seed

    return derive_seed(context.secret, "half known").to_bytes(16, "big")


def _limits(context: Context, candidates: bool) -> dict[str, int]:
    """Of how many documents and chunks a sample is asked about."""
    most = context.config.audit.max_chunks
    documents, chunks = (finished(context.store, name).rows for name in ("documents", "chunks"))
    if not candidates or (documents <= CANDIDATE_DOCUMENTS and chunks <= min(FEW_CHUNKS, most)):
        return {"max_chunks": most}
    return {
        "max_documents": CANDIDATE_DOCUMENTS,
        "max_chunks": min(CANDIDATE_CHUNKS, most),
    }


def _asked(context: Context, limits: Mapping[str, int]) -> tuple[Any, ...]:
    """Return what tells attackers of other texts, or asked about others, apart."""
    contents = [finished(context.store, name).content for name in ("chunks", "cells")]
    return (*contents, *sorted(limits.items()))


def _make(
    store: Store,
    config: Config,
    key: bytes,
    limits: Mapping[str, int],
    background: Mapping[str, str] | None = None,
    public_words: Mapping[str, Sequence[str]] | None = None,
) -> _Ready:
    from nes_spark.audit.measured import Measurement

    audit = config.audit
    chunks = store.read_pandas("chunks", ["chunk_id", "document_id", "metadata", "text"])
    entities = {
        chunk: _entities(found) for chunk, found in store.rows("cells", ["chunk_id", "entities"])
    }
    if background is not None and not set(background) & set(chunks["metadata"]):
        raise InputError(
            f"audit.background: {audit.background} names none of the corpus's values of "
            "input.columns.metadata; they must be spelled as there"
        )
    measurement = Measurement(
        chunks,
        key,
        entities=entities,
        exchanged=_exchanged(config),
        background=background,
        public_words=public_words,
        smoothing=audit.smoothing,
        pair_weight=audit.pair_weight,
        most=audit.max_candidates_per_entity,
        **limits,
    )
    return measurement, entities


def measurement_of(
    context: Context,
    candidates: bool = False,
    public_words: Mapping[str, Sequence[str]] | None = None,
) -> _Ready:
    """Return the attackers, ready, and the entities of every chunk.

    Those for the candidates are kept where they are those for the release as well.
    """
    limits = _limits(context, candidates)
    asked = _asked(context, limits)
    again = candidates and limits == _limits(context, candidates=False)
    begun = context.ready.get(asked) if again else context.ready.pop(asked, None)
    if begun is not None:
        return begun.result()
    key = _halving_key(context)
    background = read_background(context)
    made = _make(context.store, context.config, key, limits, background, public_words)
    if again and context.config.audit.public_words is None:
        context.ready[asked] = Future()
        context.ready[asked].set_result(made)
    return made


def _seen(
    rows: pd.DataFrame, entities: Mapping[str, Mapping[str, Any]], hidden: tuple[str, ...]
) -> tuple[dict[str, str], dict[str, dict[str, list[str]]]]:
    """Return text and entities of changed chunks: ``chunk_id, text, edits``."""
    from nes_spark.audit.linkage import swap_entities

    texts = dict(zip(rows["chunk_id"], rows["text"], strict=True))
    after = {}
    for chunk, edits in zip(rows["chunk_id"], rows["edits"], strict=True):
        found = swap_entities(entities[chunk], list(edits))
        after[chunk] = {name: values for name, values in found.items() if name not in hidden}
    return texts, after


def _pairs(
    context: Context, setting: str, combination: str, draw: int
) -> list[tuple[int, tuple[str, str]]]:
    """Return the documents that each swap of a sequence connects, with its order."""
    store = context.store
    document = dict(store.rows("chunks", ["chunk_id", "document_id"]))
    columns = [*_KEYS, "chunk_a", "chunk_b"]
    found = []
    for *where, order, a, b in store.rows("swaps", columns):
        if tuple(where) == (setting, combination, draw):
            one, other = sorted((document[a], document[b]))
            found.append((order, (one, other)))
    return found


def measure_release(
    context: Context,
    choice: Choice,
    assembled: DataFrame,
    key: str,
    words: KnownWords | None = None,
) -> pd.DataFrame | None:
    """Measure how many documents, and chunks with names, can be named before and after.

    Parameters
    ----------
    context : Context
        Of a run whose stages are finished.
    choice : Choice
        The release.
    assembled : pyspark.sql.DataFrame
        Every chunk as it is released.
    key : str
        Digest for the table ``measured`` that this writes.
    words : KnownWords, optional
        The words of the corpus where other attacks count them too.

    Returns
    -------
    pandas.DataFrame or None
        Table ``measured``; None where the audit is off. Of more than ``audit.max_documents``
        documents or ``audit.max_words`` words a sample is asked about, by fewer attackers
        (:mod:`nes_spark.audit.measured_stages`). Which chunks are of one document is asked where
        chunks are published by themselves and no sample was taken.

    Raises
    ------
    InputError
        When ``audit.background`` or ``audit.public_words`` cannot be used.
    """
    import pandas as pd
    from pyspark.sql import functions as F

    from nes_spark.audit.measured import AFTER, BEFORE, measure_together

    if not is_measured(context):
        return None
    if not fits_in_memory(context):
        found = _measure_sample(context, choice, assembled, key, words)
        context.store.write_table("measured", found, key)
        return found
    measurement, entities = measurement_of(context, public_words=read_public_words(context))
    changed = assembled.where(F.size("edits") > 0).select("chunk_id", "text", "edits").toPandas()
    hidden = tuple(context.config.releases.must_change)
    after = measurement.guesses(*_seen(changed, entities, hidden))
    swaps = _pairs(context, choice.setting, choice.combination.name, choice.draw)
    pairs = sorted({pair for order, pair in swaps if order <= choice.n_swaps})
    parts = [
        measurement.table(measurement.before, BEFORE, pairs),
        measurement.table(after, AFTER, pairs),
    ]
    audit = context.config.audit
    if context.config.output.publish == "chunks" and context.words() <= audit.max_words:
        chunks = context.store.read_pandas("chunks", ["chunk_id", "document_id", "text"])
        chunks = chunks.rename(columns={"text": "text_before"})
        told = dict(zip(changed["chunk_id"], changed["text"], strict=True))
        chunks["text_after"] = chunks["chunk_id"].map(told).fillna(chunks["text_before"])
        parts.append(measure_together(chunks, pairs, _halving_key(context), audit.max_chunks))
    found = pd.concat(parts, ignore_index=True)
    context.store.write_table("measured", found, key)
    _write_review(context, after, key, set(changed["chunk_id"][changed["text"] == ""]))
    return found


def _write_review(
    context: Context, guesses: Mapping[str, pd.DataFrame], key: str, dropped: set[str]
) -> None:
    """Note which chunks of the release a person should read first; dropped ones are not there."""
    import pandas as pd

    from nes_spark.audit.measured import CHUNKS_KNOWN, CHUNKS_LEFT_OUT
    from nes_spark.audit.review import to_review

    none = pd.DataFrame({"id": [], "rank": [], "attacker": []})
    left_out, known = (guesses.get(unit, none) for unit in (CHUNKS_LEFT_OUT, CHUNKS_KNOWN))
    found = to_review(left_out[~left_out["id"].isin(dropped)], known)
    rows = [
        (place, row[0], *map(list, row[1:]))
        for place, row in enumerate(found.itertuples(index=False), start=1)
    ]
    context.store.write_table("review", rows, key)


def _measure_sample(
    context: Context, choice: Choice, assembled: DataFrame, key: str, words: KnownWords | None
) -> pd.DataFrame:
    """Measure a corpus that does not fit the driver, on samples."""
    from contextlib import ExitStack

    import pandas as pd
    from pyspark.sql import functions as F

    from nes_spark.audit.measured import AFTER, COLUMNS, DOCUMENTS, share_rows
    from nes_spark.audit.measured_stages import connected, measure_sample

    check_known(context)
    releases, exchanged = context.config.releases, frozenset(_exchanged(context.config))
    with ExitStack() as until:
        guesses = measure_sample(
            context.table("chunks"),
            context.table("mentions"),
            context.table("cells"),
            assembled,
            context.config.audit,
            _halving_key(context),
            exchanged=exchanged,
            others=not exchanged.issuperset(context.config.entities.categories),
            hidden=tuple(releases.must_change),
            max_documents=SAMPLED_DOCUMENTS,
            until=until,
            words=words,
        ).toPandas()
        later = guesses[guesses["side"] == AFTER]
        told = context.spark.createDataFrame(
            [(i,) for i in sorted(set(later["id"]))], "chunk_id string"
        )
        unpublished = assembled.where("text = ''").join(F.broadcast(told), "chunk_id", "left_semi")
        gone = unpublished.select("chunk_id").toPandas()
        units = {str(unit): part for unit, part in later.groupby("unit")}
        _write_review(context, units, key, set(gone["chunk_id"]))
        swaps = context.table("swaps").where(
            (F.col("setting") == choice.setting)
            & (F.col("combination") == choice.combination.name)
            & (F.col("draw") == choice.draw)
            & (F.col("order") <= choice.n_swaps)
        )
        asked = sorted(set(guesses["document_id"]))
        documents = context.spark.createDataFrame([(d,) for d in asked], "document_id string")
        pairs = sorted(connected(swaps, context.table("chunks"), documents))
    rows = []
    for (unit, side), part in guesses.groupby(["unit", "side"], sort=True):
        document = dict(zip(part["id"], part["document_id"], strict=True))
        rows += share_rows(
            part.sort_values(["attacker", "id"]),
            str(unit),
            str(side),
            pairs if side == AFTER else (),
            None if unit == DOCUMENTS else document,
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def measure_candidates(context: Context) -> Iterator[pd.DataFrame]:
    """Measure r = 0 and the prefixes of every sequence of plan ``whole`` in one draw.

    Of more than :data:`CANDIDATE_DOCUMENTS` documents or :data:`FEW_CHUNKS` chunks, so many
    documents and :data:`CANDIDATE_CHUNKS` chunks with names are asked about, the same ones for
    every candidate; candidates are compared completely. A chunk
    that a prefix does not change is guessed about as in the one before. The last prefix holds what
    was done to names that were left over.

    Parameters
    ----------
    context : Context
        With ``chunks``, ``mentions``, ``cells``, ``swaps`` and ``rewrites`` finished.

    Yields
    ------
    pandas.DataFrame
        Rows of table ``measured_risk``. None where documents are not measured, or for another plan.

    Raises
    ------
    InputError
        When ``audit.background`` cannot be used.
    """
    from pyspark.sql import functions as F

    from nes_spark.audit.measured import AFTER
    from nes_spark.releases.scoring import tenths
    from nes_spark.swapping.stages import apply_must_change

    config = context.config
    if config.releases.plan != "whole" or not config.audit.candidates:
        return
    if not is_measured(context) or not fits_in_memory(context):
        return
    measurement, entities = measurement_of(context, candidates=True)
    hidden = tuple(config.releases.must_change)
    # Every candidate shows what is replaced everywhere as placeholders.
    texts: dict[str, str] = {}
    seen: dict[str, dict[str, list[str]]] = {}
    if hidden or config.releases.shift:
        replaced = apply_must_change(
            context.table("chunks"),
            context.table("mentions"),
            config.releases.must_change,
            shift=config.releases.shift,
            shifts=context.shifts(),
        )
        rows = replaced.where(F.size("edits") > 0).select("chunk_id", "text", "edits").toPandas()
        texts, seen = _seen(rows, entities, hidden)
    untouched = measurement.guesses(texts, seen) if texts else measurement.before

    columns = ["setting", "combination", "n_swaps"]

    def told(where: tuple[str, str, int], tables: Any, pairs: Any) -> pd.DataFrame:
        found = measurement.table(tables, AFTER, pairs).drop(columns="side")
        found[columns] = where
        return found

    sequences = (
        context.table("rewrites")
        .where(F.col("draw") == DRAW)
        .select("setting", "combination")
        .distinct()
        .collect()
    )
    for setting in sorted(context.models()):
        yield told((setting, "", 0), untouched, ())
        for combination in sorted(row[1] for row in sequences if row[0] == setting):
            mine = (
                context.table("rewrites")
                .where((F.col("setting") == setting) & (F.col("combination") == combination))
                .where(F.col("draw") == DRAW)
                .select("order", "chunk_id", "text", "edits")
                .toPandas()
                .sort_values(["order", "chunk_id"], kind="stable")
            )
            swaps = _pairs(context, setting, combination, DRAW)
            now_texts, now_seen, tables, start = dict(texts), dict(seen), untouched, 0
            for cut in tenths(max(order for order, _ in swaps)):
                step = mine[(mine["order"] > start) & (mine["order"] <= cut)]
                step = step.drop_duplicates("chunk_id", keep="last")
                new_texts, new_seen = _seen(step, entities, hidden)
                now_texts.update(new_texts)
                now_seen.update(new_seen)
                tables = measurement.guesses(now_texts, now_seen, (tables, set(new_texts)))
                pairs = sorted({pair for order, pair in swaps if order <= cut})
                yield told((setting, combination, cut), tables, pairs)
                start = cut
