"""Offsets that transactions committed for groups, as `__consumer_offsets` keeps them."""

from __future__ import annotations

import msgspec

from eosctl.model.transaction import TopicPartition


class GroupCommit(msgspec.Struct, frozen=True):
    """An offset committed in a transaction that has committed; its place in the log and the time of the record."""

    group_id: str
    partition: TopicPartition
    offset: int
    producer_id: int
    producer_epoch: int
    log_partition: int
    log_offset: int
    written_at_ms: int


class StaleOffset(msgspec.Struct, frozen=True):
    """An offset of which the coordinator says something else than its log, as KAFKA-17507 brings about.

    `told_offset` is the coordinator's answer and `logged_offset` what a coordinator would read that loads the log now;
    None for no offset. `log_offset` is where the record is.
    """

    group_id: str
    partition: TopicPartition
    told_offset: int | None
    logged_offset: int | None
    log_offset: int
