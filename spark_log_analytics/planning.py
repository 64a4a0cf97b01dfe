"""Change how Spark plans some of a session's jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OF_FEW_EVENTS: Final = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}


@contextmanager
def changed_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session for the jobs that begin meanwhile."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, known in before.items():
            if known is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, known)


@contextmanager
def planned_once(spark: SparkSession, *, is_small: bool) -> Iterator[None]:
    """Plan the jobs of few events once, each for one task; with many events, leave the session as it is.

    To adapt a plan, Spark runs a job for each of its stages. That takes longer than to compute a small table.
    """
    with changed_settings(spark, _OF_FEW_EVENTS if is_small else {}):
        yield
