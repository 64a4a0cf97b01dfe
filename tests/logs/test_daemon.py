"""Workers of a local session import the pyspark that is installed, and never one of another release."""

from __future__ import annotations

from spark_log_analytics.daemon import without_archive

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
