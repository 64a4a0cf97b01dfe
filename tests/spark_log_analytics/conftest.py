"""One local Spark session for all tests of a process; warnings of Spark's own code are ignored."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

ADAPTIVE = "spark.sql.adaptive.enabled"
#: To adapt plans and to compile code for them takes two fifths of a small job, so only some tests do.
OF_TESTS = {ADAPTIVE: "false", "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
OF_USERS = {ADAPTIVE: "true", "spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
WARNINGS = (
    *("DeprecationWarning", "FutureWarning", "UserWarning"),
    # Sockets that Spark leaves to the garbage collector, which runs in any test.
    *("ResourceWarning", "pytest.PytestUnraisableExceptionWarning"),
)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Ignore warnings of Spark's own code and its workers in these tests."""
    if item.get_closest_marker("spark") is not None:
        item.add_marker(pytest.mark.filterwarnings(*(f"ignore::{name}" for name in WARNINGS)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that need Spark first, one after the other: one worker of a parallel run starts it, not all."""
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    if shutil.which("java") is None:
        pytest.skip("java is missing (Debian: default-jre-headless)")
    from spark_log_analytics.session import session

    with session("eosctl tests", cores="2", settings=OF_TESTS) as made:
        yield made


@contextmanager
def adaptive(spark: Any) -> Iterator[None]:
    """Let Spark compile its plans and adapt them while it runs them, as it does for users."""
    for name, value in OF_USERS.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in OF_TESTS.items():
            spark.conf.set(name, value)
