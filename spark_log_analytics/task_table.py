"""The rows of the table ``tasks``: what reading and judging a job's logs cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spark_log_analytics.incidents import SliceCost
from spark_log_analytics.rows import CountedSplit

SCAN: Final = "scan"
JUDGE: Final = "judge"


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
