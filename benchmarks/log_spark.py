"""Measure Spark's part of the log mining: pairing of fencings, stream delay, and scaling with size.

    python -m benchmarks.log_spark pairs
    python -m benchmarks.log_spark delay
    python -m benchmarks.log_spark size 0.25 1 4

`pairs` joins 1,000,000 initializations of transactional ids with 200,000 refusals, spread over an hour and 2,000
ids, on two local cores. `delay` appends a record to a log that is read as a stream and measures the time until its
row arrives; `watch` does the same with `eosctl logs watch`. `size` reads files of that many GB, made of repeated
250 MB. Processor time is the sum of Spark's JVM and its Python workers.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]

from benchmarks.log_scan import write_log
from eosctl.logs.scan import plan_scan
from spark_log_analytics.chains import pair_with_last
from spark_log_analytics.job import scan_frame
from spark_log_analytics.session import session
from spark_log_analytics.trace_job import exceptions_on_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

INITIALISATIONS = 1_000_000
REFUSALS = 200_000
IDS = 2_000
APPENDS = 40
BLOCK_BYTES = 250_000_000
RECORD = "2026-11-21 09:31:{:02d}.670 ERROR [main] a.Relay - order {} could not be relayed\n"


def pairs() -> None:
    """Measure the pairing, five times over the same cached rows."""
    with session("benchmark", cores="2") as spark:
        bumps, fences = _events(spark, INITIALISATIONS, "bump"), _events(spark, REFUSALS, "fence")
        for _ in range(5):
            with _timed("pairs"):
                paired = pair_with_last(fences, bumps)
                [row] = paired.selectExpr("count(*) n", f"count({paired.columns[-1]}) explained").collect()
        assert row["n"] == REFUSALS
        print(f"{INITIALISATIONS} initializations, {REFUSALS} refusals, {row['explained']} of them explained")


def _events(spark: SparkSession, count: int, salt: str) -> DataFrame:
    spread = f"pmod(xxhash64(id, '{salt}'), 3600000)"
    columns = ("concat('app-', pmod(xxhash64('id', id, '{}'), {})) transactional_id", "{} time_ms", "id number")
    frame = spark.range(0, count, 1, 2).selectExpr(
        *(column.format(salt, IDS) for column in columns[:1]), columns[1].format(spread), columns[2]
    )
    frame = frame.persist()
    frame.count()
    return frame


def delay() -> None:
    """Measure the delay of a record from the file to a row."""
    with tempfile.TemporaryDirectory() as folder:
        _print("eosctl logs watch", _watched(Path(folder) / "watch.log"))
        _print("a stream of Spark's", _streamed(Path(folder)))


def _print(name: str, delays: list[float]) -> None:
    quantiles = statistics.quantiles(delays, n=20)
    print(
        f"{name:<24} {len(delays)} records, ms: median {statistics.median(delays) * 1e3:.0f}, "
        f"P95 {quantiles[-1] * 1e3:.0f}, most {max(delays) * 1e3:.0f}",
        flush=True,
    )


def _watched(path: Path) -> list[float]:
    path.write_text(RECORD.format(0, "first"))
    command = [sys.executable, "-u", "-m", "eosctl", "logs", "watch", str(path), "--from-start", "--all", "--jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watch:
        try:
            # Wait for the record's own row, not only for the previous one, which the new record completes.
            return list(_appended(path, lambda name: any(f"order {name} " in line for line in watch.stdout or ())))
        finally:
            watch.terminate()


def _streamed(folder: Path) -> list[float]:
    from spark_log_analytics.datasource import register

    logs, seen, arrived = folder / "logs", set[str](), threading.Condition()
    logs.mkdir()
    path = logs / "relay.log"
    path.write_text(RECORD.format(0, "first"))

    def remember(rows: DataFrame, _: int) -> None:
        found = {row["message"].split()[1] for row in rows.select("message").collect()}
        with arrived:
            seen.update(found)
            arrived.notify_all()

    def wait(name: str) -> bool:
        with arrived:
            return arrived.wait_for(lambda: name in seen, timeout=60)

    with session("benchmark", cores="2", streams=True) as spark:
        register(spark)
        stream = spark.readStream.format("eos_logs").option("idle_ms", "0").load(str(logs))
        query = stream.writeStream.foreachBatch(remember).option("checkpointLocation", str(folder / "checkpoint"))
        started = query.start()
        try:
            assert wait("first")
            return list(_appended(path, wait))
        finally:
            started.stop()


def _appended(path: Path, wait: Callable[[str], bool]) -> Iterator[float]:
    for number in range(APPENDS):
        time.sleep(0.5 + number % 7 / 20)  # Not in step with any interval.
        with path.open("a") as file:
            file.write(RECORD.format(number % 60, number))
        began = time.perf_counter()
        assert wait(str(number))
        yield time.perf_counter() - began


def size(sizes_gb: list[float]) -> None:
    """Measure the exceptions and the whole catalog by size."""
    for size_gb in sizes_gb:
        with tempfile.TemporaryDirectory() as folder, session("benchmark", cores="2") as spark:
            path = Path(folder) / "orders.log"
            traces = write_log(path, BLOCK_BYTES) * _repeat(path, round(size_gb * 1e9 / BLOCK_BYTES))
            sources, _ = plan_scan([path])
            for _ in range(2):  # The second run is warm.
                with _timed(f"{size_gb:g} GB, exceptions"):
                    assert sum(one.event_count for one in exceptions_on_spark(spark, sources)[0]) == traces
                with _timed(f"{size_gb:g} GB, whole catalog"):
                    assert scan_frame(spark, sources).where("exception is not null").count() == traces


def _repeat(path: Path, count: int) -> int:
    """Create a file of repeated content."""
    block = path.read_bytes()
    with path.open("ab") as file:
        for _ in range(count - 1):
            file.write(block)
    return count


@contextmanager
def _timed(what: str) -> Iterator[None]:
    before, began = _processor_s(), time.perf_counter()
    yield
    print(
        f"{what:<28} {time.perf_counter() - began:6.2f} s by the clock, {_processor_s() - before:6.2f} s of processor",
        flush=True,
    )


def _processor_s() -> float:
    """Return the processor time of this process and its children, including ended workers."""
    here = psutil.Process()
    return sum(sum(one.cpu_times()[:4]) for one in (here, *here.children(recursive=True)))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["pairs"]:
            pairs()
        case ["delay"]:
            delay()
        case ["size", *numbers]:
            size([float(number) for number in numbers] or [0.25, 1, 4])
        case _:
            sys.exit(__doc__)
