"""The scenarios do to real Kafka what they do to the sandbox."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.wire.error_codes import ErrorCode
from tests.lab.scenarios.observer import look, stage_at
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import ScenarioRefused
from tests.lab.scenarios.stage.zombie import run_zombie


def test_a_zombie_is_fenced_and_what_it_left_open_is_aborted(apache: ApacheNodes) -> None:
    async def scenario() -> None:
        report = await run_zombie(stage_at(apache.bootstrap, []), topic="zombie-payments")
        sight = await look(apache.bootstrap, report.partition, report.transactional_id)
        assert report.successor.producer_epoch == report.zombie.producer_epoch + 2
        assert [refusal.error for refusal in report.refusals] == [
            ErrorCode.INVALID_PRODUCER_EPOCH,
            ErrorCode.PRODUCER_FENCED,
        ]
        lost = range(report.aborted_first_offset, report.aborted_first_offset + report.aborted_record_count)
        assert not set(lost) & set(sight.committed)
        assert report.committed_offset in sight.committed
        assert sight.open_transactions == {}

    asyncio.run(scenario())


def test_a_late_batch_hangs_without_verification(apache: ApacheNodes, partition_verification_off: Any) -> None:
    async def scenario() -> None:
        report = await run_hanging(stage_at(apache.bootstrap, []), topic="hanging-orders", patience_ms=10_000)
        sight = await look(apache.bootstrap, report.partition, report.transactional_id)
        assert sight.open_transactions == {report.producer.producer_id: report.first_offset}
        assert (sight.state, sight.transaction_partitions) == ("CompleteCommit", ())
        assert report.last_stable_offset == report.first_offset
        assert all(offset < report.first_offset for offset in sight.committed)

    with partition_verification_off(apache):
        asyncio.run(scenario())


def test_a_broker_that_verifies_prevents_the_hang(apache: ApacheNodes) -> None:
    with pytest.raises(ScenarioRefused, match="refused the late batch"):
        asyncio.run(run_hanging(stage_at(apache.bootstrap, []), topic="verified-orders"))
