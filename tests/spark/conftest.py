"""One local Spark session for all tests of a process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    from spark_log_analytics.session import session

    with session("eosctl tests", cores="2") as made:
        yield made
