"""Differences between two snapshots of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from eosctl.model.setting import Setting
from eosctl.model.snapshot import ClusterSnapshot, Group, PartitionInfo, SnapshotChange

T = TypeVar("T")


def diff_snapshots(before: ClusterSnapshot, after: ClusterSnapshot) -> tuple[SnapshotChange, ...]:
    """Compare two snapshots. Increased offsets are omitted; an unchanged last stable offset is included."""
    return (
        *_brokers(before, after),
        *_features(before, after),
        *_partitions(before, after),
        *_transactions(before, after),
        *_producers(before, after),
        *_groups(before, after),
    )


def _brokers(before: ClusterSnapshot, after: ClusterSnapshot) -> Iterator[SnapshotChange]:
    old, new = {b.node_id: b for b in before.brokers}, {b.node_id: b for b in after.brokers}
    yield from _there("broker", {str(k): "" for k in old}, {str(k): "" for k in new})
    for node_id in sorted(old.keys() & new.keys()):
        one, other = old[node_id], new[node_id]
        yield from _changed("broker", str(node_id), "reachable", one.reachable, other.reachable)
        yield from _changed("broker", str(node_id), "fenced", one.fenced, other.fenced)
        yield from _settings("broker", str(node_id), one.settings, other.settings)
    if before.controller_id is not None and after.controller_id is not None:
        yield from _changed("cluster", after.cluster_id, "controller", before.controller_id, after.controller_id)


def _features(before: ClusterSnapshot, after: ClusterSnapshot) -> Iterator[SnapshotChange]:
    old, new = {f.name: f.finalized for f in before.features}, {f.name: f.finalized for f in after.features}
    for name in sorted(old.keys() | new.keys()):
        yield from _changed("feature", name, "finalized", old.get(name), new.get(name))


def _partitions(before: ClusterSnapshot, after: ClusterSnapshot) -> Iterator[SnapshotChange]:
    old_topics, new_topics = {t.name: t for t in before.topics}, {t.name: t for t in after.topics}
    yield from _there("topic", dict.fromkeys(old_topics, ""), dict.fromkeys(new_topics, ""))
    for name in sorted(old_topics.keys() & new_topics.keys()):
        one, other = old_topics[name], new_topics[name]
        yield from _changed("topic", name, "topic id", one.topic_id, other.topic_id)
        yield from _changed("topic", name, "partitions", len(one.partitions), len(other.partitions))
        yield from _settings("topic", name, one.settings, other.settings)
        known = {info.partition: info for info in one.partitions}
        for info in other.partitions:
            if info.partition in known:
                yield from _partition(known[info.partition], info)


def _partition(old: PartitionInfo, new: PartitionInfo) -> Iterator[SnapshotChange]:
    name = str(new.partition)
    yield from _changed("partition", name, "leader", old.leader_id, new.leader_id)
    yield from _changed("partition", name, "leader epoch", old.leader_epoch, new.leader_epoch)
    yield from _changed("partition", name, "in-sync replicas", _ids(old.isr), _ids(new.isr))
    if None in (old.high_watermark, new.high_watermark, old.last_stable_offset, new.last_stable_offset):
        return
    grew = (new.high_watermark or 0) - (old.high_watermark or 0)
    if grew < 0:
        yield SnapshotChange("partition", name, "high watermark", str(old.high_watermark), str(new.high_watermark))
    elif grew and new.last_stable_offset == old.last_stable_offset:
        offset = str(new.last_stable_offset)
        yield SnapshotChange(
            "partition", name, f"last stable offset stands still while {grew} were appended", offset, offset
        )


def _transactions(before: ClusterSnapshot, after: ClusterSnapshot) -> Iterator[SnapshotChange]:
    old, new = {t.transactional_id: t for t in before.transactions}, {t.transactional_id: t for t in after.transactions}
    yield from _there("transaction", {k: t.state for k, t in old.items()}, {k: t.state for k, t in new.items()})
    for name in sorted(old.keys() & new.keys()):
        one, other = old[name], new[name]
        yield from _changed("transaction", name, "state", one.state, other.state)
        yield from _changed("transaction", name, "producer id", one.producer_id, other.producer_id)
        yield from _changed("transaction", name, "epoch", one.producer_epoch, other.producer_epoch)
        yield from _changed("transaction", name, "coordinator", one.coordinator_id, other.coordinator_id)
        yield from _changed("transaction", name, "timeout ms", one.timeout_ms, other.timeout_ms)
        if one.state == other.state == "Ongoing" and one.start_time_ms == other.start_time_ms is not None:
            started = str(one.start_time_ms)
            yield SnapshotChange(
                "transaction", name, "the same transaction is still open, begun at ms", started, started
            )


def _producers(before: ClusterSnapshot, after: ClusterSnapshot) -> Iterator[SnapshotChange]:
    def opened(snapshot: ClusterSnapshot) -> dict[str, str]:
        return {
            f"{where.partition} producer id {state.producer_id}": f"open since offset {state.current_txn_start_offset}"
            for where in snapshot.producers
            for state in where.producers
            if state.current_txn_start_offset is not None
        }

    old, new = opened(before), opened(after)
    for name in sorted(old.keys() | new.keys()):
        yield from _changed("producer", name, "open transaction", old.get(name), new.get(name))


def _groups(before: ClusterSnapshot, after: ClusterSnapshot) -> Iterator[SnapshotChange]:
    old, new = {g.group_id: g for g in before.groups}, {g.group_id: g for g in after.groups}
    yield from _there("group", {k: g.state for k, g in old.items()}, {k: g.state for k, g in new.items()})
    for name in sorted(old.keys() & new.keys()):
        one, other = old[name], new[name]
        yield from _changed("group", name, "state", one.state, other.state)
        yield from _changed("group", name, "members", len(one.members), len(other.members))
        yield from _group_offsets(one, other)


def _group_offsets(one: Group, other: Group) -> Iterator[SnapshotChange]:
    old, new = {c.partition: c for c in one.offsets}, {c.partition: c for c in other.offsets}
    for where in sorted(old.keys() & new.keys()):
        before, after = old[where], new[where]
        subject = f"{one.group_id} on {where}"
        yield from _changed("group", subject, "held by a transaction", before.unstable, after.unstable)
        if (after.offset or 0) < (before.offset or 0):
            yield SnapshotChange("group", subject, "committed offset went back", str(before.offset), str(after.offset))


def _settings(kind: str, name: str, old: Iterable[Setting], new: Iterable[Setting]) -> Iterator[SnapshotChange]:
    before, after = {s.name: s.value for s in old}, {s.name: s.value for s in new}
    if not before or not after:
        return  # Not collected in one of them, so they cannot be compared.
    for setting in sorted(before.keys() | after.keys()):
        yield from _changed(kind, name, setting, before.get(setting), after.get(setting))


def _there(kind: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[SnapshotChange]:
    for name in sorted(new.keys() - old.keys()):
        yield SnapshotChange(kind, name, "appeared", "", new[name])
    for name in sorted(old.keys() - new.keys()):
        yield SnapshotChange(kind, name, "vanished", old[name], "")


def _changed(kind: str, subject: str, what: str, before: object, after: object) -> Iterator[SnapshotChange]:
    if before != after:
        yield SnapshotChange(kind, subject, what, _text(before), _text(after))


def _text(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _ids(ids: Iterable[int]) -> str:
    return ",".join(str(node_id) for node_id in sorted(ids))
