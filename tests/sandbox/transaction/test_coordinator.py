"""The coordinator over its log: life of a transaction, fencing, timeouts, expiry, loading, resignation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.rules.decision import Answer
from eosctl.sandbox.ports import TRANSACTION_STATE_TOPIC
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal import transaction_log

NONE = ErrorCode.NONE
ABORT_SCAN = "transaction.abort.timed.out.transaction.cleanup.interval.ms"


def statuses(world: Any) -> list[int]:
    return [transaction_log.decode_value(record.value).transaction_status for record in world.records()]


def test_commit_writes_four_records_and_one_marker_per_partition(world: Any) -> None:
    producer_id = world.init().producer_id
    assert world.add(producer_id, 0, 0, 1) is NONE
    assert world.end(producer_id, 0, True).error is NONE
    assert statuses(world) == [0, 1, 2, 4]
    assert world.state().state is TransactionState.COMPLETE_COMMIT
    assert sorted(world.broker.replicas.markers) == [
        (TopicPartition("orders", index), producer_id, 0, True, 0, 0) for index in (0, 1)
    ]


def test_markers_of_version_5_carry_the_bumped_epoch(make_world: Any) -> None:
    world = make_world("4.3-tv2")
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0, version=2)
    assert world.end(producer_id, 0, True, version=2) == Answer(NONE, producer_id, 1)
    assert world.broker.replicas.markers == [(TopicPartition("orders", 0), producer_id, 1, True, 0, 2)]
    assert world.end(producer_id, 0, True, version=2) == Answer(NONE, producer_id, 1)
    assert world.end(producer_id, 0, False, version=2).error is ErrorCode.INVALID_TXN_STATE


def test_the_answer_comes_when_the_record_is_durable(world: Any) -> None:
    producer_id = world.init().producer_id
    world.broker.replicas.is_held = True
    answers: list[Answer] = []
    partition = TopicPartition("orders", 0)
    world.coordinator.add_partitions("app", producer_id, 0, frozenset({partition}), 0, answers.append)
    world.runtime.run()
    assert answers == []
    assert world.state().state is TransactionState.EMPTY
    assert world.add(producer_id, 0, 1) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.init().error is ErrorCode.CONCURRENT_TRANSACTIONS
    world.broker.replicas.release()
    assert [answer.error for answer in answers] == [NONE]
    assert world.state().partitions == {partition}


def test_requests_of_one_turn_share_a_batch(make_world: Any) -> None:
    world = make_world("4.3-tv1")
    states = world.coordinator.states
    index = states.partition_index("app")
    others = [name for name in (f"id-{number}" for number in range(60)) if states.partition_index(name) == index]
    answers: list[Answer] = []
    for name in others:
        world.coordinator.init_producer_id(name, 60_000, None, answers.append)
    world.runtime.run()
    assert len(others) > 3
    assert [answer.error for answer in answers] == [NONE] * len(others)
    assert len(world.logs[TopicPartition(TRANSACTION_STATE_TOPIC, index)]) == 1


def test_starting_over_keeps_the_cached_start_on_3_9_only(world: Any) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    started = world.state().start_ms
    world.end(producer_id, 0, True)
    world.init()
    assert world.state().start_ms == (started if world.emulation.is_3_9 else -1)
    assert transaction_log.decode_value(world.records()[-1].value).transaction_start_timestamp_ms == -1


def test_a_second_producer_aborts_what_the_first_had_open(world: Any) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    assert world.init().error is ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.broker.replicas.markers[0][1:4] == (producer_id, 1, False)
    assert world.state().state is TransactionState.COMPLETE_ABORT
    assert world.init() == Answer(NONE, producer_id, 2)
    assert world.end(producer_id, 0, True).error is ErrorCode.PRODUCER_FENCED


def test_a_stale_recovery_aborts_before_it_is_fenced(world: Any) -> None:
    producer_id = world.init().producer_id
    world.init()
    world.add(producer_id, 1, 0)
    assert world.init(expected=(producer_id, 0)).error is ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.state().state is TransactionState.COMPLETE_ABORT
    assert world.init(expected=(producer_id, 0)).error is ErrorCode.PRODUCER_FENCED


def test_after_a_timeout_the_old_epoch_recovers_at_level_2_only(world: Any) -> None:
    world.coordinator.start()
    producer_id = world.init(timeout_ms=4_000).producer_id
    world.add(producer_id, 0, 0)
    world.runtime.advance(10_000)
    assert world.state().state is TransactionState.COMPLETE_ABORT
    assert world.state().producer_epoch == 1
    recovered = world.init(expected=(producer_id, 0))
    if world.metadata.finalized_feature("transaction.version") == 2:
        assert recovered == Answer(NONE, producer_id, 1)
    else:
        assert recovered.error is ErrorCode.PRODUCER_FENCED


def test_time_out_only_after_the_timeout_and_only_when_scanned(world: Any) -> None:
    world.coordinator.start()
    producer_id = world.init(timeout_ms=15_000).producer_id
    world.add(producer_id, 0, 0)
    world.runtime.advance(19_999)
    assert world.state().state is TransactionState.ONGOING
    world.runtime.advance(1)
    assert world.state().state is TransactionState.COMPLETE_ABORT
    world.coordinator.stop()
    world.add(producer_id, 1, 0)
    world.runtime.advance(1_000_000)
    assert world.state().state is TransactionState.ONGOING


def test_two_phase_commit_never_times_out(make_world: Any) -> None:
    world = make_world("4.3-tv2", **{"transaction.two.phase.commit.enable": True})
    world.coordinator.start()
    answers: list[Answer] = []
    world.coordinator.init_producer_id("app", 400, None, answers.append, enable_two_phase_commit=True)
    producer_id = world.settled(answers).producer_id
    world.add(producer_id, 0, 0, version=2)
    world.runtime.advance(10_000_000)
    assert world.state().state is TransactionState.ONGOING
    assert world.state().timeout_ms == 2**31 - 1


def test_two_phase_commit_must_be_enabled(make_world: Any) -> None:
    world = make_world("4.3-tv2")
    answers: list[Answer] = []
    world.coordinator.init_producer_id("app", 400, None, answers.append, enable_two_phase_commit=True)
    world.coordinator.init_producer_id("app", 400, None, answers.append, keep_prepared=True)
    assert [answer.error for answer in answers] == [
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_VERSION,
    ]


def test_what_begins_later_may_time_out_earlier(world: Any) -> None:
    def begin(name: str, timeout_ms: int) -> None:
        known = world.init(name, timeout_ms=timeout_ms)
        world.coordinator.add_partitions(
            name,
            known.producer_id,
            known.producer_epoch,
            frozenset({TopicPartition("orders", 0)}),
            0,
            lambda answer: None,
        )
        world.runtime.run()

    def ongoing() -> set[str]:
        world.coordinator.abort_timed_out()
        world.runtime.run()
        return {
            known.transactional_id
            for known in world.coordinator.transactions()
            if known.state is TransactionState.ONGOING
        }

    for name, timeout_ms in (("long", 60_000), ("short", 5_000), ("middle", 20_000)):
        begin(name, timeout_ms)
        assert name in ongoing()
    world.runtime.advance(5_000)
    assert ongoing() == {"long", "short", "middle"}
    world.runtime.advance(1)
    assert ongoing() == {"long", "middle"}
    begin("short", 5_000)
    world.runtime.advance(5_001)
    assert ongoing() == {"long", "middle"}
    world.runtime.advance(10_000)
    assert ongoing() == {"long"}
    world.runtime.advance(60_000)
    assert ongoing() == set()


@pytest.mark.parametrize(("timeout_ms", "code"), [(0, 50), (-1, 50), (900_001, 50), (900_000, 0), (1, 0)])
def test_timeouts_are_bounded(world: Any, timeout_ms: int, code: int) -> None:
    assert world.init(timeout_ms=timeout_ms).error == code


def test_ids_expire_with_a_tombstone(world: Any) -> None:
    world.coordinator.start()
    producer_id = world.init().producer_id
    world.runtime.advance(604_800_000 + 3_600_000)
    assert world.state() is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert world.records()[-1].value is None
    assert world.end(producer_id, 0, True).error is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert world.init(expected=(producer_id, 0)) == Answer(NONE, producer_id + 1, 0)
    assert world.restart().describe("app").producer_id == producer_id + 1


def test_an_id_whose_tombstone_was_not_written_stays(world: Any) -> None:
    world.init()
    world.runtime.advance(604_800_000)
    world.broker.replicas.append_errors.append(ErrorCode.NOT_ENOUGH_REPLICAS)
    world.coordinator.remove_expired()
    world.runtime.run()
    assert world.state().state is TransactionState.EMPTY
    assert world.init().producer_epoch == 1


@pytest.mark.parametrize(
    ("log_error", "error"),
    [
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 15),
        (ErrorCode.NOT_ENOUGH_REPLICAS, 15),
        (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 15),
        (ErrorCode.REQUEST_TIMED_OUT, 15),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, 16),
        (ErrorCode.KAFKA_STORAGE_ERROR, 16),
        (ErrorCode.MESSAGE_TOO_LARGE, -1),
        (ErrorCode.RECORD_LIST_TOO_LARGE, -1),
    ],
)
def test_failed_writes_are_answered_and_forgotten(world: Any, log_error: ErrorCode, error: int) -> None:
    producer_id = world.init().producer_id
    world.broker.replicas.append_errors.append(log_error)
    assert world.add(producer_id, 0, 0) == error
    assert world.state().state is TransactionState.EMPTY
    assert world.add(producer_id, 0, 0) is NONE


def test_a_fence_that_was_not_written_bumps_only_once(world: Any) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    world.broker.replicas.append_errors.extend([ErrorCode.NOT_ENOUGH_REPLICAS] * 2)
    assert world.init().error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.init().error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.state().state is TransactionState.ONGOING
    assert world.init().error is ErrorCode.CONCURRENT_TRANSACTIONS
    assert (world.state().state, world.state().producer_epoch) == (TransactionState.COMPLETE_ABORT, 1)
    world.add(producer_id, 1, 0)
    assert world.init().error is ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.state().producer_epoch == 2


def test_a_partition_led_elsewhere_returns_16_and_a_loading_14(make_world: Any) -> None:
    world = make_world("4.3-tv1")
    producer_id = world.init().producer_id
    index = world.coordinator.states.partition_index("app")
    world.coordinator.resign(index, 0)
    for answer in (world.init(), world.end(producer_id, 0, True), Answer(world.add(producer_id, 0, 0))):
        assert answer.error is ErrorCode.NOT_COORDINATOR
    assert world.state() is ErrorCode.NOT_COORDINATOR
    assert world.coordinator.verify("app", producer_id, 0, [TopicPartition("orders", 0)]) == {
        TopicPartition("orders", 0): ErrorCode.NOT_COORDINATOR
    }
    log = world.logs[TopicPartition(TRANSACTION_STATE_TOPIC, index)]
    log.extend(log * 1_500)  # so much that loading takes more than one turn
    world.coordinator.become_leader(index, 2)
    assert world.init().error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert world.state() is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert world.coordinator.transactions() is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    world.runtime.advance(1)
    assert world.init() == Answer(NONE, producer_id, 1)


def test_a_write_that_ends_after_a_move_returns_16(make_world: Any) -> None:
    world = make_world("4.3-tv1")
    world.init()
    index = world.coordinator.states.partition_index("app")
    for move, error in (
        (lambda: world.coordinator.resign(index, None), ErrorCode.NOT_COORDINATOR),
        (lambda: world.coordinator.become_leader(index, 9), ErrorCode.NOT_COORDINATOR),
    ):
        world.coordinator.become_leader(index, 5)
        world.broker.replicas.is_held = True
        answers: list[Answer] = []
        world.coordinator.init_producer_id("app", 60_000, None, answers.append)
        world.runtime.run()
        move()
        world.broker.replicas.release()
        assert [answer.error for answer in answers] == [error]


def test_an_old_resignation_does_not_touch_a_newer_leadership(make_world: Any) -> None:
    world = make_world("4.3-tv1")
    world.init()
    index = world.coordinator.states.partition_index("app")
    world.coordinator.become_leader(index, 4)
    world.coordinator.resign(index, 3)
    assert world.init().error is NONE


def test_prepared_transactions_are_finished_after_loading(world: Any) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0, 1)
    world.channel.blocked.add(1)
    assert world.end(producer_id, 0, True).error is NONE
    assert world.state().state is TransactionState.PREPARE_COMMIT
    world.channel.blocked.clear()
    world.channel.waiting.clear()
    coordinator = world.restart(epoch=3)
    assert coordinator.describe("app").state is TransactionState.COMPLETE_COMMIT
    assert {marker[4] for marker in world.broker.replicas.markers} == {3}
    assert world.end(producer_id, 0, True).error is NONE


def test_an_open_transaction_waits_for_its_timeout_after_loading(world: Any) -> None:
    producer_id = world.init(timeout_ms=5_000).producer_id
    world.add(producer_id, 0, 0)
    coordinator = world.restart()
    coordinator.start()
    assert coordinator.describe("app").state is TransactionState.ONGOING
    world.runtime.advance(10_000)
    assert coordinator.describe("app").state is TransactionState.COMPLETE_ABORT


def test_without_an_id_every_call_gives_a_new_producer(world: Any) -> None:
    first, second = world.init(None, timeout_ms=-5), world.init(None, expected=(4242, 5))
    assert first.error is second.error is NONE
    assert (second.producer_id, second.producer_epoch) == (first.producer_id + 1, 0)


def test_rotation_under_version_5(make_world: Any) -> None:
    world = make_world("4.3-tv2")
    producer_id = world.init().producer_id
    cached = world.coordinator.states.find("app")
    cached.metadata = replace(cached.metadata, producer_epoch=32766)
    world.add(producer_id, 32766, 0, version=2)
    assert world.end(producer_id, 32766, True, version=2) == Answer(NONE, producer_id + 1, 0)
    assert world.broker.replicas.markers[-1][1:3] == (producer_id, 32767)
    assert world.end(producer_id, 32766, True, version=2) == Answer(NONE, producer_id + 1, 0)
    assert world.add(producer_id + 1, 0, 0, version=2) is NONE


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["init", "recover", "add", "commit", "abort", "end 5", "time"]),
        st.integers(0, 2),
        st.sampled_from(["app", "other", "third"]),
    ),
    max_size=25,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(target=st.sampled_from(["3.9-tv0", "4.3-tv0", "4.3-tv1", "4.3-tv2"]), operations=OPERATIONS)
def test_a_reload_restores_the_previous_state(make_world: Any, target: str, operations: Any) -> None:
    world = make_world(target)
    coordinator = world.coordinator
    for operation, number, name in operations:
        known = coordinator.describe(name)
        producer_id, epoch = (0, 0) if isinstance(known, ErrorCode) else (known.producer_id, known.producer_epoch)
        answers: list[Answer] = []
        if operation in ("init", "recover"):
            expected = (producer_id, epoch) if operation == "recover" else None
            world.init(name, expected)
        elif operation == "add":
            partitions = frozenset({TopicPartition("orders", number)})
            version = 0 if world.emulation.is_3_9 else 2 * (number % 2)
            coordinator.add_partitions(name, producer_id, epoch, partitions, version, answers.append)
        elif operation == "time":
            world.runtime.advance(40_000)
            coordinator.abort_timed_out()
        elif operation == "end 5" and not world.emulation.is_3_9:
            coordinator.end_transaction(name, producer_id, epoch, number > 0, 2, answers.append)
        else:
            coordinator.end_transaction(name, producer_id, epoch, operation == "commit", 0, answers.append)
        world.runtime.run()
    before = {known.transactional_id: persisted(world, known) for known in coordinator.transactions()}
    after = {known.transactional_id: persisted(world, known) for known in world.restart().transactions()}
    assert after == before


def persisted(world: Any, known: Any) -> Any:
    """What of a value the log of this release holds."""
    known = replace(known, last_producer_epoch=-1)
    if world.emulation.is_3_9 and known.state is TransactionState.EMPTY:
        known = replace(known, start_ms=-1)
    if world.emulation.is_3_9 or world.metadata.finalized_feature("transaction.version") == 0:
        known = replace(known, previous_producer_id=-1, next_producer_id=-1, client_transaction_version=0)
    return known
