"""Anomalies of replication: offset bounds, leaders, ISRs, and logs.

The invariants are those of Vanlightly's TLA+ models of Kafka's replication: consistent reads, matching logs up to the
lower high watermark, non-empty ISRs, and complete logs of leaders and candidates.
"""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.lab.history.anomaly import Anomaly, Kind
from eosctl.lab.history.events import BatchSeen, History, ReplicaSeen
from eosctl.model.transaction import TopicPartition


def check_bounds(history: History) -> Iterator[Anomaly]:
    """Yield replicas with inconsistent offsets, and leaders whose high watermark or last stable offset decreased."""
    last: dict[tuple[TopicPartition, int, int, int], ReplicaSeen] = {}
    for event in history:
        if not isinstance(event, ReplicaSeen):
            continue
        place = f"{event.partition} on broker {event.broker_id}"
        offsets = (event.log_start_offset, event.last_stable_offset, event.high_watermark, event.log_end_offset)
        if sorted(offsets) != list(offsets):
            yield Anomaly(Kind.WATERMARK_ORDER, f"{place}: {' <= '.join(map(str, offsets))} is wrong", (event,))
        if not event.is_leader:
            continue
        key = (event.partition, event.broker_id, event.incarnation, event.leader_epoch)
        before = last.get(key)
        if before is not None and (
            event.high_watermark < before.high_watermark or event.last_stable_offset < before.last_stable_offset
        ):
            yield Anomaly(Kind.WATERMARK_REGRESSION, place, (before, event))
        last[key] = event


def check_leaders(history: History) -> Iterator[Anomaly]:
    """Yield leaders outside of their own ISR, and two leaders of one epoch."""
    leaders: dict[tuple[TopicPartition, int], ReplicaSeen] = {}
    reported: set[tuple[TopicPartition, int, int]] = set()
    for event in history:
        if not isinstance(event, ReplicaSeen) or not event.is_leader:
            continue
        key = (event.partition, event.leader_epoch, event.broker_id)
        first = leaders.setdefault(key[:2], event)
        place = f"{event.partition}, leader epoch {event.leader_epoch}"
        if key in reported:
            continue
        if first.broker_id != event.broker_id:
            reported.add(key)
            yield Anomaly(Kind.BROKEN_ISR, f"{place}: brokers {first.broker_id} and {event.broker_id}", (first, event))
        elif event.broker_id not in event.isr:
            reported.add(key)
            yield Anomaly(Kind.BROKEN_ISR, f"{place}: broker {event.broker_id} leads, in sync {event.isr}", (event,))


def check_completeness(history: History) -> Iterator[Anomaly]:
    """Yield new leaders and in-sync replicas with a log end below a leader's earlier high watermark.

    Replicas after an unclean election, or after a disk lost unflushed data, are exempt.
    """
    highest: dict[TopicPartition, ReplicaSeen] = {}
    owed: dict[tuple[TopicPartition, int], ReplicaSeen] = {}  # By the replicas in sync with that leader.
    reported: set[tuple[TopicPartition, int]] = set()
    for event in history:
        if not isinstance(event, ReplicaSeen):
            continue
        place, end = (event.partition, event.broker_id), event.log_end_offset
        former = owed.get(place)
        if event.is_leader and (former is None or end >= former.high_watermark):
            led = highest.get(event.partition)
            former = led if led is not None and led.leader_epoch < event.leader_epoch else None
        if former is not None and end < former.high_watermark and place not in reported:
            reported.add(place)
            where = f"{event.partition} on broker {event.broker_id}"
            subject = f"{where} ends at {end}, broker {former.broker_id} had {former.high_watermark} replicated"
            yield Anomaly(Kind.INCOMPLETE_REPLICA, subject, (former, event))
        if event.is_leader:
            highest[event.partition] = _higher(highest.get(event.partition), event)
            for broker_id in event.isr:
                owed[event.partition, broker_id] = _higher(owed.get((event.partition, broker_id)), event)


def _higher(known: ReplicaSeen | None, event: ReplicaSeen) -> ReplicaSeen:
    return event if known is None or event.high_watermark > known.high_watermark else known


def check_logs(history: History) -> Iterator[Anomaly]:
    """Yield batches that differ between two replicas."""
    contents: dict[tuple[TopicPartition, int], BatchSeen] = {}
    for event in history:
        if isinstance(event, BatchSeen):
            first = contents.setdefault((event.partition, event.base_offset), event)
            if first.checksum != event.checksum:
                subject = f"{event.partition}@{event.base_offset} on brokers {first.broker_id} and {event.broker_id}"
                yield Anomaly(Kind.LOG_DIVERGENCE, subject, (first, event))
