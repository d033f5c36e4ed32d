"""The sweep as part of a run: what it finds becomes a category and is listed."""

import pytest

from nes_spark.config import build_config
from nes_spark.errors import ConfigError
from nes_spark.run.context import Context
from nes_spark.run.pipeline import STAGES
from nes_spark.schemas import CHUNKS
from nes_spark.store import Store

TEXTS = [
    "Patients took reproxalap twice a day and were glad of it.",
    "We sold more of the mophie chargers than last year.",
    "Sales rose in the spring and costs fell.",
]
NAMED = {
    "sweep": "treat",
    "categories": ["Organization", "Name"],
    "labels": {"ORG": "Organization"},
}


@pytest.mark.parametrize("mode", ["off", "report", "treat"])
def test_what_was_missed_is_listed_and_treated_where_asked_for(spark, tmp_path, mode):
    entities = NAMED | {"sweep": mode, "consistent_categories": ["Organization"]}
    releases = {"swap": ["Organization"], "sizes": [1], "must_change": {}, "fixed": []}
    config = build_config({"entities": entities, "releases": releases})
    store = Store(tmp_path / "run")
    store.prepare()
    context = Context(spark, config, store, b"secret", "")
    nothing = dict.fromkeys(CHUNKS.names)
    rows = [
        nothing
        | {"chunk_id": f"d{i}#00000", "document_id": f"d{i}", "metadata": f"m{i}", "position": 0}
        | {"start": 0, "end": len(t), "text": t, "gap": "", "n_words": 9, "n_suppressed": 0}
        for i, t in enumerate(TEXTS)
    ]
    frame = spark.createDataFrame([tuple(r[n] for n in CHUNKS.names) for r in rows], CHUNKS.ddl)
    store.write_table("chunks", frame, "key")
    by_name = {s.name: s for s in STAGES}
    store.write_table("recognised", by_name["recognised"].run(context)["recognised"], "key")
    outputs = by_name["mentions"].run(context)
    mentions = {r["surface"]: r["category"] for r in outputs["mentions"].collect()}
    # with nothing to look for the stage has no rows, and no query either
    swept = outputs["swept"]
    swept = {r["form"] for r in (swept if isinstance(swept, list) else swept.collect())}
    context.release_kept()
    assert bool(swept) == (mode != "off")
    assert ("Name" in mentions.values()) == (mode == "treat")
    if mode == "treat":
        assert {"reproxalap", "mophie"} <= {k for k, v in mentions.items() if v == "Name"}


def test_treating_needs_the_category():
    with pytest.raises(ConfigError, match="needs the category 'Name'"):
        build_config({"entities": {"sweep": "treat"}})
