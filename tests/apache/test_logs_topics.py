"""Logs in topics of real Kafka, as a batch and as a stream of Spark's: each event once, through a restart."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from eosctl.logs.topics.address import parse_topics
from eosctl.logs.topics.plan import scan_topics
from spark_log_analytics.session import session
from tests.logs.partitions import expected, lines_of, without_place
from tests.logs.shipping import create, ship

if TYPE_CHECKING:
    from eosctl.lab.apache.nodes import ApacheNodes

pytestmark = [
    pytest.mark.apache,
    # Spark's own code and its Python workers' sockets, not ours.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_a_stream_behind_retention_fails_or_continues_as_asked(apache_4_3: ApacheNodes, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    from spark_log_analytics.topics.datasource import register

    reached, lines = {"bootstrap.servers": apache_4_3.bootstrap}, lines_of()
    create(reached, "short")
    starts = [number for number, line in enumerate(lines) if line[:1] == "2"]
    read, kept = starts[len(starts) // 3], starts[2 * len(starts) // 3]
    with session("eosctl tests", cores="2", streams=True) as spark:
        register(spark)

        def run(**options: str) -> None:
            output = {"kafka.bootstrap.servers": apache_4_3.bootstrap, "subscribe": "short", **options}
            rows = spark.readStream.format("eos_logs_kafka").options(startingOffsets="earliest", **output).load()
            query = rows.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
            query.option("path", str(tmp_path / "out")).trigger(availableNow=True).start().awaitTermination(300)

        ship(reached, "short", lines[:read])
        run()
        ship(reached, "short", lines[read:])
        admin = AdminClient(reached)
        for deleted in admin.delete_records([TopicPartition("short", 0, kept)]).values():
            deleted.result(60)
        lost = f"{kept - read} offsets ({read} to {kept - 1}) no longer exist: short-0 begins at {kept}"
        with pytest.raises(StreamingQueryException, match=re.escape(f"{lost}. Set failOnDataLoss to false")):
            run()
        run(failOnDataLoss="false")
        rows = sorted((row.offset, row.category) for row in spark.read.parquet(str(tmp_path / "out")).collect())
    assert rows == [(one.line - 1, one.category) for one in expected() if not read < one.line <= kept]


def test_batch_and_stream_give_the_rows_of_the_file(apache_4_3: ApacheNodes, tmp_path: Path) -> None:
    from spark_log_analytics.topics.datasource import register

    bootstrap, lines, out = apache_4_3.bootstrap, lines_of(), tmp_path / "out"
    reached = {"bootstrap.servers": bootstrap}
    create(reached, "shipped")
    middle = next(number for number, line in enumerate(lines) if number > len(lines) // 2 and line[:1] == "2")
    with session("eosctl tests", cores="2", streams=True) as spark:
        register(spark)

        def run() -> None:
            stream = spark.readStream.format("eos_logs_kafka").option("kafka.bootstrap.servers", bootstrap)
            output = stream.option("subscribe", "shipped").option("startingOffsets", "earliest")
            rows = output.option("maxOffsetsPerTrigger", "300").load()
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
