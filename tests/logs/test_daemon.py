"""Workers of a local session import the installed pyspark, never another release's, and exit silently."""

from __future__ import annotations

import pytest

from spark_log_analytics.daemon import without_archive, without_broken_pipe

PLACE = "/venv/lib/python3.11/site-packages"
ARCHIVE = f"{PLACE}/pyspark/python/lib/pyspark.zip"
GATEWAY = f"{PLACE}/pyspark/python/lib/py4j-0.10.9.9-src.zip"


def test_the_archive_of_the_installed_package_is_left_out() -> None:
    assert without_archive([ARCHIVE, GATEWAY, "/code", PLACE]) == [GATEWAY, "/code", PLACE]


def test_the_archive_of_another_spark_stays() -> None:
    other = ["/opt/spark/python/lib/pyspark.zip", GATEWAY, PLACE]
    assert without_archive(other) == other
    elsewhere = [ARCHIVE, "/other/site-packages"]
    assert without_archive(elsewhere) == elsewhere


def test_a_worker_is_silent_only_if_its_driver_is_gone() -> None:
    def worker(ends_with: BaseException | int) -> int:
        if isinstance(ends_with, BaseException):
            raise ends_with
        return ends_with

    quiet = without_broken_pipe(worker)
    assert [quiet(0), quiet(3), quiet(BrokenPipeError())] == [0, 3, 1]
    with pytest.raises(OSError, match="no space"):
        quiet(OSError("no space"))
