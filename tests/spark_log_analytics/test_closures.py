"""What goes to every task of Spark stays small, also with many files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eosctl.logs.scan import summarize
from spark_log_analytics.job import Reading, pack_splits, plan_reading
from spark_log_analytics.packed_sources import PackedSources

pytest.importorskip("pyspark", reason="the spark extra is not installed")

LINE = "[2026-11-21 09:30:06,000] INFO [Partition orders-{} broker=1] Log loaded (kafka.cluster.Partition)\n"
LARGEST_BYTES = 4_000_000
"""For 10,000 files; each task of the judge got 21 MB of them."""


def size_of(function: Any) -> int:
    from pyspark import cloudpickle

    return len(cloudpickle.dumps(function))


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    """Return one hundred files, a hundred times each, under different names."""
    folder = tmp_path_factory.mktemp("logs")
    for number in range(100):
        place = Path(folder, f"app-{number}")
        place.mkdir()
        (place / "server.log").write_text("".join(LINE.format(number * 30 + line) for line in range(30)))
    few = plan_reading([folder])
    sources = [one._replace(name=f"{one.name}.{copy}") for copy in range(100) for one in few.sources]
    return few._replace(sources=tuple(sources))


def test_tasks_that_read_do_not_get_all_files(reading: Reading) -> None:
    from spark_log_analytics.job import _row_scanner
    from spark_log_analytics.split_rows import shapes_of

    assert len(reading.sources) == 10_000
    assert size_of(_row_scanner(shapes_of(pack_splits(reading.sources)))) < 10_000


def test_tasks_that_judge_get_the_files_compressed(reading: Reading) -> None:
    from spark_log_analytics.incidents import _judge_all

    summaries = [summarize(source, []) for source in reading.sources]
    assert sum(len(one.beginning) for one in summaries) > 5 * LARGEST_BYTES
    assert size_of(_judge_all(summaries)) < LARGEST_BYTES
    packed = PackedSources(summaries)
    assert packed.unpack() == tuple(summaries)
    assert packed.size_bytes < LARGEST_BYTES
