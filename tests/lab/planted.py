"""Bugs for whole clusters, in addition to those of `tests.sandbox.test_planted_bugs`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eosctl.sandbox.coordinator.group.offset_store import OffsetStore
from eosctl.sandbox.coordinator.transaction import coordinator
from eosctl.sandbox.coordinator.transaction.rules.decision import Transition
from eosctl.sandbox.coordinator.transaction.state_manager import TransactionStateManager

Patch = pytest.MonkeyPatch


def epoch_kept_at_initialisation(patch: Patch) -> None:
    """A new instance gets the epoch of the last one, which is not fenced then."""
    decide = coordinator.decide_init_producer_id

    def planted(current: Any, *arguments: Any, **options: Any) -> Any:
        decision = decide(current, *arguments, **options)
        if isinstance(decision, Transition) and current.producer_epoch >= 0:
            return Transition(replace(decision.next, producer_epoch=current.producer_epoch))
        return decision

    patch.setattr(coordinator, "decide_init_producer_id", planted)


def aborts_commit(patch: Patch) -> None:
    """Commit transactions that a client aborts."""
    for name in ("decide_end", "decide_end_with_bump"):
        decide = getattr(coordinator, name)

        def planted(
            current: Any,
            pending: Any,
            producer_id: int,
            producer_epoch: int,
            committed: bool,
            *rest: Any,
            decide: Any = decide,
        ) -> Any:
            return decide(current, pending, producer_id, producer_epoch, True, *rest)

        patch.setattr(coordinator, name, planted)


def offsets_count_before_the_marker(patch: Patch) -> None:
    """A group's offset is visible as soon as a transaction has written it."""
    put_pending = OffsetStore.put_pending

    def planted(self: OffsetStore, producer_id: int, group_id: str, partition: Any, value: Any) -> Any:
        if value.record_offset >= 0:
            self.commit(group_id, partition, value)
            return None
        return put_pending(self, producer_id, group_id, partition, value)

    patch.setattr(OffsetStore, "put_pending", planted)
    patch.setattr(OffsetStore, "is_pending", lambda *_: False)


def transactions_forgotten_by_the_next_coordinator(patch: Patch) -> None:
    """Skip the log when a coordinator takes over a partition."""
    load = TransactionStateManager._load

    def planted(self: TransactionStateManager, partition: Any, _batches: Any, latest: Any) -> None:
        load(self, partition, iter(()), latest)

    patch.setattr(TransactionStateManager, "_load", planted)
