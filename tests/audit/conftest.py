"""What adversaries say of the made corpus, asked once: rows that tests of several modules read."""

from __future__ import annotations

import pytest

from nes_spark.audit.adversaries import PREDICTIONS_TABLE, View
from nes_spark.audit.attack_stages import attack
from nes_spark.config import AuditConfig
from nes_spark.releases.publish_stages import chosen_rewrites
from nes_spark.schemas import PREDICTIONS
from tests.audit.corpus import RELEASE, frames, freed, make
from tests.conftest import setting_of


@pytest.fixture(scope="session")
def attacked(spark):
    """The rewrites of all draws, and what ``linkage`` and ``text`` make of them on 2 partitions.

    The release hides dates.
    """
    tables = frames(spark, make(), 2)
    final = chosen_rewrites(tables["rewrites"], *RELEASE)
    shown = [tables[name] for name in ("cells", "chunks", "mentions")]
    with setting_of(spark, "spark.sql.shuffle.partitions", 2), freed(spark, 2) as until:
        view = View(*shown, final, ("Organization", "Product"), ("Date",), until=until)
        found = attack(view, AuditConfig(), PREDICTIONS_TABLE)
        assert found.columns == PREDICTIONS.names
        return final.collect(), found.collect()
