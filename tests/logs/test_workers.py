"""Spark's Python workers: tasks that hold many events let Python collect garbage rarely."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import partial

import pytest

pytest.importorskip("pyarrow")

from spark_log_analytics import dividing, incidents, job, slices
from spark_log_analytics.workers import ALLOCATIONS_PER_COLLECTION, collect_rarely


@pytest.fixture(autouse=True)
def threshold() -> Iterator[None]:
    before = gc.get_threshold()
    collect_rarely.cache_clear()
    yield
    gc.set_threshold(*before)
    collect_rarely.cache_clear()


@pytest.mark.parametrize(
    "task",
    [
        job._scanner_of(()),
        partial(dividing.divide_batches, sources=(), slices=()),
        slices._chooser(()),
        incidents._judge((), (), None),
        incidents._judge_all(()),
    ],
    ids=["scan", "divide", "choose", "judge a slice", "judge all"],
)
def test_a_task_collects_garbage_rarely(task: Callable[[Iterator[object]], Iterator[object]]) -> None:
    gc.set_threshold(700)
    assert list(task(iter(()))) == []
    assert gc.get_threshold()[0] == ALLOCATIONS_PER_COLLECTION
