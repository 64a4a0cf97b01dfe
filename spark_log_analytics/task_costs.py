"""Measure what the tasks of a job cost, where they run."""

from __future__ import annotations

import os
import resource
import time
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

COST_COLUMNS: Final = "struct<task:long,host:string,cpu_s:double,wall_s:double,peak_mb:double>"


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
