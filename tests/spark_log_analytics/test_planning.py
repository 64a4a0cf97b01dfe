"""Small jobs are planned once, and the session gets its own settings back."""

from __future__ import annotations

from typing import Any

import pytest

from spark_log_analytics.planning import changed_settings, planned_once

ADAPTIVE = "spark.sql.adaptive.enabled"
PARTITIONS = "spark.sql.shuffle.partitions"


@pytest.mark.spark
def test_settings_return_after_an_error(spark: Any) -> None:
    before = spark.conf.get(PARTITIONS)
    with pytest.raises(ZeroDivisionError), changed_settings(spark, {PARTITIONS: "7"}):
        assert spark.conf.get(PARTITIONS) == "7"
        raise ZeroDivisionError
    assert spark.conf.get(PARTITIONS) == before


@pytest.mark.spark
def test_few_events_are_planned_once_for_one_task(spark: Any) -> None:
    with changed_settings(spark, {ADAPTIVE: "true", PARTITIONS: "5"}):
        with planned_once(spark, is_small=True):
            counted = spark.range(8).selectExpr("id % 3 AS third").groupBy("third").count()
            assert "AdaptiveSparkPlan" not in counted._jdf.queryExecution().executedPlan().toString()
            assert counted.rdd.getNumPartitions() == 1
        assert (spark.conf.get(ADAPTIVE), spark.conf.get(PARTITIONS)) == ("true", "5")


@pytest.mark.spark
def test_many_events_keep_the_settings_of_the_session(spark: Any) -> None:
    with changed_settings(spark, {ADAPTIVE: "true", PARTITIONS: "5"}), planned_once(spark, is_small=False):
        assert (spark.conf.get(ADAPTIVE), spark.conf.get(PARTITIONS)) == ("true", "5")
