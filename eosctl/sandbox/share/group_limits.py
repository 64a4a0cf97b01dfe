"""The settings of a share group that matter to leaders of partitions (`ShareGroupConfigProvider`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eosctl.sandbox.group_settings import (
    AUTO_OFFSET_RESET,
    DEAD_LETTER_TOPIC,
    ISOLATION_LEVEL,
    RENEW_ENABLE,
    group_int,
    reset_duration_ms,
)
from eosctl.sandbox.ports import BrokerConfig
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.reading import READ_COMMITTED, READ_UNCOMMITTED
from eosctl.sandbox.share.in_flight import ShareLimits

DELIVERY_COUNT_LIMIT: Final = "share.delivery.count.limit"
MAX_RECORD_LOCKS: Final = "share.partition.max.record.locks"
FIRST_VERSION_WITH_DEAD_LETTERS: Final = 2
LOCK_DURATION: Final = "share.record.lock.duration.ms"


def read_limits(own: Mapping[str, str], config: BrokerConfig, share_version: int) -> ShareLimits:
    """Read a group's limits; its own settings override the broker's, and `share.version` limits them."""
    return ShareLimits(
        max_delivery_count=group_int(own, DELIVERY_COUNT_LIMIT, config.get_int),
        max_record_locks=group_int(own, MAX_RECORD_LOCKS, config.get_int),
        lock_duration_ms=group_int(own, LOCK_DURATION, config.get_int),
        renews_locks=own.get(RENEW_ENABLE, "true").lower() == "true",
        has_dead_letters=share_version >= FIRST_VERSION_WITH_DEAD_LETTERS and bool(own.get(DEAD_LETTER_TOPIC)),
    )


def isolation_level(own: Mapping[str, str]) -> int:
    """Return whether the group reads uncommitted records (0, the default) or only committed ones (1)."""
    return READ_COMMITTED if own.get(ISOLATION_LEVEL, "").lower() == "read_committed" else READ_UNCOMMITTED


def initial_offset(own: Mapping[str, str], partition: Partition, now_ms: int) -> int:
    """Return where a group without a start offset begins: at the end, unless it is set otherwise."""
    strategy, log = own.get(AUTO_OFFSET_RESET, "latest"), partition.log
    if strategy == "earliest":
        return log.start_offset
    duration_ms = reset_duration_ms(strategy)
    if duration_ms is not None:
        found = log.store.offset_for_time(now_ms - duration_ms)
        if found is not None and found.offset < log.high_watermark:
            return found.offset
    return log.high_watermark
