"""Measure whether the cost of a job per GB of log is flat.

    python -m benchmarks.log_sizes RESULT.json 1 2 4 8

Runs the program that ``eosctl logs submit`` submits on logs of these sizes in GB, in a session on two local cores,
after a small one. The log repeats 250 MB of an application's log with a stack trace every 400 records. A log of 0.05 GB
that repeats the recorded scenarios shows what many events cost. The cost of reading is that of the table ``tasks``;
processor time is that of the driver, Spark's JVM, and the Python workers.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks.log_judge import CORES, SCENARIOS, ProcessorTime
from benchmarks.log_whole import write
from spark_log_analytics.main import main
from spark_log_analytics.results import open_result
from spark_log_analytics.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WARM_GB: Final = 0.25
DENSE_GB: Final = 0.05
_TASKS: Final = (
    "SELECT count(*) AS tasks, sum(input_bytes) AS input_bytes, sum(event_count) AS events, sum(cpu_s) AS cpu_s, "
    "max(cpu_s) AS longest_cpu_s, max(peak_mb) AS peak_mb FROM tasks WHERE stage = 'scan'"
)


def write_dense(folder: Path, size_gb: float) -> Path:
    """Write a log in which most records are events: the servers' logs of the recorded scenarios, again and again."""
    block = b"".join(log.read_bytes() for log in sorted(SCENARIOS.glob("*/**/server.log")))
    path = folder / "server.log"
    path.write_bytes(block * max(1, round(size_gb * 1e9 / len(block))))
    return path


def measure(spark: SparkSession, size_gb: float, writer: Callable[[Path, float], Path] = write) -> dict[str, float]:
    """Run a job on a log of a size, and return its cost."""
    with TemporaryDirectory() as home:
        log, out = writer(Path(home), size_gb), Path(home, "result")
        processor = ProcessorTime()
        before_s, began = processor.spent_s(), time.perf_counter()
        processor.start()
        with redirect_stdout(StringIO()):
            assert main([str(log), "--out", str(out)]) == 0
        processor.stop()
        wall_s, cpu_s = time.perf_counter() - began, processor.spent_s() - before_s
        assert open_result(spark, str(out)) is not None
        read = spark.sql(_TASKS).collect()[0].asDict()
    size = read["input_bytes"] / 1e9
    return {
        "gb": round(size, 2),
        "wall_s": round(wall_s, 1),
        "cpu_s": round(cpu_s, 1),
        "cpu_s_per_gb": round(cpu_s / size, 2),
        "tasks": read["tasks"],
        "events": read["events"],
        "tasks_cpu_s_per_gb": round(read["cpu_s"] / size, 2),
        "longest_task_cpu_s": round(read["longest_cpu_s"], 2),
        "worker_peak_mb": round(read["peak_mb"]),
    }


def run(file: Path, sizes_gb: Sequence[float]) -> None:
    """Measure all sizes, and write the result after each."""
    found = []
    load = round(os.getloadavg()[0], 1)
    with session("benchmark", cores=CORES) as spark:
        measure(spark, WARM_GB)
        dense = measure(spark, DENSE_GB, write_dense)
        print(f"many events: {dense}", flush=True)
        for size_gb in sizes_gb:
            found.append(measure(spark, size_gb))
            print(", ".join(f"{name} {value:,}" for name, value in found[-1].items()), flush=True)
            file.write_text(json.dumps({"load_before": load, "dense": dense, "sizes": found}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case [name, *sizes] if sizes:
            run(Path(name), [float(size) for size in sizes])
        case _:
            sys.exit(__doc__)
