"""Timeouts of transactions and expiration of idle ids."""

from __future__ import annotations

from typing import Final

from eosctl.model.transaction import TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import AT_REST, ONGOING, TransactionMetadata

NEVER_MS: Final = (1 << 63) - 1


def is_timed_out(current: TransactionMetadata, pending: TransactionState | None, now_ms: int) -> bool:
    """Return whether the abort scan must end this transaction; only Ongoing transactions time out."""
    return (
        current.state is ONGOING
        and current.times_out_at_ms < now_ms  # Checked first, since it is false nearly always.
        and pending is None
        and not current.is_two_phase_commit
    )


def is_expired(current: TransactionMetadata, pending: TransactionState | None, now_ms: int, expiration_ms: int) -> bool:
    """Return whether the id has been idle for `transactional.id.expiration.ms`."""
    return current.state in AT_REST and pending is None and current.last_update_ms + expiration_ms <= now_ms
