"""Measure what the tasks of a job cost, where they run; the rows of the table ``tasks``."""

from __future__ import annotations

import os
import resource
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

    from spark_log_analytics.incidents import SliceCost
    from spark_log_analytics.rows import CountedSplit

COST_COLUMNS: Final = "struct<task:long,host:string,cpu_s:double,wall_s:double,peak_mb:double>"
SCAN: Final = "scan"
JUDGE: Final = "judge"


class TaskCost(NamedTuple):
    """The cost of a part of a task.

    Attributes:
        task: The number that Spark gives to the task, in all of its application.
        host: The machine.
        cpu_s: The processor time of the Python worker, s.
        wall_s: The time by the clock, s.
        peak_mb: The most memory of the worker until then, MB.
    """

    task: int
    host: str
    cpu_s: float
    wall_s: float
    peak_mb: float


class TaskClock:
    """Measures the parts of a task one after the other."""

    def __init__(self) -> None:
        self._task = task_number()
        self._cpu_s, self._wall_s = time.process_time(), time.perf_counter()

    def lap(self) -> TaskCost:
        """Return the cost since the last part."""
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cost = TaskCost(self._task, os.uname().nodename, cpu_s - self._cpu_s, wall_s - self._wall_s, peak_mb)
        self._cpu_s, self._wall_s = cpu_s, wall_s
        return cost


def task_number() -> int:
    """Return the number of the task that this process runs; 0 outside of Spark's tasks."""
    try:
        from pyspark import TaskContext
    except ImportError:
        return 0
    context = TaskContext.get()
    return 0 if context is None else context.taskAttemptId()


def cost_type() -> pa.DataType:
    """Return the Arrow form of a cost."""
    import pyarrow as pa

    numbers = [(name, pa.float64()) for name in ("cpu_s", "wall_s", "peak_mb")]
    return pa.struct([("task", pa.int64()), ("host", pa.string()), *numbers])


def task_rows(splits: Iterable[CountedSplit], slices: Sequence[SliceCost]) -> list[Mapping[str, Any]]:
    """Return a row for each task that scanned, and for each slice that was judged, without the run."""
    by_task: dict[int, list[CountedSplit]] = defaultdict(list)
    for split in splits:
        if split.cost is not None:
            by_task[split.cost.task].append(split)
    return [
        *(_scanned(task, own) for task, own in sorted(by_task.items())),
        *(_judged(number, cost) for number, cost in enumerate(slices)),
    ]


def _scanned(task: int, splits: Sequence[CountedSplit]) -> Mapping[str, Any]:
    costs = [split.cost for split in splits if split.cost is not None]
    return {
        "stage": SCAN,
        "task": task,
        "host": costs[0].host,
        "split_count": len(splits),
        "input_bytes": sum(split.counts.size_bytes for split in splits),
        "record_count": sum(split.counts.event_count for split in splits),
        "event_count": sum(split.kept_count for split in splits),
        "cpu_s": sum(cost.cpu_s for cost in costs),
        "wall_s": sum(cost.wall_s for cost in costs),
        "peak_mb": max(cost.peak_mb for cost in costs),
    }


def _judged(number: int, cost: SliceCost) -> Mapping[str, Any]:
    names = ("event_count", "incident_count", "cpu_s", "peak_mb")
    return {"stage": JUDGE, "task": number, **{name: getattr(cost, name) for name in names}}
