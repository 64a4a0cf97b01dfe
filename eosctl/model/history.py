"""Records of transactional ids in `__transaction_state`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from eosctl.model.transaction import TopicPartition


class TransactionLogEntry(msgspec.Struct, frozen=True):
    """One record of the transaction log.

    `state` is the state's wire name, empty for a tombstone (the id expired). `coordinator_epoch` is the leader epoch of
    the batch. Times are the coordinator's clock in ms since the epoch; `start_time_ms` None when no transaction had
    begun. `client_transaction_version` is 0 for clients below TV2 and on brokers that do not write it.
    """

    transactional_id: str
    log_partition: int
    offset: int
    coordinator_epoch: int
    written_at_ms: int
    state: str
    producer_id: int = -1
    producer_epoch: int = -1
    timeout_ms: int = -1
    partitions: tuple[TopicPartition, ...] = ()
    updated_at_ms: int = -1
    start_time_ms: int | None = None
    client_transaction_version: int = 0


RECORDS_PER_PARTITION: Final = 5_000
"""How many of the newest offsets of each partition of the log are read."""
History = Mapping[str, tuple[TransactionLogEntry, ...]]
"""The records of each transactional id, oldest first."""
