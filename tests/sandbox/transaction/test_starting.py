"""A starting broker replays its former leaderships; coordinators are notified only of the last one."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.sandbox.coordinator.group.coordinator import GroupCoordinator
from eosctl.sandbox.coordinator.transaction import state_manager
from eosctl.sandbox.coordinator.transaction.coordinator import TransactionCoordinator
from eosctl.sandbox.core import ClusterShape
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from tests.sandbox.harness import Harness


@pytest.mark.parametrize("clean", [False, True])
def test_a_log_is_loaded_once_however_many_epochs_there_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean: bool
) -> None:
    settings = {"transaction.state.log.num.partitions": "2", "offsets.topic.num.partitions": "1"}
    harness = Harness(tmp_path, ClusterShape(settings=settings))
    request = InitProducerIdRequest("app", 60_000)

    def epoch() -> int:
        while (answer := harness.request(1, ApiKey.INIT_PRODUCER_ID, 4, request)).error_code:
            assert answer.error_code in (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)
            harness.advance(10)
        return int(answer.producer_epoch)

    while harness.request(1, ApiKey.FIND_COORDINATOR, 3, _find("app", 1)).error_code:
        harness.advance(100)
    while harness.request(1, ApiKey.FIND_COORDINATOR, 3, _find("readers", 0)).error_code:
        harness.advance(100)
    assert epoch() == 0
    elections: list[tuple[str, int]] = []
    for kind in (TransactionCoordinator, GroupCoordinator):
        begin = kind.become_leader

        def heard(self: object, index: int, epoch: int, begin: object = begin, name: str = kind.__name__) -> None:
            elections.append((name, index))
            begin(self, index, epoch)  # type: ignore[operator]

        monkeypatch.setattr(kind, "become_leader", heard)
    for times in range(1, 4):
        elections.clear()
        (harness.stop if clean else harness.kill)(1)
        harness.restart(1)
        assert epoch() == times
        expected = [("GroupCoordinator", 0), ("TransactionCoordinator", 0), ("TransactionCoordinator", 1)]
        assert sorted(elections) == expected
    harness.close()


def test_a_load_takes_turns_and_ends_when_the_partition_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_manager, "LOAD_BATCHES_PER_TURN", 4)
    monkeypatch.setattr(state_manager, "LOAD_VALUES_PER_TURN", 3)
    harness = Harness(tmp_path, ClusterShape(settings={"transaction.state.log.num.partitions": "1"}))
    while harness.request(1, ApiKey.FIND_COORDINATOR, 3, _find("app-0", 1)).error_code:
        harness.advance(100)
    names = {f"app-{number}" for number in range(10)}
    for name in names:
        request = InitProducerIdRequest(name, 60_000)
        while harness.request(1, ApiKey.INIT_PRODUCER_ID, 4, request).error_code:
            harness.advance(10)
    states = harness.core.broker(1).transactions.states
    known = {cached for partition in states.loaded_partitions() for cached in partition.transactions}
    assert known == names
    states.resign(0, None)
    states.become_leader(0, 7)
    assert states.is_loading  # ten batches are more than a turn's
    harness.advance(1)
    (partition,) = states.loaded_partitions()
    assert set(partition.transactions) == names
    states.resign(0, None)
    states.become_leader(0, 8)
    states.resign(0, None)
    harness.advance(1)
    assert (states.loaded_partitions(), states.is_loading) == ([], False)
    harness.close()


def _find(key: str, kind: int) -> FindCoordinatorRequest:
    return FindCoordinatorRequest(key, kind)
