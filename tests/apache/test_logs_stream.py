"""Logs as a stream of Spark's: each event once, through rotation and a restart from the checkpoint."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
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


STREAM = """
import json, os, signal, sys
from pyspark.errors import PySparkException
from spark_log_analytics.datasource import register
from spark_log_analytics.session import session

logs, place = sys.argv[1:]
with session("eosctl tests", cores="2", streams=True) as spark:
    register(spark)
    for command in sys.stdin:
        end, end_in, options = json.loads(command)

        def write(rows, batch):
            is_last = batch == end_in
            if is_last and end == "fails":
                raise ValueError("the batch fails")
            if is_last and end == "planned":
                os.kill(os.getpid(), signal.SIGKILL)
            rows.write.mode("overwrite").json(f"{place}/rows/{batch}")
            if is_last and end == "written":
                os.kill(os.getpid(), signal.SIGKILL)

        stream = spark.readStream.format("eos_logs").option("idle_ms", "0").options(**options)
        query = stream.load(logs).writeStream.option("checkpointLocation", f"{place}/checkpoint")
        started = query.foreachBatch(write).trigger(availableNow=True).start()
        error = ""
        try:
            started.awaitTermination()
        except PySparkException as raised:
            error = str(raised)
        print(json.dumps({"error": error}), flush=True)
"""
LINE = "[2026-11-21 09:{:02d}:{:02d},000] ERROR {} lost its transaction (a.B)\n"


class Reading:
    """A process with a session of Spark's, which runs the query each time that it is asked to."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self._process = process
        self._errors = errors

    def run(self, end: str = "", end_in: int = -1, **options: str) -> str:
        """Read until nothing is new, or until batch ``end_in`` fails; return the query's error."""
        line = self._ask(end, end_in, options)
        assert line, self._errors.read_text(errors="replace")[-2000:]
        return str(json.loads(line)["error"])

    def die(self, end: str, end_in: int) -> None:
        """Read until the process is killed in a batch, when it is planned or when it is written."""
        assert not self._ask(end, end_in, {})
        assert self._process.wait() == -signal.SIGKILL, self._errors.read_text(errors="replace")[-2000:]

    def _ask(self, end: str, end_in: int, options: dict[str, str]) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([end, end_in, options]) + "\n")
        return self._process.stdout.readline()


class Streamed:
    """A folder of logs, and a query that reads it in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.logs = folder / "logs"
        self.place = folder / "query"
        self.errors = folder / "errors"
        self.written: list[str] = []
        self.logs.mkdir()

    def write(self, name: str, count: int = 5) -> None:
        with (self.logs / name).open("a") as file:
            for _ in range(count):
                number = len(self.written)
                line = LINE.format(number // 60, number % 60, name)
                file.write(line)
                self.written.append(line)

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """Start the process of the query."""
        command = [sys.executable, "-c", STREAM, str(self.logs), str(self.place)]
        with self.errors.open("ab") as errors:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1
            )
        try:
            yield Reading(process, self.errors)
        finally:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()
            process.wait()
            process.stdout.close()

    def delivered(self) -> list[str]:
        files = (self.place / "rows").glob("*/part-*.json")
        rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        moments = [datetime.fromtimestamp(row["time_ms"] / 1000, UTC) for row in rows]
        return sorted(
            LINE.format(at.minute, at.second, row["message"].split()[0]) for at, row in zip(moments, rows, strict=True)
        )


def test_rotation_and_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    """Four kinds of rotation, and kill -9 before a batch is written, and after that but before its commit."""
    streamed = Streamed(tmp_path)
    logs, names = streamed.logs, ("gzip.log", "copied.log", "archived.log", "away.log")
    for name in names:
        streamed.write(name)
    with streamed.reading() as reading:
        assert not reading.run()
        for name in names[:3]:
            streamed.write(name)
        away = (logs / "away.log").rename(tmp_path / "away.log")
        reading.die("planned", 1)
    assert len(streamed.delivered()) == 20
    (logs / "gzip.log.1.gz").write_bytes(gzip.compress((logs / "gzip.log").read_bytes()))
    (logs / "gzip.log").unlink()
    shutil.copy(logs / "copied.log", logs / "copied.log.1")
    os.truncate(logs / "copied.log", 0)
    (logs / "archived.log").rename(logs / "archived.log.1")
    away.rename(logs / "away.log")
    streamed.write("away.log")
    with streamed.reading() as reading:
        reading.die("written", 2)
    for name in names:
        streamed.write(name)
    with streamed.reading() as reading:
        assert not reading.run(maxFilesPerTrigger="1")
        assert streamed.delivered() == sorted(streamed.written)
        batches = {path.name for path in (streamed.place / "rows").iterdir()}
        assert batches >= {str(number) for number in range(7)}

        streamed.write("archived.log")
        lost = [streamed.written.pop() for _ in range(5)]
        assert "the batch fails" in reading.run("fails", 1 + max(map(int, batches)))
        (logs / "archived.log").unlink()
        error = reading.run()
        assert f"archived.log no longer exists, and {len(''.join(lost))} bytes of it" in error
        assert not reading.run(failOnDataLoss="false")
        assert streamed.delivered() == sorted(streamed.written)
