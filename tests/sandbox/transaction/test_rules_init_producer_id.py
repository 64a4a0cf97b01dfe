"""InitProducerId: every state, pending or not, against every relation of the expected epoch."""

from __future__ import annotations

from itertools import product

import pytest

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import TransactionMetadata
from eosctl.sandbox.coordinator.transaction.rules.decision import Abort, Answer, Transition
from eosctl.sandbox.coordinator.transaction.rules.init_producer_id import Expected, decide_init_producer_id
from eosctl.wire.error_codes import ErrorCode

REST = (TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
PREPARED = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
NOW = 5_000


def known(state: TransactionState, epoch: int = 7, last: int = 6) -> TransactionMetadata:
    partitions = frozenset({TopicPartition("orders", 0)}) if state not in REST else frozenset()
    return TransactionMetadata("app", 1000, epoch, 60_000, state, partitions, 1_000, 2_000, last, 900)


def decide(
    metadata: TransactionMetadata,
    expected: Expected | None = None,
    pending: TransactionState | None = None,
    new_id: int | None = 2000,
) -> Answer | Transition | Abort:
    return decide_init_producer_id(
        metadata, pending, expected, timeout_ms=30_000, now_ms=NOW, new_producer_id=lambda: new_id
    )


EXPECTED = {
    "none": None,
    "current": Expected(1000, 7),
    "last": Expected(1000, 6),
    "older": Expected(1000, 2),
    "newer": Expected(1000, 9),
    "other id": Expected(1, 7),
    "previous id": Expected(900, 7),
    "previous id, exhausted": Expected(900, 32766),
}
BUMPED = (1000, 8, -1)
RESULT_AT_REST = {
    "none": BUMPED,
    "current": (1000, 8, 7),
    "last": (1000, 7, 6),
    "older": 90,
    "newer": 90,
    "other id": 90,
    "previous id": 90,
    "previous id, exhausted": 90,
}


@pytest.mark.parametrize(("state", "relation"), list(product(REST, EXPECTED)))
def test_at_rest_the_epoch_decides(state: TransactionState, relation: str) -> None:
    decision = decide(known(state), EXPECTED[relation])
    wanted = RESULT_AT_REST[relation]
    if isinstance(wanted, int):
        assert decision == Answer(ErrorCode(wanted))
    else:
        assert isinstance(decision, Transition)
        following = decision.next
        assert (following.producer_id, following.producer_epoch, following.last_producer_epoch) == wanted
        assert following.state is TransactionState.EMPTY
        assert (following.start_ms, following.last_update_ms, following.timeout_ms) == (-1, NOW, 30_000)
        assert following.partitions == frozenset()
        assert following.previous_producer_id == 1000


@pytest.mark.parametrize("relation", EXPECTED)
def test_ongoing_is_aborted_unless_the_producer_id_differs(relation: str) -> None:
    decision = decide(known(TransactionState.ONGOING), EXPECTED[relation])
    fenced = relation in ("other id", "previous id")
    assert decision == (Answer(ErrorCode.PRODUCER_FENCED) if fenced else Abort())


@pytest.mark.parametrize(("state", "relation"), list(product(PREPARED, EXPECTED)))
def test_prepared_is_concurrent_unless_the_producer_id_differs(state: TransactionState, relation: str) -> None:
    fenced = relation in ("other id", "previous id")
    wanted = ErrorCode.PRODUCER_FENCED if fenced else ErrorCode.CONCURRENT_TRANSACTIONS
    assert decide(known(state), EXPECTED[relation]) == Answer(wanted)


@pytest.mark.parametrize(("state", "relation"), list(product(TransactionState, EXPECTED)))
def test_pending_answers_concurrent_before_anything_else(state: TransactionState, relation: str) -> None:
    decision = decide(known(state), EXPECTED[relation], pending=TransactionState.ONGOING)
    assert decision == Answer(ErrorCode.CONCURRENT_TRANSACTIONS)


@pytest.mark.parametrize("state", [TransactionState.DEAD, TransactionState.PREPARE_EPOCH_FENCE])
def test_states_that_never_rest_are_an_internal_error(state: TransactionState) -> None:
    assert decide(known(state)) == Answer(ErrorCode.UNKNOWN_SERVER_ERROR)


@pytest.mark.parametrize("state", REST)
@pytest.mark.parametrize(("expected", "last"), [(None, -1), (Expected(1000, 32766), 32766)])
def test_exhausted_epoch_rotates_the_producer_id(state: TransactionState, expected: Expected | None, last: int) -> None:
    decision = decide(known(state, epoch=32766), expected)
    assert isinstance(decision, Transition)
    following = decision.next
    assert (following.producer_id, following.producer_epoch, following.last_producer_epoch) == (2000, 0, last)
    assert following.previous_producer_id == 1000


def test_retry_over_a_rotation_is_recognized() -> None:
    rotated = decide(known(TransactionState.EMPTY, epoch=32766), Expected(1000, 32766))
    assert isinstance(rotated, Transition)
    again = decide(rotated.next, Expected(1000, 32766))
    assert isinstance(again, Transition)
    assert (again.next.producer_id, again.next.producer_epoch) == (2000, 0)


def test_rotation_waits_for_a_producer_id() -> None:
    decision = decide(known(TransactionState.EMPTY, epoch=32766), new_id=None)
    assert decision == Answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def test_exhausted_with_another_epoch_is_an_internal_error() -> None:
    decision = decide(known(TransactionState.EMPTY, epoch=32766), Expected(1000, 5))
    assert decision == Answer(ErrorCode.UNKNOWN_SERVER_ERROR)


@pytest.mark.parametrize("expected", [None, Expected(5, 3), Expected(1000, 0)])
def test_first_epoch_is_zero_for_any_expectation(expected: Expected | None) -> None:
    decision = decide(known(TransactionState.EMPTY, epoch=-1, last=-1), expected)
    assert isinstance(decision, Transition)
    assert (decision.next.producer_id, decision.next.producer_epoch) == (1000, 0)
