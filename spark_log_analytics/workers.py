"""What Spark's Python workers do once: each serves many tasks of an application."""

from __future__ import annotations

import gc
from functools import cache


@cache
def keep_loaded() -> None:
    """Keep the collector from looking again at what has been loaded so far.

    To be called at the end of a first task, when Spark's own modules have been loaded, too: PySpark collects garbage
    after each task (``daemon.py``), which takes 20 to 40 ms where every module's objects are looked at.
    """
    gc.freeze()
