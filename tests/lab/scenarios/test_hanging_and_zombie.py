"""A hanging transaction and a zombie on the sandbox; ``tests/apache/test_scenarios.py`` plays them on real Kafka."""

from __future__ import annotations

import asyncio

import pytest

from eosctl.client.transactions import TV1, TV2
from eosctl.lab.scenarios.steps.play import Step
from eosctl.sandbox.cluster import EmbeddedCluster
from eosctl.wire.error_codes import ErrorCode
from tests.lab.scenarios.observer import look, stage_at
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import ScenarioRefused
from tests.lab.scenarios.stage.verification import VERIFICATION_SETTING
from tests.lab.scenarios.stage.zombie import run_zombie

CLUSTERS = [(1, "4.3", 2), (3, "4.3", 1), (3, "3.9", None)]


@pytest.mark.parametrize(("brokers", "emulate", "transaction_version"), CLUSTERS)
def test_a_zombie_is_fenced_and_what_it_left_open_is_aborted(
    brokers: int, emulate: str, transaction_version: int | None
) -> None:
    async def scenario() -> None:
        steps: list[Step] = []
        async with EmbeddedCluster(
            brokers=brokers, emulate=emulate, transaction_version=transaction_version
        ) as cluster:
            report = await run_zombie(stage_at(cluster.bootstrap, steps))
            sight = await look(cluster.bootstrap, report.partition, report.transactional_id)
        assert tuple(steps) == report.steps
        assert report.zombie.producer_id == report.successor.producer_id
        assert report.successor.producer_epoch == report.zombie.producer_epoch + 2  # the fence, and the takeover
        assert [refusal.error for refusal in report.refusals] == [
            ErrorCode.INVALID_PRODUCER_EPOCH,
            ErrorCode.PRODUCER_FENCED,
        ]
        lost = range(report.aborted_first_offset, report.aborted_first_offset + report.aborted_record_count)
        assert not set(lost) & set(sight.committed)
        assert set(lost) <= set(sight.everything)
        assert report.committed_offset in sight.committed
        assert sight.open_transactions == {}
        assert sight.state == "CompleteCommit"

    asyncio.run(scenario())


def test_zombies_are_fenced_at_tv2_as_well() -> None:
    async def scenario() -> None:
        async with EmbeddedCluster(transaction_version=2) as cluster:
            report = await run_zombie(stage_at(cluster.bootstrap, []), dialect=TV2)
        assert report.refusals[1].error is ErrorCode.PRODUCER_FENCED
        assert report.successor.producer_epoch > report.zombie.producer_epoch

    asyncio.run(scenario())


@pytest.mark.parametrize(("brokers", "emulate", "transaction_version"), CLUSTERS)
def test_a_late_batch_hangs_without_verification(brokers: int, emulate: str, transaction_version: int | None) -> None:
    async def scenario() -> None:
        steps: list[Step] = []
        async with EmbeddedCluster(
            brokers=brokers,
            emulate=emulate,
            transaction_version=transaction_version,
            config={VERIFICATION_SETTING: "false"},
        ) as cluster:
            report = await run_hanging(stage_at(cluster.bootstrap, steps), late_record_count=2, hidden_record_count=4)
            sight = await look(cluster.bootstrap, report.partition, report.transactional_id)
        assert tuple(steps) == report.steps
        assert sight.open_transactions == {report.producer.producer_id: report.first_offset}
        assert (sight.state, sight.transaction_partitions) == ("CompleteCommit", ())
        assert report.last_stable_offset == report.first_offset
        assert all(offset < report.first_offset for offset in sight.committed)
        behind = [offset for offset in sight.everything if offset >= report.first_offset]
        assert len(behind) == 2 + 4
        assert report.high_watermark == report.first_offset + 2 + 2 * 4  # every hidden record has a marker

    asyncio.run(scenario())


def test_verification_prevents_the_hang_and_the_error_explains() -> None:
    async def scenario() -> None:
        async with EmbeddedCluster() as cluster:
            with pytest.raises(ScenarioRefused, match="refused the late batch") as refused:
                await run_hanging(stage_at(cluster.bootstrap, []))
            assert f"{VERIFICATION_SETTING}=false" in refused.value.next_step
            assert cluster.bootstrap in refused.value.next_step
            report = await run_hanging(stage_at(cluster.bootstrap, []), switch_verification_off=True)
            assert report.last_stable_offset == report.first_offset

    asyncio.run(scenario())


def test_a_scenario_can_be_played_again() -> None:
    async def scenario() -> None:
        async with EmbeddedCluster(config={VERIFICATION_SETTING: "false"}) as cluster:
            for seed in range(3):
                report = await run_hanging(stage_at(cluster.bootstrap, [], seed))
                assert report.last_stable_offset <= report.first_offset
                await run_zombie(stage_at(cluster.bootstrap, [], seed), dialect=TV1)

    asyncio.run(scenario())
