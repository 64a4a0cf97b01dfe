"""Refusals paired with the initializations that may have caused them: one pass equals a comparison of all pairs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
WINDOW_MS = 60_000
SLACK_MS = 1_500
HOUR_MS = 3_600_000


def test_each_refusal_has_the_last_initialization_before_it(spark: Any) -> None:
    from spark_log_analytics.chains import pair_with_last

    chance = random.Random(3)
    # Moments crowd around the borders of hours, where buckets meet.
    moments = [hour * HOUR_MS + chance.randrange(-90_000, 90_000) for hour in range(1, 4) for _ in range(60)]
    initialized = [(chance.choice("ab"), moment) for moment in dict.fromkeys(moments)]
    refused = [
        (chance.choice("abc"), chance.choice(moments) + chance.randrange(30_000), number) for number in range(200)
    ]
    rows = pair_with_last(
        spark.createDataFrame(refused, "transactional_id string, time_ms long, number int"),
        spark.createDataFrame(initialized, "transactional_id string, time_ms long"),
        WINDOW_MS,
        SLACK_MS,
    ).collect()
    found = {row.number: row.initialized.time_ms if row.initialized else None for row in rows}
    assert len(rows) == len(refused)
    for name, moment, number in refused:
        earlier = [when for owner, when in initialized if owner == name and -WINDOW_MS <= when - moment <= SLACK_MS]
        assert found[number] == max(earlier, default=None), (name, moment)


def test_the_zombies_of_a_recorded_fault_have_their_successors(spark: Any) -> None:
    from eosctl.logs.scan import plan_scan
    from spark_log_analytics.chains import fencing_chains
    from spark_log_analytics.job import scan_frame

    sources, _ = plan_scan([FIXTURES / "second-producer-392"])
    rows = fencing_chains(scan_frame(spark, sources)).where("application not like '%broker%'").collect()
    chains = {row.transactional_id: row.initialized for row in rows}
    assert set(chains) == {"ledger-writer-7", "payment-relay-3"}
    assert all(one is not None and one.application == "broker-1" for one in chains.values())
    assert {one.producer_epoch for one in chains.values()} == {"2"}


def test_a_window_beyond_a_bucket_is_refused(spark: Any) -> None:
    from spark_log_analytics.chains import pair_with_last

    empty = spark.createDataFrame([], "transactional_id string, time_ms long")
    with pytest.raises(ValueError, match="window_ms"):
        pair_with_last(empty, empty, HOUR_MS + 1)
