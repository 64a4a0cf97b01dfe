"""Logs as a stream of Spark's: each event once, through rotation and a restart from the checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from spark_log_analytics.session import session

pytestmark = [
    pytest.mark.apache,
    # Spark's own code and its Python workers' sockets, not ours.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

LOG = Path(__file__).parents[1] / "fixtures" / "logs" / "poison-record-392" / "stream-1.log"


def test_a_stream_returns_each_event_once_across_a_restart(tmp_path: Path) -> None:
    from spark_log_analytics.datasource import register

    logs, out = tmp_path / "logs", tmp_path / "out"
    logs.mkdir()
    data = LOG.read_bytes()
    middle = data.index(b"\n2026", len(data) // 2) + 1
    with session("eosctl tests", cores="2", streams=True) as spark:
        register(spark)

        def run() -> None:
            stream = spark.readStream.format("eos_logs").option("idle_ms", "0").load(str(logs))
            query = stream.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
            started = query.option("path", str(out)).trigger(availableNow=True).start()
            started.awaitTermination(300)
            assert started.exception() is None and not started.isActive

        (logs / "stream-1.log").write_bytes(data[:middle])
        run()
        (logs / "stream-1.log").rename(logs / "stream-1.log.1")
        with (logs / "stream-1.log.1").open("ab") as file:
            file.write(data[middle:])
        run()
        rows = sorted((row.offset, row.line, row.category) for row in spark.read.parquet(str(out)).collect())
    assert rows == [(event.offset, event.line, event.category) for event in scan_paths([LOG]).events]
