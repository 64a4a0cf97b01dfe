"""Measure the steps of a small job on a local Spark: where its fixed cost is.

    python -m benchmarks.log_steps tests/fixtures/logs/second-producer-392/relay-a.log

Runs the program that ``eosctl logs submit`` submits, in this process, and prints the time of each step by the clock and
of the processor: of Python's driver, of Spark's JVM, and of the Python workers. With ``eosctl logs warmup`` before it,
the JVM starts from an archive of classes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import psutil  # type: ignore[import-untyped]

from spark_log_analytics import main as job
from spark_log_analytics.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEPS: Final = {
    "plan_reading": "list and inspect the files",
    "scan_frame": "plan the scan",
    "collect_counts": "scan",
    "whole_rows": "number the lines",
    "in_one_task": "plan the cache of events",
    "judge_events": "plan the verdict",
    "save": "judge, and write the tables",
}


class Spent(NamedTuple):
    """A moment, and the processor time until then, s."""

    clock_s: float
    driver_s: float
    jvm_s: float
    workers_s: float


def spent() -> Spent:
    """Return the time of this process and its children so far; that of children that ended is lost."""
    here = psutil.Process()
    jvm_s = workers_s = 0.0
    for one in here.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            if one.name() == "java":
                jvm_s += times.user + times.system
            else:
                workers_s += times.user + times.system
    own = here.cpu_times()
    return Spent(time.perf_counter(), own.user + own.system, jvm_s, workers_s)


class Steps:
    """Prints what each step took since the one before."""

    def __init__(self) -> None:
        self._last = spent()

    def end(self, what: str) -> None:
        """Print the step that ends now."""
        now = spent()
        took = [f"{now_s - before_s:8.2f}" for now_s, before_s in zip(now, self._last, strict=True)]
        print(f"{what:32}{''.join(took)}", flush=True)
        self._last = now

    def around(self, function: Callable[..., Any], what: str) -> Callable[..., Any]:
        """Return a function that ends a step."""

        def measured(*values: Any, **named: Any) -> Any:
            result = function(*values, **named)
            self.end(what)
            return result

        return measured

    @contextmanager
    def session(self, *values: Any, **named: Any) -> Iterator[SparkSession]:
        """Yield the session of the job."""
        with session(*values, **named) as opened:
            self.end("start the JVM and the session")
            yield opened
        self.end("stop the session")


def measure(paths: list[str]) -> int:
    """Run the job; return its exit status."""
    print(f"{'STEP':32}{'CLOCK':>8}{'DRIVER':>8}{'JVM':>8}{'WORKERS':>8}")
    steps = Steps()
    for name, what in STEPS.items():
        vars(job)[name] = steps.around(vars(job)[name], what)
    vars(job)["session"] = steps.session
    with TemporaryDirectory() as folder:
        return job.main([*paths, "--out", str(Path(folder, "out"))])


if __name__ == "__main__":
    sys.exit(measure(sys.argv[1:]) if sys.argv[1:] else __doc__)
