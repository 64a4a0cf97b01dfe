"""Bugs planted on purpose: each of them breaks a promise, and the state machine of its area must notice.

The examples come from a fixed seed (none of the day, no database), so a bug that is found once is found by the same
example every time; every other seed that was tried finds each bug too, some of them half a minute later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from eosctl.sandbox.controller import elections
from eosctl.sandbox.coordinator.group import admin, classic_driver, offset_manager
from eosctl.sandbox.coordinator.group.classic_effects import Step
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup
from eosctl.sandbox.coordinator.group.consumer.driver import ConsumerDriver
from eosctl.sandbox.coordinator.group.consumer.group import NO_PARTITIONS, ConsumerGroup
from eosctl.sandbox.coordinator.group.coordinator import GroupCoordinator
from eosctl.sandbox.coordinator.group.offset_store import OffsetStore
from eosctl.sandbox.coordinator.transaction import coordinator
from eosctl.sandbox.coordinator.transaction.metadata import ONGOING, PREPARED
from eosctl.sandbox.coordinator.transaction.rules.decision import Abort, Transition
from eosctl.sandbox.coordinator.transaction.rules.end_txn import decide_end
from eosctl.sandbox.coordinator.transaction.state_manager import TransactionStateManager
from eosctl.sandbox.log.leader_epochs import LeaderEpochs
from eosctl.sandbox.log.producer_state import ProducerEntry, ProducerStateManager, RetainedBatch
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.verification import VerificationPolicy
from eosctl.storage.log import SegmentedLog
from eosctl.wire.error_codes import ErrorCode
from tests.sandbox.test_consumer_group_machine import ConsumerGroups
from tests.sandbox.test_exactly_once_machine import SETTINGS, ExactlyOnce, ExactlyOnceImplicit
from tests.sandbox.test_group_machine import Groups
from tests.sandbox.test_replication_machine import Replication

Patch = pytest.MonkeyPatch
MAX_EXAMPLES = 500
SLOW_LOAD_MS = 300


# --- transactions -----------------------------------------------------------------------------------------------------


def reinitialize_without_abort(patch: Patch) -> None:
    """A new instance leaves the transaction of the last one open."""
    decide = coordinator.decide_init_producer_id

    def planted(current: Any, *arguments: Any, **options: Any) -> Any:
        decision = decide(current, *arguments, **options)
        if isinstance(decision, Abort) and current.state is ONGOING:
            return Transition(replace(current, producer_epoch=current.producer_epoch + 1))
        return decision

    patch.setattr(coordinator, "decide_init_producer_id", planted)


def stable_offset_of_the_newest(patch: Patch) -> None:
    """The last stable offset moves past a transaction that is open, when a younger one is open too."""
    patch.setattr(ProducerStateManager, "_first_ongoing", lambda self: max(self.ongoing, default=None))


def aborted_index_loses_an_entry(patch: Patch) -> None:
    """Omit an aborted transaction from responses to readers."""
    append = SegmentedLog.append_aborted_txn

    def planted(self: SegmentedLog, transaction: Any) -> None:
        # Which one is lost depends on the log alone, so that the same example fails again when it is repeated.
        if not self.segments[-1].aborted_txns:
            append(self, transaction)

    patch.setattr(SegmentedLog, "append_aborted_txn", planted)


def epoch_kept_at_the_end(patch: Patch) -> None:
    """Transaction version 2 ends a transaction without a new epoch: late records would join the next one."""

    def planted(current: Any, pending: Any, *arguments: Any) -> Any:
        return decide_end(current, pending, *arguments[:4])

    patch.setattr(coordinator, "decide_end_with_bump", planted)


def one_batch_remembered(patch: Patch) -> None:
    """Of the last five batches of a producer only the newest is known as a duplicate."""
    find = ProducerEntry.duplicate_of

    def planted(self: ProducerEntry, *arguments: Any) -> RetainedBatch | None:
        found = find(self, *arguments)
        return found if found is not None and found is self.batches[-1] else None

    patch.setattr(ProducerEntry, "duplicate_of", planted)


def partitions_not_verified(patch: Patch) -> None:
    """A record is taken without asking whether its partition is in the transaction; it hangs for ever."""
    patch.setattr(VerificationPolicy, "is_needed", lambda *_, **__: False)


def markers_before_the_outcome_is_durable(patch: Patch) -> None:
    """Markers are sent while the decision to commit could still be lost."""
    append = TransactionStateManager.append

    def planted(self: TransactionStateManager, cached: Any, following: Any, done: Callable[[ErrorCode], None]) -> None:
        if following.state in PREPARED:
            append(self, cached, following, lambda error: None)
            cached.metadata = following
            done(ErrorCode.NONE)
        else:
            append(self, cached, following, done)

    patch.setattr(TransactionStateManager, "append", planted)


# --- groups -----------------------------------------------------------------------------------------------------------


def aborted_offsets_applied(patch: Patch) -> None:
    """Apply the offsets of an aborted transaction, so its input is never read again."""
    end = OffsetStore.end_transaction
    patch.setattr(OffsetStore, "end_transaction", lambda self, producer_id, _committed: end(self, producer_id, True))


def silent_members_kept(patch: Patch) -> None:
    """A member stays although its session is over."""
    patch.setattr(classic_driver, "session_timer_fired", lambda group, *_: Step(group))


def subscribed_offsets_deleted(patch: Patch) -> None:
    """OffsetDelete takes the offsets of a topic that members are reading."""
    patch.setattr(ClassicGroup, "is_subscribed_to", lambda self, topic: False)


def subscribed_offsets_expire(patch: Patch) -> None:
    """Offsets expire by their age alone, also those that a quiet group still needs."""

    def planted(_group: Any, offset: Any, _topic: str, now_ms: int, retention_ms: int) -> bool:
        return bool(now_ms - offset.commit_timestamp_ms >= retention_ms)

    patch.setattr(admin, "is_expired", planted)


def unstable_offsets_shown(patch: Patch) -> None:
    """Hide from a stable read that a transaction is about to change the offsets."""
    patch.setattr(OffsetStore, "is_pending", lambda *_: False)


def zombies_commit(patch: Patch) -> None:
    """A member of an old generation moves the offsets of its successors."""
    patch.setattr(offset_manager, "validate_commit", lambda *_: ErrorCode.NONE)


def served_while_loading(patch: Patch) -> None:
    """A coordinator answers before it has read its log (which takes a while here)."""
    load = GroupCoordinator._load

    def slow(self: GroupCoordinator, shard: Any) -> None:
        self._host.runtime.call_later(SLOW_LOAD_MS, partial(load, self, shard))

    def planted(self: GroupCoordinator, group_id: str) -> Any:
        return self._shards.get(self.partition_for(group_id), ErrorCode.NOT_COORDINATOR)

    patch.setattr(GroupCoordinator, "_load", slow)
    patch.setattr(GroupCoordinator, "find_shard", planted)


def partitions_given_away_early(patch: Patch) -> None:
    """A partition goes to its next owner before the last one has given it back."""
    patch.setattr(ConsumerGroup, "owned_partitions", lambda *_, **__: NO_PARTITIONS)


def silent_consumers_kept(patch: Patch) -> None:
    """A KIP-848 member keeps its partitions although its session is over."""
    patch.setattr(ConsumerDriver, "_fence", lambda *_: None)


# --- replication ------------------------------------------------------------------------------------------------------


def high_watermark_of_the_leader(patch: Patch) -> None:
    """The high watermark of an ordinary topic does not wait for the replicas in sync."""
    advance = Partition.maybe_advance_high_watermark

    def planted(self: Partition) -> bool:
        if self.partition.topic.startswith("__"):
            return advance(self)
        isr, pending_isr = self.isr, self.pending_isr
        self.isr, self.pending_isr = (self.broker_id,), None
        try:
            return advance(self)
        finally:
            self.isr, self.pending_isr = isr, pending_isr

    patch.setattr(Partition, "maybe_advance_high_watermark", planted)


def divergence_overlooked(patch: Patch) -> None:
    """A follower keeps records of a leader epoch that lost the election."""

    def planted(self: LeaderEpochs, epoch: int, end_offset: int) -> tuple[int, int]:
        return epoch, end_offset

    patch.setattr(LeaderEpochs, "end_offset_for", planted)


def unclean_elections(patch: Patch) -> None:
    """A replica that lacks acknowledged records becomes leader although the topic forbids it."""
    elect = elections.elect_leader
    patch.setattr(
        elections,
        "elect_leader",
        lambda state, is_active, *, allow_unclean, prefer_first=False: elect(
            state, is_active, allow_unclean=True, prefer_first=prefer_first
        ),
    )


class Planted(NamedTuple):
    """A bug, and the machine that must find it."""

    machine: type[RuleBasedStateMachine]
    plant: Callable[[Patch], None]
    seed: int = 1


PLANTED = [
    Planted(ExactlyOnce, reinitialize_without_abort),
    Planted(ExactlyOnce, stable_offset_of_the_newest),
    Planted(ExactlyOnce, aborted_index_loses_an_entry),
    Planted(ExactlyOnce, partitions_not_verified),
    Planted(ExactlyOnceImplicit, epoch_kept_at_the_end),
    Planted(ExactlyOnceImplicit, one_batch_remembered),
    Planted(Groups, aborted_offsets_applied, seed=2),
    Planted(Groups, silent_members_kept),
    Planted(Groups, subscribed_offsets_deleted),
    Planted(Groups, subscribed_offsets_expire),
    Planted(Groups, unstable_offsets_shown, seed=2),
    Planted(Groups, zombies_commit),
    Planted(Groups, served_while_loading),
    Planted(ConsumerGroups, partitions_given_away_early),
    Planted(ConsumerGroups, silent_consumers_kept, seed=4),
    Planted(Replication, markers_before_the_outcome_is_durable),
    Planted(Replication, high_watermark_of_the_leader),
    Planted(Replication, divergence_overlooked),
    Planted(Replication, unclean_elections),
]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.plant.__name__)
def test_planted_bugs_are_found(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.plant(monkeypatch)
    # Shrinking is for people; that the bug is found at all is the point here.
    found = settings(
        SETTINGS,
        max_examples=MAX_EXAMPLES,
        phases=[Phase.generate],
        database=None,
        report_multiple_bugs=False,
    )
    machine = seed(planted.seed)(lambda: planted.machine())
    with pytest.raises((AssertionError, TimeoutError)):  # a request that is never answered is a finding too
        run_state_machine_as_test(machine, settings=found)
