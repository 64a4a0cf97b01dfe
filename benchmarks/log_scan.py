"""Measure reading logs, with eosctl and other programs on the same file.

    python -m benchmarks.log_scan [MEGABYTES [spark]]

The file is an application's log in logback's layout; every 400th record carries a stack trace. All rows count
exceptions by minute, class, and root class, except `wc` and `grep`, which are the floor, and `whole catalogue`,
which does more. `spark` adds the same scan on two local cores, with a pipeline of Spark's own functions for
comparison. Figures are MB/s by wall time and by processor time, the best of three rounds. Results that should agree
are compared.
"""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from eosctl.logs.files.sources import SourceFile
from eosctl.logs.scan import plan_scan, plan_splits, scan_paths
from eosctl.logs.traces import count_exceptions, merge_counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = 3
TRACE_EVERY = 400
COUNT_CLASSES = r"""
function flush() { if (first != "") count[minute " " first " " root]++; first = root = "" }
/^[0-9]/ { flush(); minute = substr($0, 1, 16); next }
/^[a-z][A-Za-z.]*(Exception|Error)/ { split($1, part, ":"); first = root = part[1]; next }
/^Caused by: / { split($3, part, ":"); root = part[1] }
END { flush(); for (one in count) print one, count[one] }
"""
"""The same count in awk, line by line."""
REQUESTS = (
    "handled request {0} in {1} ms for customer {2}",
    "order {0} accepted, {1} lines, total {2}",
    "GET /api/v1/orders/{0} 200 {1} bytes trace {2}",
)


class Measured(NamedTuple):
    """The best of several rounds: wall-clock and processor time, in seconds."""

    wall_s: float
    processor_s: float


def write_log(path: Path, size_bytes: int) -> int:
    """Write a log with a stack trace in every 400th record; return their number."""
    chance = random.Random(17)
    written = traces = ms = 0
    with path.open("w", encoding="utf-8") as file:
        while written < size_bytes:
            ms += chance.randrange(4)
            seconds = ms // 1000
            stamp = f"2026-11-21 {seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{ms % 1000:03d}"
            number = chance.randrange(10**6)
            text = REQUESTS[number % 3].format(number, number % 5000, number * 7)
            line = (
                f"{stamp} INFO  [worker-{number % 16}] com.example.shop.OrderService - {text} {'x' * (number % 90)}\n"
            )
            if number % TRACE_EVERY == 0:
                traces += 1
                frames = "".join(
                    f"\tat com.example.shop.Step{step}.run(Step{step}.java:{step})\n" for step in range(14)
                )
                line = (
                    f"{stamp} ERROR [worker-{number % 16}] com.example.shop.OrderService - order {number} failed\n"
                    f"org.apache.kafka.common.KafkaException: Cannot execute transactional method\n{frames}"
                    "Caused by: org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer\n"
                    f"{frames}"
                )
            file.write(line)
            written += len(line)
    return traces


def measure(work: Callable[[], object]) -> Measured:
    """Measure work, including its child processes."""
    rounds = []
    for _ in range(ROUNDS):
        before, began = _processor_s(), time.perf_counter()
        work()
        rounds.append(Measured(time.perf_counter() - began, _processor_s() - before))
    return Measured(min(one.wall_s for one in rounds), min(one.processor_s for one in rounds))


def _processor_s() -> float:
    kinds = (resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in kinds)


def count_here(sources: tuple[SourceFile, ...]) -> int:
    """Count exceptions in this process."""
    parts = (one for source in sources for split in plan_splits(source) for one in count_exceptions(split).counts)
    return sum(one.event_count for one in merge_counts(parts))


def programs(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the programs that are installed."""
    for name, command in (
        ("wc -l", ["wc", "-l", str(path)]),
        ("ripgrep, lines with Exception", ["rg", "-c", "Exception", str(path)]),
        ("grep, lines with Exception", ["grep", "-c", "Exception", str(path)]),
        ("mawk, the same count", ["mawk", COUNT_CLASSES, str(path)]),
    ):
        if shutil.which(command[0]):
            yield name, command


def count_natively(spark: SparkSession, path: Path) -> int:
    """Count with Spark's own functions: filter frames and ordinary headers first, and order the rest by position."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    lines = spark.read.text(str(path)).select(
        "value", f.col("_metadata.file_path").alias("file"), f.col("_metadata.file_block_start").alias("block")
    )
    kept = lines.where(~f.col("value").startswith("\t") & ~f.col("value").contains(" INFO  ["))
    placed = kept.withColumn("place", f.monotonically_increasing_id())
    in_order = Window.partitionBy("file").orderBy("block", "place")
    header = f.col("value").rlike("^[0-9]{4}-")
    event = f.sum(header.cast("int")).over(in_order)
    found = (
        placed.select(event.alias("event"), "value", header.alias("is_header"))
        .groupBy("event")
        .agg(
            f.min(f.when(f.col("is_header"), f.substring("value", 1, 16))).alias("minute"),
            f.min(f.when(f.col("value").rlike("^[a-z]"), f.substring_index("value", ":", 1))).alias("class"),
            f.max(f.when(f.col("value").startswith("Caused by: "), f.split("value", "[: ]+")[2])).alias("root"),
        )
    )
    rows = found.where("class is not null").groupBy("minute", "class", "root").count().collect()
    return sum(row["count"] for row in rows)


def on_spark(path: Path, sources: tuple[SourceFile, ...], traces: int) -> Iterator[tuple[str, Measured]]:
    """Yield the duration with local Spark, warm, on two cores."""
    from pyspark.sql import functions as f

    from spark_log_analytics.job import scan_frame
    from spark_log_analytics.session import session
    from spark_log_analytics.trace_job import exceptions_on_spark

    def counted(spark: SparkSession) -> None:
        assert sum(one.event_count for one in exceptions_on_spark(spark, sources)[0]) == traces

    def catalogued(spark: SparkSession) -> None:
        assert scan_frame(spark, sources).where(f.col("exception").isNotNull()).count() == traces

    def native(spark: SparkSession) -> None:
        assert count_natively(spark, path) == traces

    with session("benchmark", cores="2") as spark:
        for name, work in (
            ("Spark, exceptions", counted),
            ("Spark, whole catalog", catalogued),
            ("Spark's own functions, the same count", native),
        ):
            work(spark)
            yield name, measure(lambda work=work: work(spark))


def main(size_mb: int, with_spark: bool) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.log"
        traces = write_log(path, size_mb * 1_000_000)
        size_mb_exact = path.stat().st_size / 1e6
        sources, _ = plan_scan([path])
        scan = scan_paths([path])
        assert count_here(sources) == traces
        assert Counter(event.exception is not None for event in scan.events)[True] == traces
        print(
            f"{time.strftime('%Y-%m-%d')}: {size_mb_exact:.0f} MB, {scan.sources[0].event_count} records, "
            f"{traces} exceptions; MB/s by the clock and by processor time"
        )
        for name, one in _rows(path, sources, traces, with_spark):
            # Spark's JVM is not among the waited-for child processes.
            cpu = "" if name.startswith("Spark") else f"{size_mb_exact / one.processor_s:>8.0f}"
            print(f"{name:<40} {size_mb_exact / one.wall_s:>8.0f} {cpu}", flush=True)


def _rows(path: Path, sources: tuple[SourceFile, ...], traces: int, with_spark: bool) -> Iterator[tuple[str, Measured]]:
    yield "eosctl, exceptions, one process", measure(lambda: count_here(sources))
    yield "eosctl, whole catalog, one process", measure(lambda: scan_paths([path]))
    for name, command in programs(path):
        run = lambda command=command: subprocess.run(command, check=True, capture_output=True)  # noqa: E731
        yield name, measure(run)
    if with_spark:
        yield from on_spark(path, sources, traces)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, "spark" in sys.argv[2:])
