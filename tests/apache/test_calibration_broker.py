"""The cost of transactions in a real broker matches the capacity plans."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from benchmarks.calibrating.broker import measure_broker
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.capacity_plan import Unit
from eosctl.services.callbacks import system_now_ms

#: Processor time and loads depend on what else the machine does: only the proof asks for them.
TIMES = "EOSCTL_CALIBRATE_TIMES" in os.environ


@pytest.mark.parametrize("release", ["3.9.2", "4.4.0"] if TIMES else ["4.4.0"])
def test_heap_snapshots_and_threads_lie_where_plans_say(
    release: str, apache_running: Callable[..., AbstractContextManager[ApacheNodes]], tmp_path: Path
) -> None:
    counts = (
        {"open_count": 3_000, "transaction_count": 9_000} if TIMES else {"open_count": 2_000, "transaction_count": 200}
    )
    options = {"heap_bytes": 1 << 30, "jvm_options": ("-XX:+UseG1GC",)}
    with apache_running(release, tmp_path / "kafka", **options) as engine:
        rows = asyncio.run(measure_broker(engine, system_now_ms, **counts))
    assert len(rows) == 6
    assert all(row.measured > 0 for row in rows)
    assert [row for row in rows if not row.holds and (TIMES or row.unit is not Unit.MILLISECONDS)] == []
