"""The data source of notebooks numbers lines without reading a part of a file again for each split."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.logs.files.content import count_newlines
from eosctl.logs.scan import scan_paths

pytest.importorskip("pyspark", reason="the spark extra is not installed")

SERVER_LOG = Path(__file__).parents[1] / "fixtures" / "logs" / "rolling-restart-392" / "broker-3" / "server.log"
SPLIT_BYTES = 20_000


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Path, int, int]]]:
    """Yield the ranges of bytes in which line breaks are counted."""
    from spark_log_analytics import datasource

    ranges: list[tuple[Path, int, int]] = []

    def count(path: Path, start: int, stop: int) -> int:
        ranges.append((path, start, stop))
        return count_newlines(path, start, stop)

    monkeypatch.setattr(datasource, "count_newlines", count)
    yield ranges


def test_each_byte_is_counted_once(counted: list[tuple[Path, int, int]]) -> None:
    from spark_log_analytics.datasource import LogsDataSource
    from spark_log_analytics.rows import events_of

    reader: Any = LogsDataSource({"path": str(SERVER_LOG), "split_bytes": str(SPLIT_BYTES)}).reader(None)
    bins = reader.partitions()
    found = [event for one in bins for batch in reader.read(one) for event in events_of(batch)]
    assert tuple(sorted(found, key=lambda event: event.offset)) == scan_paths([SERVER_LOG]).events
    assert len(counted) > 10
    assert sum(stop - start for _, start, stop in counted) <= SERVER_LOG.stat().st_size
