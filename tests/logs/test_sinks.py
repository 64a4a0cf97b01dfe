"""Messages of the job if the jars of Delta or Iceberg are missing or do not fit; Spark is not started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from spark_log_analytics.sinks import Sink, SinkError


class _NoJars:
    """A session as Spark is without the jars: its words, from Spark 4.3.0."""

    version = "4.3.0"
    conf = SimpleNamespace(get=lambda *_: None, set=lambda *_: None)

    @property
    def read(self) -> Any:
        return self

    def format(self, name: str) -> Any:
        raise RuntimeError(f"[DATA_SOURCE_NOT_FOUND] Failed to find the data source: {name}. SQLSTATE: 42K02")

    def sql(self, _: str) -> Any:
        name = "org.apache.iceberg.spark.SparkCatalog"
        raise RuntimeError(f"Cannot find catalog plugin class for catalog 'eosctl': {name}. SQLSTATE: 42K02")


def sink(table_format: str) -> Sink:
    return Sink(cast("Any", _NoJars()), table_format, "/result")


@pytest.mark.parametrize(
    ("table_format", "package"),
    [
        ("delta", "io.delta:delta-spark_4.3_2.13"),
        ("iceberg", "org.apache.iceberg:iceberg-spark-runtime-4.3_2.13"),
    ],
)
def test_missing_jars_are_named_before_anything_is_scanned(table_format: str, package: str) -> None:
    with pytest.raises(SinkError) as caught:
        sink(table_format).check()
    assert package in str(caught.value)
    assert "--jars" in str(caught.value)


def test_formats_of_sparks_own_need_no_look() -> None:
    sink("parquet").check()
    sink("json").check()


def test_a_spark_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_NoJars, "version", "3.4.4")
    with pytest.raises(SinkError, match=r"Spark 3\.4\.4 is too old. Use Spark 3\.5 or later"):
        sink("parquet").check()


@pytest.mark.parametrize(
    "message",
    [
        # What Delta 4.4.0 and Iceberg 1.12.0, made for Spark 4.2 and 4.1, end in on Spark 4.3.0.
        "o51.save.\n: java.lang.NoSuchMethodError: 'void org.apache.spark.sql.execution.LogicalRDD.<init>(scala...",
        ": java.lang.IncompatibleClassChangeError: class org.apache.iceberg.spark.source.SparkView can not implement",
        ": java.lang.NoClassDefFoundError: io/delta/storage/LogStore",
    ],
)
def test_jars_of_another_spark_are_a_failure_of_their_own(message: str) -> None:
    assert "do not fit Spark 4.3.0" in sink("delta").obstacle(RuntimeError(message))
    assert sink("parquet").obstacle(RuntimeError(message)) == ""


def test_a_failure_of_another_kind_is_none_of_the_jars() -> None:
    assert sink("delta").obstacle(RuntimeError("java.io.IOException: No space left on device")) == ""
