"""Groups of all types: a list, and a description of each with members, partitions, and topology."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from eosctl.model.group_details import DeliveredRange, DeliveryState, StreamsTopology, TopicProblems
from eosctl.model.lag import PartitionLag
from eosctl.model.setting import Setting
from eosctl.model.snapshot import ClusterSnapshot, Group, GroupMember
from eosctl.render.envelope import listing
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.render.listing import Column, number_cell, render_listing
from eosctl.render.page import Block, Field, Grid, Line, Style, render_page
from eosctl.render.transactions.lag import LagItem, lag_item
from eosctl.text import count_text, time_text


class GroupItem(msgspec.Struct, frozen=True):
    """A group in a list; ``group_type`` is empty where the broker does not report it (before 3.8)."""

    group_id: str
    group_type: str
    protocol_type: str
    state: str
    coordinator_id: int
    member_count: int


class DeliveredItem(msgspec.Struct, frozen=True):
    """Delivered records of a share group that are not done, or were given up, as the log of its coordinator shows."""

    topic: str
    partition: int
    first_offset: int
    last_offset: int
    state: str
    delivery_count: int
    written_at: str


class MemberItem(msgspec.Struct, frozen=True):
    """A member; ``topology_epoch`` is None for members of other groups than streams groups."""

    member_id: str
    client_id: str
    host: str
    group_instance_id: str | None
    partitions: tuple[str, ...]
    topology_epoch: int | None


class DescribedItem(msgspec.Struct, frozen=True):
    """A group with its members, the lag of its partitions, and what only groups of its type have."""

    group_id: str
    group_type: str
    protocol_type: str
    protocol: str
    state: str
    coordinator_id: int
    members: tuple[MemberItem, ...]
    partitions: tuple[LagItem, ...]
    deliveries: tuple[DeliveredItem, ...]
    settings: tuple[Setting, ...]
    topology: StreamsTopology | None
    missing_topics: tuple[str, ...]
    wrong_partition_counts: tuple[str, ...]


GROUP_COLUMNS: Final[tuple[Column[GroupItem], ...]] = (
    Column("GROUP", lambda item: item.group_id),
    Column("TYPE", lambda item: item.group_type or "-"),
    Column("STATE", lambda item: item.state),
    Column("MEMBERS", lambda item: str(item.member_count)),
    Column("COORDINATOR", lambda item: str(item.coordinator_id)),
    Column("PROTOCOL", lambda item: item.protocol_type or "-", wide=True),
)

DESCRIBED_COLUMNS: Final[tuple[Column[DescribedItem], ...]] = (
    Column("GROUP", lambda item: item.group_id),
    Column("TYPE", lambda item: item.group_type or "-"),
    Column("STATE", lambda item: item.state),
    Column("COORDINATOR", lambda item: str(item.coordinator_id)),
    Column("MEMBERS", lambda item: str(len(item.members))),
    Column("LAG", lambda item: str(sum(one.lag_offsets for one in item.partitions))),
)


def render_groups(snapshot: ClusterSnapshot, now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render a list of groups."""
    items = tuple(
        GroupItem(
            group_id=group.group_id,
            group_type=group.group_type,
            protocol_type=group.protocol_type,
            state=group.state,
            coordinator_id=group.coordinator_id,
            member_count=len(group.members),
        )
        for group in snapshot.groups
    )
    result = listing("groups", "group list", now_ms, items, snapshot)
    return render_listing(result, GROUP_COLUMNS, output, style, empty="The cluster has no groups.")


def render_described(
    snapshot: ClusterSnapshot,
    lags: Iterable[PartitionLag],
    topics: Mapping[str, TopicProblems],
    now_ms: int,
    output: OutputFormat,
    style: Style,
) -> str:
    """Render groups with members, partitions, deliveries, and topologies."""
    by_group: dict[str, list[LagItem]] = {}
    for lag in lags:
        by_group.setdefault(lag.group_id, []).append(lag_item(lag))
    items = tuple(
        _described(group, tuple(by_group.get(group.group_id, ())), topics.get(group.group_id, TopicProblems()))
        for group in snapshot.groups
    )
    result = listing("group-descriptions", "group describe", now_ms, items, snapshot)
    if output not in FOR_PEOPLE or not items:
        return render_listing(result, DESCRIBED_COLUMNS, output, style, empty="The cluster has no groups.")
    blocks = [block for item in items for block in (*_blocks(item), Line(""))]
    return render_page(blocks[:-1], style)


def _described(group: Group, partitions: tuple[LagItem, ...], topics: TopicProblems) -> DescribedItem:
    return DescribedItem(
        group_id=group.group_id,
        group_type=group.group_type,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        state=group.state,
        coordinator_id=group.coordinator_id,
        members=tuple(map(_member, group.members)),
        partitions=partitions,
        deliveries=tuple(
            _delivered(share.partition.topic, share.partition.partition, one)
            for share in group.share_partitions
            for one in share.ranges
            if one.state != DeliveryState.ACKNOWLEDGED
            and (one.state == DeliveryState.ARCHIVED or one.last_offset >= (share.start_offset or 0))
        ),
        settings=group.settings,
        topology=group.topology,
        missing_topics=(*topics.missing_sources, *topics.missing_internal),
        wrong_partition_counts=tuple(
            f"{one.topic}: {count_text(one.partition_count, 'partition')}, {count_text(one.expected_count, 'task')}"
            for one in topics.mismatches
        ),
    )


def _member(member: GroupMember) -> MemberItem:
    return MemberItem(
        member_id=member.member_id,
        client_id=member.client_id,
        host=member.host.lstrip("/"),
        group_instance_id=member.group_instance_id,
        partitions=tuple(map(str, member.assignment)),
        topology_epoch=member.topology_epoch,
    )


def _delivered(topic: str, partition: int, one: DeliveredRange) -> DeliveredItem:
    known = {state.value: state.name.lower() for state in DeliveryState}
    return DeliveredItem(
        topic=topic,
        partition=partition,
        first_offset=one.first_offset,
        last_offset=one.last_offset,
        state=known.get(one.state, f"state {one.state}"),
        delivery_count=one.delivery_count,
        written_at=time_text(one.written_at_ms),
    )


def _blocks(item: DescribedItem) -> Iterator[Block]:
    """Show a group to people."""
    kind = item.group_type or item.protocol_type or "group"
    yield Line(f"{item.group_id}: {kind}, {item.state}, coordinator {item.coordinator_id}", "bold")
    if item.topology is not None:
        yield Field("topology", f"epoch {item.topology.epoch}, {_parts(item.topology)}")
    if item.missing_topics:
        yield Field("missing", ", ".join(item.missing_topics), "red")
    if item.wrong_partition_counts:
        yield Field("wrong", "; ".join(item.wrong_partition_counts), "red")
    if item.members:
        header: tuple[str, ...] = ("MEMBER", "CLIENT", "HOST", "PARTITIONS")
        rows = tuple(map(_member_row, item.members))
        if item.topology is not None:
            header = (*header, "TOPOLOGY")
            rows = tuple((*_member_row(one), number_cell(one.topology_epoch)) for one in item.members)
        yield Grid(rows, header, indent=2)
    else:
        yield Field("members", "none")
    if item.partitions:
        lags = tuple(
            (f"{one.topic}-{one.partition}", str(one.committed_offset), str(one.lag_offsets), str(one.blocked_offsets))
            for one in item.partitions
        )
        start = "START" if item.group_type == "share" else "COMMITTED"
        yield Grid(lags, ("PARTITION", start, "LAG", "BLOCKED"), indent=2)
    else:
        yield Field("partitions", "none with a known offset and lag")
    if item.deliveries:
        yield Grid(
            tuple(map(_delivered_row, item.deliveries)), ("DELIVERED", "OFFSETS", "STATE", "TIMES", "AT"), indent=2
        )
    own = [f"{one.name}={one.value}" for one in item.settings if not one.is_default]
    if own:
        yield Field("settings", ", ".join(own))


def _parts(topology: StreamsTopology) -> str:
    parts = [f"{part.subtopology_id} reads {', '.join(part.input_topics)}" for part in topology.subtopologies]
    return (
        f"{count_text(len(parts), 'subtopology', 'subtopologies')}: {'; '.join(parts)}" if parts else "no subtopologies"
    )


def _member_row(member: MemberItem) -> tuple[str, ...]:
    return member.member_id, member.client_id, member.host, ", ".join(member.partitions) or "-"


def _delivered_row(one: DeliveredItem) -> tuple[str, ...]:
    offsets = f"{one.first_offset} to {one.last_offset}"
    return f"{one.topic}-{one.partition}", offsets, one.state, str(one.delivery_count), one.written_at
