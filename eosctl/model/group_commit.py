"""Offsets committed in transactions, from `__consumer_offsets`."""

from __future__ import annotations

import msgspec

from eosctl.model.transaction import TopicPartition


class GroupCommit(msgspec.Struct, frozen=True, gc=False):
    """An offset of a committed transaction, with its position in the log and the time of the record."""

    group_id: str
    partition: TopicPartition
    offset: int
    producer_id: int
    producer_epoch: int
    log_partition: int
    log_offset: int
    written_at_ms: int


class StaleOffset(msgspec.Struct, frozen=True):
    """An offset that differs between the coordinator and its log (KAFKA-17507).

    `reported_offset` is the coordinator's response, and `logged_offset` the result of loading the log now; None for no
    offset. `log_offset` is the position of the record.
    """

    group_id: str
    partition: TopicPartition
    reported_offset: int | None
    logged_offset: int | None
    log_offset: int
