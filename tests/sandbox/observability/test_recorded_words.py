"""The sandbox's log lines against those that real brokers of both releases wrote: every character but the time."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, ClassicState, Member, MemberProtocol
from eosctl.sandbox.coordinator.transaction.metadata import TransactionMetadata
from eosctl.sandbox.log.leader_epochs import LeaderEpochs
from eosctl.sandbox.log.partition_log import PartitionLog, log_config
from eosctl.sandbox.log.producer_state import ProducerStateManager
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.logging.append_events import AppendEvents, Refused
from eosctl.sandbox.logging.controller_events import ControllerEvents
from eosctl.sandbox.logging.group_events import GroupEvents
from eosctl.sandbox.logging.node_events import NodeEvents
from eosctl.sandbox.logging.replica_events import FormerRole, ReplicaEvents
from eosctl.sandbox.logging.storage_events import StorageEvents
from eosctl.sandbox.logging.transaction_events import TransactionEvents
from eosctl.sandbox.replication.partition import Partition, TopicTraffic
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.log import SegmentedLog
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.uuid import parse_uuid

RECORDED = Path(__file__).parents[2] / "fixtures" / "logs"
STAMP_CHARS = len("[2026-11-21 14:03:11,123] ")


class Lines:
    """Collects log lines, as in a file."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def write(self, logger: str, message: str, *, level: str = "INFO", throwable: str = "") -> None:
        self.said.append(f"{level} {message} ({logger})")
        if throwable:
            self.said.append(throwable)

    def close(self) -> None: ...


@cache
def recorded_lines(release: str) -> frozenset[str]:
    """Every line of the recorded brokers and controllers of a release, without its time."""
    found: set[str] = set()
    for path in RECORDED.glob(f"*-{'392' if release == '3.9' else '431'}/*-?/*.log*"):
        if "gc" in path.name:
            continue
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for line in text.decode().splitlines():
            found.add(line[STAMP_CHARS:] if line.startswith("[20") else line)
    assert found
    return frozenset(found)


def partition_of(
    folder: Path, name: str, index: int, *, topic_id: str = "AAAAAAAAAAAAAAAAAAAAAA", offset: int = 0, min_isr: int = 1
) -> Partition:
    settings = TopicSettings(min_insync_replicas=min_isr)
    store = SegmentedLog(folder, log_config(settings), Descriptors(), log_start_offset=offset, log_end_offset=offset)
    log = PartitionLog(TopicPartition(name, index), store, ProducerStateManager(), LeaderEpochs([]), settings, offset)
    return Partition(1, TopicPartition(name, index), parse_uuid(topic_id), log, TopicTraffic())


# --- transactions ---------------------------------------------------------------------------------------------------


def ledger(state: TransactionState = TransactionState.PREPARE_ABORT) -> TransactionMetadata:
    partitions = frozenset(TopicPartition("ledger-entries", index) for index in range(3))
    return TransactionMetadata(
        "ledger-writer-m-2", 3007, 0, 12_000, state, partitions, 1795254730731, 1795254741745, -1, 3007
    )


def transactions_3_9(events: Callable[[int], TransactionEvents]) -> None:
    events(1).initialized("payment-relay-m", 3006, 0, 6, ErrorCode.NONE)
    events(3).rolled_back("ledger-writer-m-2", ErrorCode.NONE)
    events(3).elected(11, 3)
    events(3).not_written(ledger(), ErrorCode.COORDINATOR_NOT_AVAILABLE)
    events(3).end_not_written(ledger(), 3, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    place = TopicPartition("ledger-entries", 0)
    events(3).marker_retried("ledger-writer-m-0", place, ErrorCode.REQUEST_TIMED_OUT, 3)
    consumer_offsets = TopicPartition("__consumer_offsets", 18)
    events(3).marker_retried("payment-relay-0", consumer_offsets, ErrorCode.NOT_LEADER_OR_FOLLOWER, 0)


def transactions_4_3(events: Callable[[int], TransactionEvents]) -> None:
    events(1).initialized("tariff-sync-c", 3003, 0, 2, ErrorCode.NONE)
    events(1).rolled_back("booking-journal-p-0", ErrorCode.NONE)
    events(1).end_refused("booking-journal-p-0", TransactionState.COMPLETE_ABORT, True)
    events(2).elected(10, 2)


@pytest.mark.parametrize(("release", "say"), [("3.9", transactions_3_9), ("4.3", transactions_4_3)])
def test_the_transaction_coordinator(release: str, say: Callable[[Callable[[int], TransactionEvents]], None]) -> None:
    lines = Lines()
    say(lambda broker_id: TransactionEvents(lines, broker_id, is_3_9=release == "3.9"))
    assert lines.said
    assert [line for line in lines.said if line not in recorded_lines(release)] == []


def test_the_line_about_a_loaded_partition_except_its_time() -> None:
    lines = Lines()
    TransactionEvents(lines, 3, is_3_9=True).loaded(11, 3, 1, 15)
    finished, completed = lines.said
    assert completed in recorded_lines("3.9")
    assert finished.replace("of which 0 ", "of which 4 ") in recorded_lines("3.9")
    TransactionEvents(lines, 1, is_3_9=False).resigned(10, 2, 0, 0)
    assert set(lines.said[-2:]) <= recorded_lines("4.3")


def test_what_a_release_does_not_say_is_not_said() -> None:
    lines = Lines()
    TransactionEvents(lines, 1, is_3_9=True).end_refused("app", TransactionState.COMPLETE_ABORT, True)
    TransactionEvents(lines, 1, is_3_9=False).rolled_back("app", ErrorCode.CONCURRENT_TRANSACTIONS)
    assert lines.said == []


# --- groups ---------------------------------------------------------------------------------------------------------


def member(member_id: str, **changes: object) -> Member:
    fields: dict[str, object] = {"is_awaiting_join": True, **changes}
    return Member(member_id, None, "c", "/10.0.3.20", 300_000, 45_000, "consumer", (), **fields)  # type: ignore[arg-type]


def join(events: GroupEvents, index: int, group_id: str, member_id: str, generation: int) -> None:
    """Let a first member join an empty group, from the request without id to the assignment."""
    empty = ClassicGroup(group_id, generation_id=generation)
    pending = ClassicGroup(group_id, generation_id=generation, pending_members=frozenset({member_id}))
    events.changed(index, empty, pending)
    members = {member_id: member(member_id)}
    preparing = ClassicGroup(group_id, ClassicState.PREPARING_REBALANCE, generation_id=generation, members=members)
    events.changed(index, pending, preparing)
    completing = ClassicGroup(
        group_id,
        ClassicState.COMPLETING_REBALANCE,
        generation_id=generation + 1,
        members=members,
        leader_id=member_id,
    )
    events.changed(index, preparing, completing)
    stable = ClassicGroup(
        group_id, ClassicState.STABLE, generation_id=generation + 1, members=members, leader_id=member_id
    )
    events.changed(index, completing, stable)


def test_a_group_of_4_3_from_its_first_member_to_its_assignment() -> None:
    lines = Lines()
    events = GroupEvents(lines, 1, is_3_9=False)
    join(events, 0, "tariff-sync", "tariff-sync-4bba0ec3-6d1e-4407-92ad-64779800bcbd", 4)
    failed = "shipment-tracker-d4dc04df-7604-4b32-9cf7-7be29227a494-StreamThread-1-consumer-"
    events.member_failed(1, "shipment-tracker", f"{failed}f468b369-1789-4bb0-9207-fedd1e7c5ea9")
    assert len(lines.said) == 6
    assert [line for line in lines.said if line not in recorded_lines("4.3")] == []


def test_a_group_of_3_9_loses_its_member() -> None:
    lines = Lines()
    events = GroupEvents(lines, 1, is_3_9=True)
    gone = "invoice-sync-d010436e-a039-4244-808d-d4b1098af2da"
    stable = ClassicGroup("invoice-sync", ClassicState.STABLE, generation_id=3, members={gone: member(gone)})
    empty = ClassicGroup("invoice-sync", ClassicState.EMPTY, generation_id=4)
    events.changed(17, stable, empty)
    offers = (MemberProtocol("range", b""), MemberProtocol("roundrobin", b""))
    leaver = Member(gone, None, "invoice-sync", "/10.0.3.20", 300_000, 45_000, "consumer", offers)
    events.members_left(17, "invoice-sync", [leaver])
    assert len(lines.said) == 3
    assert [line for line in lines.said if line not in recorded_lines("3.9")] == []


def test_groups_of_3_9_settle_and_move() -> None:
    lines = Lines()
    joined = "invoice-sync-f0550002-04a6-45b2-bf8f-8405438f004a"
    join(GroupEvents(lines, 1, is_3_9=True), 17, "invoice-sync", joined, 4)
    asked, preparing, stabilized, assigned = lines.said
    assert {asked, stabilized, assigned} <= recorded_lines("3.9")
    # 3.9 repeats the client's own reason, which no request field carries here.
    begin = "INFO [GroupCoordinator 1]: Preparing to rebalance group invoice-sync in state PreparingRebalance with old"
    assert preparing.startswith(begin)
    GroupEvents(lines, 3, is_3_9=True).elected(15, 3)
    GroupEvents(lines, 1, is_3_9=True).resigned(15, 3, 0, 0)
    assert [line for line in lines.said[4:] if line not in recorded_lines("3.9")] == []


def test_partitions_of_the_new_group_coordinator_move() -> None:
    lines = Lines()
    GroupEvents(lines, 2, is_3_9=False).elected(0, 5)
    GroupEvents(lines, 1, is_3_9=False).resigned(15, 2, 0, 0)
    scheduled, *unloading = lines.said
    assert scheduled in recorded_lines("4.3")
    assert unloading[0] in recorded_lines("4.3")
    GroupEvents(lines, 2, is_3_9=False).loaded(0, 5, 450, 36775, 322)
    assert lines.said[-1].replace("where 0ms", "where 4ms") in recorded_lines("4.3")


# --- replicas, storage, nodes, controller ----------------------------------------------------------------------------


def test_roles_and_isrs(tmp_path: Path) -> None:
    lines = Lines()
    lead = partition_of(tmp_path, "bookings", 0, topic_id="zcdpv0iuTQ-rQXGwa4k6lg", offset=4348)
    lead.broker_id = lead.leader_id = 2
    lead.leader_epoch, lead.partition_epoch, lead.isr, lead.leader_start_offset = 5, 15, (2, 3), 4348
    ReplicaEvents(lines, 2).changed_role(lead, FormerRole(1, 4))
    follow = partition_of(tmp_path, "settlements", 2, offset=857)
    follow.log.high_watermark = 852
    follow.leader_id, follow.leader_epoch, follow.partition_epoch = 2, 5, 15
    ReplicaEvents(lines, 1).hosted(follow)
    ReplicaEvents(lines, 1).changed_role(follow, FormerRole(-1, -1))
    whole = partition_of(tmp_path, "settlements", 1)
    whole.isr, whole.partition_epoch = (2, 1, 3), 16
    ReplicaEvents(lines, 2).changed_isr(whole)
    assert len(lines.said) == 4
    assert [line for line in lines.said if line not in recorded_lines("4.3")] == []


def test_batches_that_a_leader_refuses(tmp_path: Path) -> None:
    lines = Lines()
    gap = partition_of(tmp_path, "settlements", 1, topic_id="o6UvB0SsQnKB1gnLtcBfqQ", offset=667)
    gap.log.producers.apply_data(1000, 5, 666, 660, 666, 0, True)
    AppendEvents(lines, 2, is_3_9=False).refused(gap, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, Refused(1000, 5, 668))
    assert [line for line in lines.said if line not in recorded_lines("4.3")] == []
    lines.said.clear()
    alone = partition_of(tmp_path, "ledger-entries", 1, min_isr=2)
    alone.replicas, alone.isr = (1, 2, 3), (3,)
    AppendEvents(lines, 3, is_3_9=True).refused(alone, ErrorCode.NOT_ENOUGH_REPLICAS, Refused())
    assert len(lines.said) == 2
    assert [line for line in lines.said if line not in recorded_lines("3.9")] == []
    lines.said.clear()
    AppendEvents(lines, 3, is_3_9=True).refused(alone, ErrorCode.MESSAGE_TOO_LARGE, Refused())
    assert lines.said == []


def test_logs_are_opened_after_a_crash() -> None:
    for release, place, directory in (
        ("3.9", TopicPartition("payments-settled", 0), "/var/lib/kafka/data-0"),
        ("4.3", TopicPartition("shipment-counts", 1), "/var/lib/kafka/data-1"),
    ):
        lines = Lines()
        events = StorageEvents(lines, directory, is_3_9=release == "3.9")
        events.loaded(place, (0,), 0)
        assert len(lines.said) == 2
        assert [line for line in lines.said if line not in recorded_lines(release)] == []


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_a_node_starts_and_stops(release: str) -> None:
    lines = Lines()
    events = NodeEvents(lines, 1, release)
    events.starting(is_broker=True, is_controller=True)
    events.unfenced()
    events.starts_controlled_shutdown()
    events.stopped(is_broker=True, is_controller=True)
    assert [line for line in lines.said if line not in recorded_lines(release)] == []


def test_the_controller() -> None:
    lines = Lines()
    ControllerEvents(lines, 1, is_3_9=True).becomes_active(6, 630)
    ControllerEvents(lines, 3, is_3_9=True).fences(1, 99, 64)
    ControllerEvents(lines, 1, is_3_9=True).allows_controlled_shutdown(1)
    assert [line for line in lines.said if line not in recorded_lines("3.9")] == []
    lines.said.clear()
    ControllerEvents(lines, 4, is_3_9=False).becomes_active(5, 1389)
    ControllerEvents(lines, 5, is_3_9=False).fences(1, 479, 64)
    ControllerEvents(lines, 1, is_3_9=False).allows_shutdown(1, 472)
    assert [line for line in lines.said if line not in recorded_lines("4.3")] == []
