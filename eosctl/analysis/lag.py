"""The lag of read_committed groups: readable records, records hidden by open transactions, and overhead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC
from eosctl.analysis.locate import coordinator_partition
from eosctl.analysis.lso import find_stable_offset_gaps
from eosctl.model.group_details import SharePartition
from eosctl.model.hang import HangVerdict
from eosctl.model.lag import PartitionLag, Pin
from eosctl.model.snapshot import ClusterSnapshot, Group, PendingOffset
from eosctl.model.transaction import TopicPartition

SHARE_ISOLATION: Final = "share.isolation.level"
READ_COMMITTED: Final = "read_committed"


def measure_lag(
    snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict], group_ids: Iterable[str] = ()
) -> tuple[PartitionLag, ...]:
    """Measure the lag of groups, by group and partition.

    Args:
        snapshot: With groups, their offsets and those of the partitions.
        verdicts: From ``classify_open_transactions`` of the same snapshot.
        group_ids: Only these; all when empty.
    """
    wanted = frozenset(group_ids)
    infos = snapshot.partitions_by_name
    holders = {gap.partition: gap.holder for gap in find_stable_offset_gaps(snapshot, verdicts)}
    readable = {(found.partition, found.first_offset): found for found in snapshot.readable_ranges}
    found = []
    for group in snapshot.groups:
        clients = {where: f"{m.client_id}@{m.host.lstrip('/')}" for m in group.members for where in m.assignment}
        for committed in group.offsets if not wanted or group.group_id in wanted else ():
            info = infos.get(committed.partition)
            if committed.offset is None or info is None or info.last_stable_offset is None:
                continue
            stable, end = info.last_stable_offset, info.high_watermark
            if end is None:
                continue
            position = max(committed.offset, info.log_start_offset or 0)
            found.append(
                PartitionLag(
                    group.group_id,
                    committed.partition,
                    committed.offset,
                    stable,
                    end,
                    readable_offsets=max(0, stable - position),
                    blocked_offsets=max(0, end - max(position, stable)),
                    readable=readable.get((committed.partition, position)),
                    blocked_by=holders.get(committed.partition) if end > max(position, stable) else None,
                    unstable=committed.unstable,
                    client=clients.get(committed.partition, ""),
                    group_type=group.group_type,
                    deleted_offsets=position - committed.offset,
                    beyond_end_offsets=max(0, committed.offset - end),
                )
            )
        for share in group.share_partitions if not wanted or group.group_id in wanted else ():
            lag = _lag_of_share_partition(snapshot, group, share, clients.get(share.partition, ""))
            if lag is not None:
                found.append(replace(lag, blocked_by=holders.get(share.partition) if lag.blocked_offsets else None))
    return tuple(sorted(found, key=lambda lag: (lag.group_id, lag.partition)))


def _lag_of_share_partition(
    snapshot: ClusterSnapshot, group: Group, share: SharePartition, client: str
) -> PartitionLag | None:
    """Return the lag that brokers report, which does not count records that are done; None if they do not report it.

    A share group reads beyond the last stable offset unless its isolation level is read_committed.
    """
    info = snapshot.partition(share.partition)
    if share.start_offset is None or share.lag is None or info is None:
        return None
    stable, end = info.last_stable_offset, info.high_watermark
    if stable is None or end is None:
        return None
    isolation = group.setting(SHARE_ISOLATION)
    is_held = isolation is not None and isolation.value == READ_COMMITTED
    blocked = min(share.lag, max(0, end - max(share.start_offset, stable))) if is_held else 0
    return PartitionLag(
        group.group_id,
        share.partition,
        share.start_offset,
        stable,
        end,
        readable_offsets=share.lag - blocked,
        blocked_offsets=blocked,
        readable=None,
        blocked_by=None,
        unstable=False,
        client=client,
        group_type=group.group_type,
    )


def find_pins(
    snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict], group_ids: Iterable[str] = ()
) -> tuple[Pin, ...]:
    """Find unstable offsets, by group and partition, with the transactions that pin them.

    Args:
        snapshot: With group offsets (asked with and without require_stable) and pending offsets.
        verdicts: From ``classify_open_transactions`` of the same snapshot.
        group_ids: Only these; all when empty.
    """
    wanted = frozenset(group_ids)
    topic = snapshot.topic(CONSUMER_OFFSETS_TOPIC)
    if topic is None or not topic.partitions:
        return ()
    committed = {(group.group_id, c.partition): c for group in snapshot.groups for c in group.offsets}
    newest: dict[tuple[str, TopicPartition], PendingOffset] = {}
    for pending in sorted(snapshot.pending_offsets, key=lambda p: p.log_offset):
        newest[pending.group_id, pending.partition] = pending
    pins = []
    # Brokers do not name a partition without a committed offset; the log does.
    for where in {where for where, found in committed.items() if found.unstable} | set(newest):
        group_id, partition = where
        if wanted and group_id not in wanted:
            continue
        home = coordinator_partition(CONSUMER_OFFSETS_TOPIC, group_id, len(topic.partitions))
        held = newest.get(where)
        holders = tuple(
            v
            for v in verdicts
            if v.transaction.partition == home and (held is None or v.transaction.producer_id == held.producer_id)
        )
        before = committed.get(where)
        if not holders and (before is None or not before.unstable):
            continue  # it ended while it was read
        owners = [one for look in snapshot.looks[-1:] if held for one in look.owners_of(held.producer_id)]
        pins.append(
            Pin(
                group_id=group_id,
                partition=partition,
                committed_offset=None if before is None else before.offset,
                offsets_partition=home,
                pending=held,
                transactional_id=owners[0].transactional_id if owners else None,
                holders=holders,
            )
        )
    return tuple(sorted(pins, key=lambda pin: (pin.group_id, pin.partition)))
