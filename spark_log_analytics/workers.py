"""Prepare Spark's Python workers once, because each serves many tasks of an application."""

from __future__ import annotations

import gc
from functools import cache
from typing import Final

ALLOCATIONS_PER_COLLECTION: Final = 100_000


@cache
def collect_rarely() -> None:
    """Let Python search for garbage less often; call it at the start of a task.

    Events and incidents have no cycles. With Python's default of 700 allocations, the collector visits those that a
    task has collected again and again, which takes longer than to judge them.
    """
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)


@cache
def keep_loaded() -> None:
    """Exclude all loaded objects from garbage collection.

    Call it at the end of the first task, when Spark's own modules have been loaded, too. PySpark collects garbage after
    each task (``daemon.py``), which takes 20 to 40 ms if it visits the objects of every module.
    """
    gc.freeze()
