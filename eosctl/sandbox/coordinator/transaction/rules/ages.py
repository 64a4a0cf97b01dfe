"""What time does to a transactional id: transactions time out, idle ids expire."""

from __future__ import annotations

from typing import Final

from eosctl.model.transaction import TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import AT_REST, ONGOING, TransactionMetadata

NEVER_MS: Final = (1 << 63) - 1


def is_timed_out(current: TransactionMetadata, pending: TransactionState | None, now_ms: int) -> bool:
    """Return whether the abort scan must end this transaction; only Ongoing times out, never a prepared state."""
    return (
        current.state is ONGOING
        and current.times_out_at_ms < now_ms  # asked first: nearly always it says no
        and pending is None
        and not current.is_two_phase_commit
    )


def is_expired(current: TransactionMetadata, pending: TransactionState | None, now_ms: int, expiration_ms: int) -> bool:
    """Return whether the id has been idle for `transactional.id.expiration.ms` and is to be forgotten."""
    return current.state in AT_REST and pending is None and current.last_update_ms + expiration_ms <= now_ms
