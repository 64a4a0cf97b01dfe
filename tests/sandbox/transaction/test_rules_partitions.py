"""AddPartitionsToTxn: order of checks per release, opening and widening, verification."""

from __future__ import annotations

from itertools import product

import pytest

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import TransactionMetadata
from eosctl.sandbox.coordinator.transaction.rules.decision import Answer, Decision, Transition
from eosctl.sandbox.coordinator.transaction.rules.partitions import decide_add_partitions, verify_partitions
from eosctl.wire.error_codes import ErrorCode

A, B = TopicPartition("orders", 0), TopicPartition("orders", 1)
REST = (TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
PREPARED = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
EPOCHS = {"lower": 6, "equal": 7, "higher": 8}


def known(state: TransactionState) -> TransactionMetadata:
    partitions = frozenset() if state in REST else frozenset({A})
    return TransactionMetadata("app", 1000, 7, 60_000, state, partitions, 1_000, 2_000, 6, 900)


def decide(
    metadata: TransactionMetadata,
    partitions: frozenset[TopicPartition] = frozenset({A}),
    *,
    producer_id: int = 1000,
    epoch: int = 7,
    pending: TransactionState | None = None,
    pending_first: bool = True,
) -> Decision:
    return decide_add_partitions(
        metadata,
        pending,
        producer_id,
        epoch,
        partitions,
        client_transaction_version=2,
        now_ms=9_000,
        pending_first=pending_first,
    )


@pytest.mark.parametrize(("state", "relation", "pending_first"), list(product(REST, EPOCHS, [False, True])))
def test_at_rest_a_transaction_begins(state: TransactionState, relation: str, pending_first: bool) -> None:
    decision = decide(known(state), epoch=EPOCHS[relation], pending_first=pending_first)
    if relation != "equal":
        assert decision == Answer(ErrorCode.PRODUCER_FENCED)
        return
    assert isinstance(decision, Transition)
    following = decision.next
    assert following.state is TransactionState.ONGOING
    assert following.partitions == {A}
    assert (following.start_ms, following.last_update_ms) == (9_000, 9_000)
    assert following.client_transaction_version == 2
    assert following.last_producer_epoch == 6


@pytest.mark.parametrize(("relation", "pending_first"), list(product(EPOCHS, [False, True])))
def test_ongoing_is_widened_and_keeps_its_start(relation: str, pending_first: bool) -> None:
    metadata = known(TransactionState.ONGOING)
    wider = decide(metadata, frozenset({B}), epoch=EPOCHS[relation], pending_first=pending_first)
    same = decide(metadata, epoch=EPOCHS[relation], pending_first=pending_first)
    if relation != "equal":
        assert wider == same == Answer(ErrorCode.PRODUCER_FENCED)
        return
    assert same == Answer(ErrorCode.NONE)
    assert isinstance(wider, Transition)
    assert wider.next.partitions == {A, B}
    assert (wider.next.start_ms, wider.next.last_update_ms) == (1_000, 9_000)


def test_no_partitions_start_but_do_not_change_a_transaction() -> None:
    opened = decide(known(TransactionState.EMPTY), frozenset())
    assert isinstance(opened, Transition)
    assert (opened.next.state, opened.next.partitions) == (TransactionState.ONGOING, frozenset())
    assert decide(known(TransactionState.ONGOING), frozenset()) == Answer(ErrorCode.NONE)


@pytest.mark.parametrize("state", PREPARED)
@pytest.mark.parametrize(
    ("producer_id", "epoch", "on_3_9"), [(1000, 7, 51), (1000, 6, 90), (1000, 8, 90), (1, 7, 49), (1, 9, 49)]
)
def test_pending_comes_first_on_4_x_and_last_on_3_9(
    state: TransactionState, producer_id: int, epoch: int, on_3_9: int
) -> None:
    completed = TransactionState.COMPLETE_COMMIT
    older = decide(known(state), producer_id=producer_id, epoch=epoch, pending=completed, pending_first=False)
    newer = decide(known(state), producer_id=producer_id, epoch=epoch, pending=completed)
    assert older == Answer(ErrorCode(on_3_9))
    assert newer == Answer(ErrorCode.CONCURRENT_TRANSACTIONS)


@pytest.mark.parametrize(("state", "pending_first"), list(product(PREPARED, [False, True])))
def test_prepared_without_pending_is_checked_after_the_epoch(state: TransactionState, pending_first: bool) -> None:
    assert decide(known(state), pending_first=pending_first) == Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
    assert decide(known(state), epoch=6, pending_first=pending_first) == Answer(ErrorCode.PRODUCER_FENCED)
    assert decide(known(state), producer_id=1, pending_first=pending_first) == Answer(
        ErrorCode.INVALID_PRODUCER_ID_MAPPING
    )


@pytest.mark.parametrize(
    ("state", "producer_id", "epoch", "codes"),
    [
        (None, 1000, 7, (49, 49)),
        *((state, 1, 7, (49, 49)) for state in TransactionState),
        *((state, 1000, 6, (90, 90)) for state in TransactionState),
        *((state, 1000, 8, (90, 90)) for state in TransactionState),
        *((state, 1000, 7, (51, 51)) for state in PREPARED),
        *((state, 1000, 7, (120, 120)) for state in REST),
        (TransactionState.ONGOING, 1000, 7, (0, 120)),
    ],
)
def test_verification(state: TransactionState | None, producer_id: int, epoch: int, codes: tuple[int, int]) -> None:
    metadata = None if state is None else known(state)
    assert verify_partitions(metadata, producer_id, epoch, [A, B]) == dict(zip([A, B], codes, strict=True))
