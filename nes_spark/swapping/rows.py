"""Rows to rows: what the Spark stages run on Arrow batches once swaps are known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import pyarrow as pa

from nes_spark.entities.cells import cell_of
from nes_spark.entities.combination import Combination
from nes_spark.entities.mentions import Mention
from nes_spark.errors import LedgerError
from nes_spark.schemas import EDITS, REWRITES, SWAPS, arrow_schema
from nes_spark.swapping.dates import Shift, date_replacements, without_names
from nes_spark.swapping.exchange import Exchange, Matching, Policy, Similarity, plan_exchange
from nes_spark.swapping.forms import forms_of
from nes_spark.swapping.likeness import similarities_for
from nes_spark.swapping.memory import exchange_digest
from nes_spark.swapping.parts import as_written
from nes_spark.swapping.rewriting import (
    Edit,
    Key,
    Replacement,
    entity_of,
    in_place_of,
    invert_edits,
    replacements_for,
    resolve_overlaps,
    rewrite_text,
    with_short_forms,
)
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.sticky import setting_key

#: A chunk and its text, and the edits that led to it.
CHANGED_DDL = f"chunk_id string, text string, edits {EDITS}"

_SWAPS = arrow_schema(SWAPS.ddl)
_REWRITES = arrow_schema(REWRITES.ddl)
_CHANGED = arrow_schema(CHANGED_DDL)


def plan_rows(
    batches: Iterable[pa.RecordBatch],
    secret: Secret,
    policy: Policy,
    matching: Matching,
    sticky: bool,
) -> Iterator[pa.RecordBatch]:
    """Add ``exchanged`` to accepted swaps.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Columns of SWAPS but ``exchanged``; ``entities_a``, ``entities_b`` (entries of the map) and
        ``gave_a``, ``took_a``, ``gave_b``, ``took_b``: (category, name) that each chunk gave and
        took in earlier rounds, null for none; ``own_a``, ``own_b``: (category, name) that name the
        chunk's own document, null for none.
    secret : Secret
    policy, matching : str
    sticky : bool
        Whether names are matched without regard to the mixture setting.
    """
    measures: dict[str, dict[str, Similarity]] = {}
    for batch in batches:
        out = []
        for row in batch.to_pylist():
            name = row["combination"]
            if name not in measures:
                measures[name] = similarities_for(Combination.parse(name), matching)
            available, history = {}, {}
            for side in ("a", "b"):
                gave = {(m["category"], m["name"]) for m in row[f"gave_{side}"] or ()}
                barred = [
                    (m["category"], m["name"])
                    for m in (*(row[f"took_{side}"] or ()), *(row[f"own_{side}"] or ()))
                ]
                names = {e["key"]: set(e["value"]) for e in row[f"entities_{side}"]}
                available[side] = {
                    c: {n for n in values if (c, n) not in gave} for c, values in names.items()
                }
                history[side] = {
                    c: values | {n for category, n in barred if category == c}
                    for c, values in names.items()
                }
            plan = plan_exchange(
                available["a"],
                available["b"],
                Combination.parse(row["combination"]),
                exchange_digest(
                    secret,
                    setting_key(row["setting"], sticky),
                    row["combination"],
                    row["draw"],
                    row["chunk_a"],
                    row["chunk_b"],
                ),
                policy=policy,
                matching=matching,
                similarities=measures[name],
                history_a=history["a"],
                history_b=history["b"],
            )
            made = {name: row[name] for name in _SWAPS.names if name != "exchanged"}
            out.append(made | {"exchanged": [asdict(e) for e in plan]})
        yield pa.RecordBatch.from_pylist(out, schema=_SWAPS)


def _mentions(rows: Sequence[Mapping[str, Any]] | None) -> list[Mention]:
    return [
        Mention(r["start"], r["end"], r["category"], r["surface"], r["entity"]) for r in rows or ()
    ]


_EDIT = tuple(f.name for f in fields(Edit))


def _edits(edits: Iterable[Edit]) -> list[dict[str, Any]]:
    # dataclasses.asdict copies every value, which takes ten times as long
    return [{name: getattr(e, name) for name in _EDIT} for e in edits]


def _shifted(
    row: Mapping[str, Any], mentions: Sequence[Mention], categories: Sequence[str]
) -> dict[Key, Replacement]:
    """Return what comes in the place of dates that are shifted in every chunk."""
    out: dict[Key, Replacement] = {}
    for category in categories:
        out |= date_replacements(
            *(mentions, Shift(row["shift_days"]), row["shift_from"], f"[{category}]", category),
            day_first=row["day_first"],
        )
    return out


def rewrite_rows(
    batches: Iterable[pa.RecordBatch],
    must_change: Mapping[str, str],
    mend_articles: bool,
    categories: Sequence[str],
    recoding: Mapping[str, Mapping[str, Sequence[str]]],
    shift: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Write one text for each swap of each chunk, from the original text.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        ``setting, combination, draw, chunk_id, text, mentions`` and ``steps``: the swaps of the
        chunk (order, partner_id, side, exchanged, partner_mentions, and ``instead``: what comes
        in the place of the whole text, '' for nothing, null where names are exchanged); with
        `shift` also ``shift_days, shift_from, day_first`` of the document.
    must_change, mend_articles
        As for ``rewrite_text``.
    categories, recoding
        As for ``cell_of``.
    shift : sequence of str
        Categories whose dates are shifted.
    """
    for batch in batches:
        out = []
        for row in batch.to_pylist():
            mentions = resolve_overlaps(_mentions(row["mentions"]))
            moving = without_names(row["text"], mentions, shift)
            replacements: dict[Key, Replacement] = _shifted(row, moving, shift)
            steps = sorted(row["steps"], key=lambda s: (s["order"], s["last"]))
            partner_id = None
            for step, after in zip(steps, [*steps[1:], None], strict=True):
                plan = [Exchange(**e) for e in step["exchanged"]]
                partner = resolve_overlaps(_mentions(step["partner_mentions"]))
                partner_id = partner_id if step["last"] and partner_id else step["partner_id"]
                # What a chunk took is never exchanged again, so the swaps of later rounds add to
                # those of earlier ones, and all edits are of the original text.
                replacements |= replacements_for(plan, step["side"], partner)
                if after is not None and after["order"] == step["order"]:
                    continue  # one text for both: the last swap, and what is left over
                settled = with_short_forms(mentions, replacements)
                if step["instead"] is None:
                    cell = cell_after(mentions, settled, must_change, categories, recoding)
                    done = rewrite_text(
                        row["text"],
                        moving,
                        replacements,
                        must_change=must_change,
                        mend_articles=mend_articles,
                    )
                else:
                    cell = dict.fromkeys(categories, "")
                    done = in_place_of(row["text"], step["instead"])
                head = {n: row[n] for n in ("setting", "combination", "draw", "chunk_id")}
                out.append(
                    head
                    | {
                        "order": step["order"],
                        "partner_id": partner_id,
                        "text": done.text,
                        "cell": list(cell.items()),
                        "edits": _edits(done.edits),
                    }
                )
        yield pa.RecordBatch.from_pylist(out, schema=_REWRITES)


def cell_after(
    mentions: Iterable[Mention],
    replacements: Mapping[Key, Replacement],
    must_change: Mapping[str, str],
    categories: Sequence[str],
    recoding: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> dict[str, str]:
    """Return the cell of a chunk after a swap (its row of z-tilde).

    It follows from the entities and the swap alone, not from the new text. A must-change category
    has the placeholder as its value where the chunk had an entity of it, else ''.
    """
    names: dict[str, set[str]] = {}
    for mention in mentions:
        key = (mention.category, entity_of(mention))
        new = replacements.get(key)
        names.setdefault(mention.category, set()).add(new.entity if new else key[1])
    cell = cell_of({c: sorted(v) for c, v in names.items()}, categories, recoding)
    return cell | {
        c: placeholder if cell.get(c) else "" for c, placeholder in must_change.items() if c in cell
    }


def must_change_rows(
    batches: Iterable[pa.RecordBatch],
    must_change: Mapping[str, str],
    mend_articles: bool,
    shift: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Replace must-change categories, and shift dates, in ``chunk_id, text, mentions``.

    Names of ``told`` (:func:`told_replacements`), if there is such a column, are replaced too.
    """
    for batch in batches:
        out = []
        for row in batch.to_pylist():
            mentions = resolve_overlaps(_mentions(row["mentions"]))
            mentions = without_names(row["text"], mentions, shift)
            done = rewrite_text(
                row["text"],
                mentions,
                _shifted(row, mentions, shift) | told_replacements(row.get("told") or ()),
                must_change=must_change,
                mend_articles=mend_articles,
            )
            out.append(
                {"chunk_id": row["chunk_id"], "text": done.text, "edits": _edits(done.edits)}
            )
        yield pa.RecordBatch.from_pylist(out, schema=_CHANGED)


def told_replacements(told: Iterable[Mapping[str, Any]]) -> dict[Key, Replacement]:
    """Return what comes in the place of names that were exchanged elsewhere in a document.

    Parameters
    ----------
    told : iterable of mapping
        ``category, old, new, written``: the surfaces of the new name where it comes from.
    """
    found: dict[Key, Replacement] = {}
    for name in told:
        category, new = name["category"], name["new"]
        written = [Mention(0, 0, category, surface, new) for surface in name["written"]]
        forms = forms_of(written).get((category, new), (as_written(new, category),))
        found[category, name["old"]] = Replacement(new, forms)
    return found


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as Spark's ``sha2(text, 256)`` gives it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def restore(text: str, edits: Iterable[Edit | Mapping[str, Any]], digest: str | None) -> str:
    """Undo the edits of one chunk and check the result.

    Raises
    ------
    LedgerError
        When an edit does not fit or the digest of the original text is another one.
    """
    original = invert_edits(text, edits)
    if digest is not None and text_digest(original) != digest:
        raise LedgerError("a restored chunk is not the original one: ledger and release differ")
    return original
