"""Prepare Spark's Python workers once, because each serves many tasks of an application."""

from __future__ import annotations

import gc
from functools import cache


@cache
def keep_loaded() -> None:
    """Exclude all loaded objects from garbage collection.

    Call it at the end of the first task, when Spark's own modules have been loaded, too. PySpark collects garbage after
    each task (``daemon.py``), which takes 20 to 40 ms if it visits the objects of every module.
    """
    gc.freeze()
