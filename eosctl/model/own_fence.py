"""Fences that eosctl made from this machine, as its audit file records them."""

from __future__ import annotations

import msgspec


class OwnFence(msgspec.Struct, frozen=True):
    """A fence that a coordinator accepted from eosctl.

    The outcome names the epoch that the coordinator returned, so the record in the transaction log is identified
    without comparing clocks.

    Attributes:
        at_ms: When the outcome was recorded, by the clock of the machine that fenced, in ms since the epoch.
        command: The command, e.g. ``eosctl txn fence``.
        user: The user who ran it; empty if the audit file does not name one.
        host: The machine.
        transactional_id: The id.
        fenced_producer_id: The producer id before the fence.
        successor_epoch: The epoch that the coordinator assigned.
        found_open: Whether a transaction of the id was open immediately before.
    """

    at_ms: int
    command: str
    user: str
    host: str
    transactional_id: str
    fenced_producer_id: int
    successor_epoch: int
    found_open: bool

    @property
    def who(self) -> str:
        """Return user and machine in words."""
        return f"{self.user or 'an unnamed user'} on {self.host or 'an unnamed machine'}"
