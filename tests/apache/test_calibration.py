"""What capacity formulas predict, real Kafka writes."""

from __future__ import annotations

import asyncio
import random
import time

import pytest

from eosctl.client import connect
from eosctl.lab.apache.engine import ApacheEngine
from eosctl.lab.calibration import (
    Bench,
    Level,
    compare_visibility,
    find_level,
    measure_visibility,
    run_trial,
    trials_for,
)
from eosctl.model.calibration import CalibrationRow
from eosctl.model.client_config import ClientConfig
from eosctl.settings.endpoints import parse_endpoints

#: The end of a transaction and the fetch, on loopback and one replica.
FIXED_MS = 5.0


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.mark.parametrize("index", range(6))
def test_counts_and_bytes_are_predicted(apache: ApacheEngine, index: int) -> None:
    async def run() -> tuple[CalibrationRow, ...]:
        async with connect(ClientConfig(parse_endpoints(apache.bootstrap, "test"))) as client:
            level = await find_level(client)
            assert level == (Level(3, 0) if "3.9" in apache.name else Level(4, 2))
            trials = trials_for(level)
            if index >= len(trials):
                return ()
            return await run_trial(Bench(client, now_ms), trials[index], level)

    assert [row for row in asyncio.run(run()) if not row.holds] == []


def test_waiting_for_commits_is_predicted(apache_4_3: ApacheEngine) -> None:
    async def run() -> tuple[float, ...]:
        config = ClientConfig(parse_endpoints(apache_4_3.bootstrap, "test"))
        async with connect(config) as client, connect(config) as reading:
            return await measure_visibility(
                Bench(client, now_ms), reading, "waits", random.Random(3), interval_ms=200, transaction_count=40
            )

    rows = compare_visibility(asyncio.run(run()), 200, FIXED_MS)
    assert [row for row in rows if not row.holds] == []
