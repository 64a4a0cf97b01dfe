"""EndTxn and aborts by the coordinator: every state, outcome and epoch relation, before and since KIP-890 part 2."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import TransactionMetadata
from eosctl.sandbox.coordinator.transaction.rules.decision import Answer, Decision, Transition
from eosctl.sandbox.coordinator.transaction.rules.end_txn import (
    complete,
    decide_coordinator_abort,
    decide_end,
    decide_end_with_bump,
)
from eosctl.sandbox.coordinator.transaction.rules.expiration import is_expired, is_timed_out
from eosctl.wire.error_codes import ErrorCode

S = TransactionState
A = TopicPartition("orders", 0)
REST = (S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)
NOW = 9_000
STORED = 7


def known(state: TransactionState, epoch: int = STORED) -> TransactionMetadata:
    partitions = frozenset() if state in REST else frozenset({A})
    return TransactionMetadata("app", 1000, epoch, 60_000, state, partitions, 1_000, 2_000, 6, 900)


def end_old(state: TransactionState, committed: bool, epoch: int, pending: TransactionState | None = None) -> Decision:
    return decide_end(known(state), pending, 1000, epoch, committed, NOW)


def end_new(
    state: TransactionState,
    committed: bool,
    epoch: int,
    pending: TransactionState | None = None,
    stored: int = STORED,
    new_id: int | None = 2000,
) -> Decision:
    return decide_end_with_bump(known(state, stored), pending, 1000, epoch, committed, NOW, lambda: new_id)


def describe(decision: Decision) -> int | tuple[str, int]:
    if isinstance(decision, Answer):
        return int(decision.error)
    return decision.next.state.value, decision.next.producer_epoch


OLD = {  # state: (abort, commit) with the current epoch
    S.EMPTY: (48, 48),
    S.ONGOING: (("PrepareAbort", 7), ("PrepareCommit", 7)),
    S.PREPARE_COMMIT: (48, 51),
    S.PREPARE_ABORT: (51, 48),
    S.COMPLETE_COMMIT: (48, 0),
    S.COMPLETE_ABORT: (0, 48),
    S.DEAD: (-1, -1),
    S.PREPARE_EPOCH_FENCE: (-1, -1),
}


@pytest.mark.parametrize(("state", "committed", "epoch"), list(product(S, [False, True], [6, 7, 8])))
def test_up_to_version_4(state: TransactionState, committed: bool, epoch: int) -> None:
    wanted = OLD[state][committed] if epoch == STORED else 90
    assert describe(end_old(state, committed, epoch)) == wanted


@pytest.mark.parametrize(("state", "committed", "epoch"), list(product(S, [False, True], [6, 7, 8])))
def test_up_to_version_4_while_pending(state: TransactionState, committed: bool, epoch: int) -> None:
    assert describe(end_old(state, committed, epoch, pending=S.COMPLETE_COMMIT)) == (51 if epoch == STORED else 90)


def test_up_to_version_4_another_producer_id() -> None:
    decision = decide_end(known(S.ONGOING), S.COMPLETE_COMMIT, 1, 7, True, NOW)
    assert decision == Answer(ErrorCode.INVALID_PRODUCER_ID_MAPPING)


NEW = {  # state: {epoch: (abort, commit)}; epoch 6 is what a retry carries
    S.EMPTY: {6: (90, 90), 7: (("PrepareAbort", 8), 48)},
    S.ONGOING: {6: (90, 90), 7: (("PrepareAbort", 8), ("PrepareCommit", 8))},
    S.PREPARE_COMMIT: {6: (48, 51), 7: (90, 90)},
    S.PREPARE_ABORT: {6: (51, 48), 7: (90, 90)},
    S.COMPLETE_COMMIT: {6: (48, 0), 7: (("PrepareAbort", 8), 48)},
    S.COMPLETE_ABORT: {6: (0, 48), 7: (("PrepareAbort", 8), 48)},
    S.DEAD: {6: (90, 90), 7: (-1, -1)},
    S.PREPARE_EPOCH_FENCE: {6: (90, 90), 7: (-1, -1)},
}


@pytest.mark.parametrize(("state", "committed", "epoch"), list(product(S, [False, True], [5, 6, 7, 8])))
def test_version_5(state: TransactionState, committed: bool, epoch: int) -> None:
    wanted = NEW[state].get(epoch, (90, 90))[committed]
    assert describe(end_new(state, committed, epoch)) == wanted


@pytest.mark.parametrize(("state", "committed", "epoch"), list(product(S, [False, True], [5, 6, 7, 8])))
def test_version_5_with_a_pending_transition_is_concurrent(
    state: TransactionState, committed: bool, epoch: int
) -> None:
    assert describe(end_new(state, committed, epoch, pending=S.COMPLETE_ABORT)) == 51


def test_version_5_another_producer_id() -> None:
    decision = decide_end_with_bump(known(S.ONGOING), None, 1, 7, True, NOW, lambda: 2000)
    assert decision == Answer(ErrorCode.INVALID_PRODUCER_ID_MAPPING)


def test_version_5_retry_hears_what_the_first_heard() -> None:
    assert end_new(S.COMPLETE_COMMIT, True, 6) == Answer(ErrorCode.NONE, 1000, 7)


def test_version_5_remembers_the_epoch_before() -> None:
    decision = end_new(S.ONGOING, True, 7)
    assert isinstance(decision, Transition)
    following = decision.next
    assert (following.last_producer_epoch, following.start_ms, following.last_update_ms) == (7, 1_000, NOW)
    assert following.client_transaction_version == 2
    assert following.next_producer_id == -1


def test_version_5_abort_of_nothing_starts_now() -> None:
    decision = end_new(S.EMPTY, False, 7)
    assert isinstance(decision, Transition)
    assert (decision.next.start_ms, decision.next.partitions) == (NOW, frozenset())


def test_version_5_rotates_at_the_last_epoch_and_accepts_a_retry() -> None:
    decision = end_new(S.ONGOING, False, 32766, stored=32766)
    assert isinstance(decision, Transition)
    prepared = decision.next
    assert (prepared.producer_id, prepared.producer_epoch, prepared.next_producer_id) == (1000, 32767, 2000)
    completed = complete(prepared, NOW + 1)
    assert (completed.producer_id, completed.producer_epoch) == (2000, 0)
    assert (completed.previous_producer_id, completed.next_producer_id) == (1000, -1)
    assert completed.last_producer_epoch == 32766
    retry = decide_end_with_bump(completed, None, 1000, 32766, False, NOW, lambda: None)
    assert retry == Answer(ErrorCode.NONE, 2000, 0)
    other = decide_end_with_bump(completed, None, 1000, 32766, True, NOW, lambda: None)
    assert other == Answer(ErrorCode.INVALID_TXN_STATE)


def test_version_5_rotation_waits_for_a_producer_id() -> None:
    decision = end_new(S.ONGOING, True, 32766, stored=32766, new_id=None)
    assert decision == Answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


@pytest.mark.parametrize(
    ("version", "failed", "epoch", "bumped"),
    [(0, False, 7, 8), (1, False, 7, 8), (1, True, 7, 7), (0, False, 32766, 32767), (0, False, 32767, 32767)],
)
def test_abort_by_the_coordinator_below_level_2(version: int, failed: bool, epoch: int, bumped: int) -> None:
    decision = decide_coordinator_abort(
        known(S.ONGOING, epoch),
        transaction_version=version,
        has_failed_epoch_fence=failed,
        now_ms=NOW,
        new_producer_id=lambda: None,
    )
    assert isinstance(decision, Transition)
    assert decision.fenced is not None
    assert (decision.fenced.state, decision.fenced.producer_epoch) == (S.ONGOING, bumped)
    assert decision.fenced.last_producer_epoch == -1
    following = decision.next
    assert (following.state, following.producer_epoch, following.last_producer_epoch) == (S.PREPARE_ABORT, bumped, -1)
    assert following.client_transaction_version == 0


def test_abort_by_the_coordinator_at_level_2_remembers_the_epoch() -> None:
    decision = decide_coordinator_abort(
        known(S.ONGOING), transaction_version=2, has_failed_epoch_fence=False, now_ms=NOW, new_producer_id=lambda: None
    )
    assert isinstance(decision, Transition)
    assert decision.fenced is None
    following = decision.next
    assert (following.producer_epoch, following.last_producer_epoch) == (8, 7)
    assert following.client_transaction_version == 2


def test_a_coordinators_abort_at_tv2_rotates_exhausted_epochs() -> None:
    decision = decide_coordinator_abort(
        known(S.ONGOING, 32766),
        transaction_version=2,
        has_failed_epoch_fence=False,
        now_ms=NOW,
        new_producer_id=lambda: 2000,
    )
    assert isinstance(decision, Transition)
    assert (decision.next.producer_epoch, decision.next.next_producer_id) == (32767, 2000)


@pytest.mark.parametrize(
    ("prepared", "completed"), [(S.PREPARE_COMMIT, S.COMPLETE_COMMIT), (S.PREPARE_ABORT, S.COMPLETE_ABORT)]
)
def test_completion_keeps_epoch_and_start(prepared: TransactionState, completed: TransactionState) -> None:
    following = complete(known(prepared), NOW)
    assert (following.state, following.partitions) == (completed, frozenset())
    assert (following.producer_id, following.producer_epoch, following.start_ms) == (1000, 7, 1_000)
    assert following.last_update_ms == NOW


@pytest.mark.parametrize("state", S)
def test_only_an_open_transaction_times_out(state: TransactionState) -> None:
    metadata = known(state)
    assert is_timed_out(metadata, None, 61_001) == (state is S.ONGOING)
    assert not is_timed_out(metadata, None, 61_000)
    assert not is_timed_out(metadata, S.ONGOING, 61_001)
    assert not is_timed_out(replace(metadata, timeout_ms=2**31 - 1), None, 2**40)


@pytest.mark.parametrize("state", S)
def test_only_ids_at_rest_expire(state: TransactionState) -> None:
    metadata = known(state)
    assert is_expired(metadata, None, 2_500, 500) == (state in REST)
    assert not is_expired(metadata, None, 2_499, 500)
    assert not is_expired(metadata, S.EMPTY, 2_500, 500)
