"""Logs in topics of real Kafka, as a batch and as a stream of Spark's: each event once, through a restart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_log_analytics.session import session
from spark_log_analytics.topics.address import parse_topics
from spark_log_analytics.topics.plan import scan_topics
from tests.logs.partitions import expected, lines_of, without_place
from tests.logs.shipping import create, ship

if TYPE_CHECKING:
    from eosctl.lab.apache.engine import ApacheEngine

pytestmark = [
    pytest.mark.apache,
    # Spark's own code and its Python workers' sockets, not ours.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_batch_and_stream_give_the_rows_of_the_file(apache_4_3: ApacheEngine, tmp_path: Path) -> None:
    from spark_log_analytics.topics.datasource import register

    bootstrap, lines, out = apache_4_3.bootstrap, lines_of(), tmp_path / "out"
    reached = {"bootstrap.servers": bootstrap}
    create(reached, "shipped")
    middle = next(number for number, line in enumerate(lines) if number > len(lines) // 2 and line[:1] == "2")
    with session("eosctl tests", cores="2", streams=True) as spark:
        register(spark)

        def run() -> None:
            stream = spark.readStream.format("eos_logs_kafka").option("kafka.bootstrap.servers", bootstrap)
            told = stream.option("subscribe", "shipped").option("startingOffsets", "earliest")
            rows = told.option("maxOffsetsPerTrigger", "300").load()
            query = rows.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
            started = query.option("path", str(out)).trigger(availableNow=True).start()
            started.awaitTermination(300)
            assert started.exception() is None and not started.isActive

        ship(reached, "shipped", lines[:middle])
        run()
        ship(reached, "shipped", lines[middle:])
        run()
        rows = sorted((row.offset, row.category) for row in spark.read.parquet(str(out)).collect())
    assert rows == [(event.line - 1, event.category) for event in expected()]
    scan = scan_topics(parse_topics(f"kafka://{bootstrap}/shipped"))
    assert without_place(scan.events) == without_place(expected())
