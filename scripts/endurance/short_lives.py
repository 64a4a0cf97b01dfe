"""Broker settings for long runs: retention and expiration of minutes instead of days.

So a run of an hour covers many expirations, and recoveries read only minutes of logs.
"""

from __future__ import annotations

from typing import Final

SETTINGS: Final = {
    "log.cleaner.backoff.ms": "5000",
    "log.cleaner.delete.retention.ms": "30000",
    "log.cleaner.min.cleanable.ratio": "0.1",
    "log.retention.check.interval.ms": "10000",
    "log.segment.delete.delay.ms": "1000",
    "metadata.log.max.record.bytes.between.snapshots": str(256 * 1024),
    "metadata.log.max.snapshot.interval.ms": "60000",
    "metadata.log.segment.ms": "60000",
    "metadata.max.retention.ms": "120000",
    "offsets.retention.check.interval.ms": "10000",
    "offsets.retention.minutes": "1",
    "offsets.topic.num.partitions": "5",
    "offsets.topic.segment.bytes": str(1 << 20),
    "producer.id.expiration.check.interval.ms": "10000",
    "producer.id.expiration.ms": "60000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "10000",
    "transaction.state.log.num.partitions": "5",
    "transaction.state.log.segment.bytes": str(1 << 20),
    "transactional.id.expiration.ms": "60000",
}
