"""Categories that are no names, as Spark stages: quantities, and terms of a document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.calling import called
from nes_spark.config import EntitiesConfig
from nes_spark.entities.clue_stages import of_each_entity
from nes_spark.entities.clues import CLUE, barred_by
from nes_spark.entities.further import (
    FURTHER,
    Look,
    further_mentions,
    look_at,
    quantities_outside,
)
from nes_spark.entities.generalising import general_words
from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import QUANTITY
from nes_spark.entities.telling import telling_mentions
from nes_spark.entities.terms import (
    OTHER_USE,
    TERM,
    Ability,
    Usage,
    abilities,
    barring,
    compounds,
    kin_of,
    stem,
    stems_of,
    term_entity,
    term_uses,
    terms_of,
)
from nes_spark.schemas import MENTIONS, fields_of
from nes_spark.spreading import shuffle_partitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: From so many chunks on workers look at the texts, as a job costs less than that on the driver.
MANY_CHUNKS = 2000
#: Into so many parts at most: a part is half a second of work at least.
_MOST_PARTS = 8
_PLACES = (
    "`document_id` string, `metadata` string, `chunk_id` string, `start` int, `end` int, "
    "`surface` string, `word` string, `stem` string, `use` string, `predicate` boolean, "
    "`bare` boolean, `counted` boolean, `modifies` boolean, `follows` boolean"
)
_PLACE_COLUMNS = [name for name, _ in fields_of(_PLACES)]
_USAGE = [field.name for field in fields(Usage)]
#: What is told of a term until those of the document are chosen.
_FOUND = ("document_id", "metadata", "stem")
_ABILITY = ", ".join(f"`{name}` boolean" for name in Ability._fields)


def add_further(
    chunks: DataFrame,
    mentions: DataFrame,
    config: EntitiesConfig,
    keep: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> DataFrame:
    """Add the mentions of Quantity and Term, where these are among the categories.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table CHUNKS; needs ``chunk_id, document_id, metadata, text``.
    mentions : pyspark.sql.DataFrame
        Table MENTIONS of these chunks; what is in it stays as it is, and nothing is found inside.
        Persist it: it is read more than once.
    config : EntitiesConfig
        ``categories``, ``terms`` and ``currency``.
    keep : callable, optional
        Persists a table that is read more than once.

    Returns
    -------
    pyspark.sql.DataFrame
        Table MENTIONS. A quantity's entity tells what it is like
        (:func:`~nes_spark.entities.quantities.quantity_mentions`), a term's is the word with
        what it is there (:func:`~nes_spark.entities.terms.term_entity`).
    """
    mentions = mentions.where(~mentions["category"].isin([*FURTHER]))
    if QUANTITY in config.categories:
        mentions = mentions.unionByName(find_quantities(chunks, mentions, config.currency))
    if TERM in config.categories:
        mentions = mentions.unionByName(find_terms(chunks, mentions, config.terms, keep))
    return mentions


def further_rows(
    chunks: Iterable[tuple[str, str, str, str]], mentions: DataFrame, config: EntitiesConfig
) -> list[tuple[Any, ...]]:
    """Return what :func:`add_further` does, and telling words, found in one call in this process.

    Parameters
    ----------
    chunks : iterable of (str, str, str, str)
        ``chunk_id, document_id, metadata, text`` of table CHUNKS.
    mentions, config
        As for :func:`add_further`.

    Returns
    -------
    list of tuple
        Rows of table MENTIONS, with telling words as clues where ``config.telling`` asks for them
        (:func:`~nes_spark.entities.telling.telling_mentions`). Memory grows with the words: half a
        kilobyte for each that may be a term, one in four.
    """
    kept = mentions.where(~mentions["category"].isin([*FURTHER])).select(*MENTIONS.names)
    rows = [tuple(row) for row in kept.collect()]
    known: defaultdict[str, list[Mention]] = defaultdict(list)
    for chunk_id, category, surface, entity, start, end in rows:
        known[chunk_id].append(Mention(start, end, category, surface, entity))
    texts, documents, metadata = {}, {}, {}
    for chunk_id, document_id, secret, text in chunks:
        texts[chunk_id], documents[chunk_id], metadata[chunk_id] = text, document_id, secret
    wanted = [name for name in FURTHER if name in config.categories]
    looks = None
    if len(texts) >= MANY_CHUNKS:
        looks = _looked(mentions, texts, known, wanted, config.currency)
    found = further_mentions(
        texts, documents, metadata, known, wanted, config.terms, config.currency, looks
    )
    rows += _rows_of(found)
    if not config.telling:
        return rows
    for chunk_id, mine in found.items():
        known[chunk_id] += mine
    return _rows_of(telling_mentions(texts, metadata, known, config.telling))


def _looked(
    beside: DataFrame,
    texts: Mapping[str, str],
    mentions: Mapping[str, list[Mention]],
    categories: Iterable[str],
    currency: str | None,
) -> dict[str, Look]:
    """Look at every text in workers of the session of a frame."""

    def look(piece: list[tuple[str, str, list[Mention]]]) -> list[tuple[str, Look]]:
        return [(chunk, look_at(text, held, wanted, currency)) for chunk, text, held in piece]

    wanted, parts = tuple(categories), min(_MOST_PARTS, shuffle_partitions(beside))
    rows = [(chunk, text, mentions.get(chunk, [])) for chunk, text in texts.items()]
    found = called(beside.sparkSession, look, [rows[part::parts] for part in range(parts)])
    return dict(chain.from_iterable(found))


def _rows_of(found: Mapping[str, Iterable[Mention]]) -> list[tuple[Any, ...]]:
    return [
        (chunk_id, m.category, m.surface, m.entity, m.start, m.end)
        for chunk_id, mine in found.items()
        for m in mine
    ]


def find_quantities(
    chunks: DataFrame, mentions: DataFrame, currency: str | None = None
) -> DataFrame:
    """Return the quantities outside mentions, as table MENTIONS.

    `currency` is that of :func:`~nes_spark.entities.quantities.quantity_mentions`.
    """

    def find(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows: list[tuple[Any, ...]] = []
            for chunk_id, text, spans in zip(
                batch["chunk_id"], batch["text"], batch["found"], strict=True
            ):
                rows += [
                    (chunk_id, m.category, m.surface, m.entity, m.start, m.end)
                    for m in quantities_outside(text, _spans(spans), currency)
                ]
            yield pd.DataFrame(rows, columns=MENTIONS.names)

    return _with_mentions(chunks, mentions).mapInPandas(find, MENTIONS.ddl)


def find_terms(
    chunks: DataFrame,
    mentions: DataFrame,
    most: int,
    keep: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> DataFrame:
    """Return the places of the terms of each document, as table MENTIONS.

    Parameters
    ----------
    chunks, mentions, keep
        As for :func:`add_further`.
    most : int
        Terms of a document.

    Notes
    -----
    A worker holds the counts of one document, and those of the words of one stem; words are counted
    by Spark.
    """
    from pyspark.sql import functions as F

    places = keep(_with_mentions(chunks, mentions).mapInPandas(_places, _PLACES))
    able = _abilities(places)
    told = ", ".join(f"`{name}` string" for name in _FOUND)
    found = keep(
        places.join(able, ["stem", "word"]).mapInPandas(
            _entities, f"{told}, `follows` boolean, `proper` boolean, {MENTIONS.ddl}"
        )
    )
    proper = found.where("proper")
    total = chunks.agg(F.countDistinct("metadata").alias("total"))
    spread = proper.groupBy("stem").agg(
        F.countDistinct("metadata").alias("documents"), F.count(F.lit(1)).alias("places")
    )
    counts = (
        proper.groupBy("document_id", "stem")
        .agg(F.count(F.lit(1)).alias("n"))
        .join(spread, "stem")
        .crossJoin(F.broadcast(total))
    )

    def choose(frame: pd.DataFrame) -> pd.DataFrame:
        words = frame["stem"].tolist()
        chosen = terms_of(
            dict(zip(words, frame["n"].tolist(), strict=True)),
            dict(zip(words, frame["documents"].tolist(), strict=True)),
            int(frame["total"].iloc[0]),
            most,
            dict(zip(words, frame["places"].tolist(), strict=True)),
        )
        rows = [(frame["document_id"].iloc[0], stem) for stem in chosen]
        return pd.DataFrame(rows, columns=["document_id", "stem"])  # no row: still columns of text

    terms = counts.groupBy("document_id").applyInPandas(choose, "document_id string, stem string")
    together = (
        found.join(terms, ["document_id", "stem"])
        .groupBy("chunk_id")
        .agg(
            F.collect_list(F.struct("start", "end", "surface", "entity", "follows")).alias("found")
        )
    )
    return together.mapInPandas(_joined, MENTIONS.ddl)


def terms_as_own_names(cells: DataFrame) -> DataFrame:
    """Return table OWN_NAMES of terms: no donor gives a document back what sets it apart.

    Parameters
    ----------
    cells : pyspark.sql.DataFrame
        Table CELLS, with category Term, and with Clue where there are clues: their words were
        blanked, and are nobody's to give back either.
    """
    from pyspark.sql import functions as F

    told = cells.select("document_id", F.explode("entities").alias("category", "found")).where(
        F.col("category").isin(TERM, CLUE)
    )
    told = told.select("document_id", "category", F.explode("found").alias("entity")).distinct()
    terms = told.where(F.col("category") == TERM)
    # a clue bars dozens of forms of each of its words, of which the corpus has few
    there = (
        terms.select("entity")
        .distinct()
        .mapInPandas(of_each_entity(barring, "entity"), "entity string")
    )
    general = [(word,) for word in sorted(general_words())]
    there = there.unionByName(cells.sparkSession.createDataFrame(general, "entity string"))
    of_clues = _of(told.where(F.col("category") == CLUE), barred_by)
    of_clues = of_clues.join(there.distinct(), "entity", "left_semi")
    columns = ["document_id", "category", "entity"]
    return _of(terms, kin_of).select(columns).unionByName(of_clues.select(columns)).distinct()


def _of(told: DataFrame, forms_of: Callable[[str], list[str]]) -> DataFrame:
    """Return ``document_id, category, entity``: of what a document has the forms, as terms."""
    from pyspark.sql import functions as F

    found = told.select("document_id", "entity").mapInPandas(
        of_each_entity(forms_of, "entity"), "document_id string, entity string"
    )
    return found.withColumn("category", F.lit(TERM))


def _places(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Find where words stand that may be terms; columns of :data:`_PLACES` come out."""
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for document_id, metadata, chunk_id, text, spans in zip(
            *(batch[c] for c in ("document_id", "metadata", "chunk_id", "text", "found")),
            strict=True,
        ):
            rows += [
                (
                    document_id, metadata, chunk_id, p.start, p.end, text[p.start : p.end],
                    p.word, stem(p.word), p.use, p.predicate, p.bare, p.counted, p.modifies,
                    p.follows,
                )
                for p in term_uses(text, _spans(spans))
            ]  # fmt: skip
        yield pd.DataFrame(rows, columns=_PLACE_COLUMNS)


def _abilities(places: DataFrame) -> DataFrame:
    """Return stem, word and as what the word may be a term, for all words of a corpus."""
    from pyspark.sql import functions as F

    def times(condition: Any) -> Any:
        return F.sum(F.coalesce(condition, F.lit(False)).cast("long"))

    counted = {
        "places": F.count(F.lit(1)),
        "nouns": times(F.col("use") == "noun"),
        "adjectives": times(F.col("use") == "adjective"),
        "either": times(F.col("use") == "either"),
        "predicates": times(F.col("predicate")),
        "heads": times(F.col("bare").isNotNull()),
        "bare": times(F.col("bare")),
        "counted": times(F.col("counted")),
    }
    usage = places.groupBy("stem", "word").agg(*(counted[c].alias(c) for c in _USAGE))
    together = usage.groupBy("stem").agg(F.collect_list(F.struct("word", *_USAGE)).alias("words"))

    def decide(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows: list[tuple[Any, ...]] = []
            for name, words in zip(batch["stem"], batch["words"], strict=True):
                able = abilities({w["word"]: Usage(*(w[c] for c in _USAGE)) for w in words})
                rows += [(name, word, *what) for word, what in able.items()]
            yield pd.DataFrame(rows, columns=["stem", "word", *Ability._fields])

    return together.mapInPandas(decide, f"stem string, word string, {_ABILITY}")


def _entities(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Say what the entity of each place is, and whether it counts (``proper``).

    Those of another use than a term's do not, and stand for every part of a compound as well.
    """
    columns = [*_FOUND, "follows", "proper", *MENTIONS.names]
    for batch in batches:
        out = batch[[*_FOUND, "follows", "chunk_id", "surface", "start", "end"]].copy()
        out["category"] = TERM
        entities = [
            term_entity(word, use, Ability(*map(bool, able)), bool(modifies))
            for word, use, modifies, *able in batch[
                ["word", "use", "modifies", *Ability._fields]
            ].itertuples(index=False)
        ]
        out["proper"] = [entity != "" for entity in entities]
        other = [word + OTHER_USE for word in batch["word"]]
        out["entity"] = [entity or rest for entity, rest in zip(entities, other, strict=True)]
        yield out[columns]
        inside = pd.Series(None, batch.index, dtype=object)
        inside[:] = [stems_of(word)[1:] for word in batch["word"]]
        parts = out.assign(entity=other, proper=False, stem=inside)
        yield parts.loc[inside.map(len) > 0, columns].explode("stem")


def _joined(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Make one mention of terms that stand together; columns of MENTIONS come out."""
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for chunk_id, found in zip(batch["chunk_id"], batch["found"], strict=True):
            # a place may be that of a term, and of one that is a part of its word
            whole = {t["start"]: t["entity"] for t in found if not t["entity"].endswith(OTHER_USE)}
            terms = {
                t["start"]: Mention(
                    t["start"], t["end"], TERM, t["surface"], whole.get(t["start"], t["entity"])
                )
                for t in found
            }
            rows += [
                (chunk_id, m.category, m.surface, m.entity, m.start, m.end)
                for m in compounds(terms.values(), {t["start"] for t in found if t["follows"]})
            ]
        yield pd.DataFrame(rows, columns=MENTIONS.names)


def _with_mentions(chunks: DataFrame, mentions: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    found = mentions.groupBy("chunk_id").agg(
        F.collect_list(F.struct("start", "end")).alias("found")
    )
    return chunks.select("chunk_id", "document_id", "metadata", "text").join(
        found, "chunk_id", "left"
    )


def _spans(found: Any) -> list[Mention]:
    return [Mention(s["start"], s["end"], "", "") for s in (found if found is not None else ())]
