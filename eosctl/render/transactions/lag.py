"""The lag of read_committed groups and the offsets that transactions hold, as rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import structs

from eosctl.findings.bootstrap import own_bootstrap_of
from eosctl.model.group_commit import StaleOffset
from eosctl.model.hang import HangVerdict
from eosctl.model.lag import PartitionLag, Pin
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.envelope import Listing, listing
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.render.listing import Column, number_cell, render_listing
from eosctl.render.page import Block, Field, Line, Style, render_page
from eosctl.text import count_text, duration_text

SHARE_GROUP: Final = "share"


class HolderItem(msgspec.Struct, frozen=True):
    """A transaction that holds something up; ``transactional_id`` is None where no coordinator names it."""

    producer_id: int
    transactional_id: str | None
    first_offset: int
    status: str
    cause: str
    age_ms: int | None


class LagItem(msgspec.Struct, frozen=True):
    """A group's lag on one partition; the counts of records are None where they were not read."""

    group_id: str
    topic: str
    partition: int
    committed_offset: int
    last_stable_offset: int
    high_watermark: int
    lag_offsets: int
    readable_offsets: int
    readable_records: int | None
    aborted_records: int | None
    markers: int | None
    blocked_offsets: int
    blocked_by: HolderItem | None
    unstable: bool
    client: str
    group_type: str = ""
    deleted_offsets: int = 0
    beyond_end_offsets: int = 0


class PinItem(msgspec.Struct, frozen=True):
    """An offset that a transaction holds; ``pending_offset`` is None where its record was not found.

    ``disagrees``: no transaction holds it, but the coordinator says ``committed_offset`` and its log ``logged_offset``.
    """

    group_id: str
    topic: str
    partition: int
    committed_offset: int | None
    pending_offset: int | None
    offsets_partition: int
    transactional_id: str | None
    producer_id: int | None
    holders: tuple[HolderItem, ...]
    disagrees: bool = False
    logged_offset: int | None = None


class LagListing(Listing[LagItem], frozen=True):
    """The lag of groups. ``first_offsets`` are pending where a group has not committed any, so that it has no lag."""

    first_offsets: tuple[PinItem, ...] = ()


def lag_item(lag: PartitionLag) -> LagItem:
    """Shape one partition's lag."""
    read = lag.readable
    return LagItem(
        group_id=lag.group_id,
        topic=lag.partition.topic,
        partition=lag.partition.partition,
        committed_offset=lag.committed_offset,
        last_stable_offset=lag.last_stable_offset,
        high_watermark=lag.high_watermark,
        lag_offsets=lag.lag_offsets,
        readable_offsets=lag.readable_offsets,
        # Nothing lies between the group and the LSO: that needs no reading.
        readable_records=0 if not lag.readable_offsets else None if read is None else read.record_count,
        aborted_records=0 if not lag.readable_offsets else None if read is None else read.aborted_record_count,
        markers=0 if not lag.readable_offsets else None if read is None else read.control_record_count,
        blocked_offsets=lag.blocked_offsets,
        blocked_by=None if lag.blocked_by is None else _holder(lag.blocked_by),
        unstable=lag.unstable,
        client=lag.client,
        group_type=lag.group_type,
        deleted_offsets=lag.deleted_offsets,
        beyond_end_offsets=lag.beyond_end_offsets,
    )


def _pin_item(pin: Pin) -> PinItem:
    """Shape one pinned offset."""
    return PinItem(
        group_id=pin.group_id,
        topic=pin.partition.topic,
        partition=pin.partition.partition,
        committed_offset=pin.committed_offset,
        pending_offset=None if pin.pending is None else pin.pending.offset,
        offsets_partition=pin.offsets_partition.partition,
        transactional_id=pin.transactional_id,
        producer_id=None if pin.pending is None else pin.pending.producer_id,
        holders=tuple(_holder(verdict) for verdict in pin.holders),
    )


def _stale_item(offset: StaleOffset) -> PinItem:
    """Return an item for an offset that differs between the coordinator and its log."""
    return PinItem(
        group_id=offset.group_id,
        topic=offset.partition.topic,
        partition=offset.partition.partition,
        committed_offset=offset.reported_offset,
        pending_offset=None,
        offsets_partition=-1,
        transactional_id=None,
        producer_id=None,
        holders=(),
        disagrees=True,
        logged_offset=offset.logged_offset,
    )


def _stale(offsets: Sequence[StaleOffset], style: Style) -> str:
    """Render, for people, where coordinators and their log part, and what to do."""
    blocks: list[Block] = []
    for offset in offsets:
        described, logged = number_cell(offset.reported_offset), number_cell(offset.logged_offset)
        blocks += [
            Line(""),
            Line(f"{offset.group_id}, {offset.partition}: the coordinator disagrees with its log", "bold"),
            Field("says", f"coordinator {described}, log {logged} (record at offset {offset.log_offset})"),
            Field(
                "cause",
                "KAFKA-17507: the classic group coordinator up to 3.9.0 commits offsets some time after their marker "
                "and may lose or show those of the next transaction.",
            ),
            Field(
                "next",
                "Keep this output, then let another broker coordinate the group (it reads the log): elect another "
                "leader of its partition of __consumer_offsets. Upgrade to 3.9.1, 4.0 or later.",
            ),
        ]
    return render_page(blocks, style) if blocks else ""


def _holder(verdict: HangVerdict) -> HolderItem:
    transaction = verdict.transaction
    return HolderItem(
        producer_id=transaction.producer_id,
        transactional_id=transaction.transactional_id,
        first_offset=transaction.first_offset,
        status=verdict.status.value,
        cause=verdict.cause.value,
        age_ms=transaction.age_ms,
    )


def _name(holder: HolderItem | None) -> str:
    if holder is None:
        return "-"
    return f"{holder.transactional_id or f'producer id {holder.producer_id}'} ({holder.status})"


LAG_COLUMNS: Final[tuple[Column[LagItem], ...]] = (
    Column("GROUP", lambda item: item.group_id),
    Column("PARTITION", lambda item: f"{item.topic}-{item.partition}"),
    Column("LAG", lambda item: str(item.lag_offsets)),
    Column("READABLE", lambda item: number_cell(item.readable_records)),
    Column("ABORTED", lambda item: number_cell(item.aborted_records)),
    Column("MARKERS", lambda item: number_cell(item.markers)),
    Column("BLOCKED", lambda item: str(item.blocked_offsets)),
    Column("BLOCKED-BY", lambda item: _name(item.blocked_by)),
    Column("COMMITTED", lambda item: str(item.committed_offset), wide=True),
    Column("LSO", lambda item: str(item.last_stable_offset), wide=True),
    Column("HIGH-WATERMARK", lambda item: str(item.high_watermark), wide=True),
    Column("UNSTABLE", lambda item: "yes" if item.unstable else "no", wide=True),
    Column("CLIENT", lambda item: item.client or "-", wide=True),
    Column("TYPE", lambda item: item.group_type or "-", wide=True),
)

PIN_COLUMNS: Final[tuple[Column[PinItem], ...]] = (
    Column("GROUP", lambda item: item.group_id),
    Column("PARTITION", lambda item: f"{item.topic}-{item.partition}"),
    Column("COMMITTED", lambda item: number_cell(item.committed_offset)),
    Column("PENDING", lambda item: number_cell(item.pending_offset)),
    Column("HELD-BY", lambda item: _held_by(item)),
    Column("AGE", lambda item: _oldest(item.holders)),
    Column("OFFSETS-PARTITION", lambda item: "-" if item.disagrees else str(item.offsets_partition), wide=True),
)


def _held_by(item: PinItem) -> str:
    if item.disagrees:
        return f"no transaction: the log has {number_cell(item.logged_offset)}"
    return ", ".join(_name(holder) for holder in item.holders) or "-"


def _oldest(holders: Sequence[HolderItem]) -> str:
    ages = [holder.age_ms for holder in holders if holder.age_ms is not None]
    return duration_text(max(ages)) if ages else "-"


def _holders(verdicts: Iterable[HangVerdict], style: Style) -> str:
    """Render, for people, each transaction that holds groups up: why it is open and what comes next."""
    blocks: list[Block] = []
    for verdict in verdicts:
        transaction, radius = verdict.transaction, verdict.blast_radius
        who = transaction.transactional_id or f"producer id {transaction.producer_id}"
        blocks += [
            Line(""),
            Line(f"{transaction.partition}: {who}, {verdict.status.value}", "bold"),
            Field("cause", f"{verdict.cause.value}: {verdict.explanation}"),
        ]
        if radius is not None and radius.invisible_offsets is not None:
            blocks.append(Field("hides", count_text(radius.invisible_offsets, "offset")))
        if verdict.abort_refusal:
            blocks.append(Field("do not", f"abort it: {verdict.abort_refusal}"))
    return render_page(blocks, style) if blocks else ""


def render_lags(
    snapshot: ClusterSnapshot,
    lags: Iterable[PartitionLag],
    holders: Iterable[HangVerdict],
    first_pins: Iterable[Pin],
    now_ms: int,
    output: OutputFormat,
    style: Style,
) -> str:
    """Render the lag of groups; for people also the transactions that block them, and first offsets that they hold."""
    pins = tuple(first_pins)
    listed = listing("group-lag", "group lag", now_ms, tuple(map(lag_item, lags)), snapshot)
    result = LagListing(**structs.asdict(listed), first_offsets=tuple(map(_pin_item, pins)))
    text = render_listing(
        result, LAG_COLUMNS, output, style, empty="The groups that were read have no committed offset."
    )
    if output not in FOR_PEOPLE:
        return text
    misplaced = _misplaced(result.items, style)
    held = _first_pins(pins, snapshot, style) + _holders(holders, style)
    return text + misplaced + held + _share_groups(snapshot, style)


def _misplaced(items: Iterable[LagItem], style: Style) -> str:
    """Name positions outside of their log, as a lag of 0 says nothing about them."""
    blocks: list[Block] = []
    for item in items:
        where = f"{item.group_id} on {item.topic}-{item.partition}"
        if item.deleted_offsets:
            gone = count_text(item.deleted_offsets, "offset")
            text = f"{where}: {gone} from its position {item.committed_offset} on deleted unread"
            blocks.append(Field("deleted", text))
        if item.beyond_end_offsets:
            text = f"{where}: its position {item.committed_offset} lies beyond the end {item.high_watermark}"
            blocks.append(Field("beyond", text))
    return (
        render_page([*blocks, Field("next", "auto.offset.reset decides where it continues")], style) if blocks else ""
    )


def _first_pins(pins: Iterable[Pin], snapshot: ClusterSnapshot, style: Style) -> str:
    """Name the groups without lag, as their first offsets are in an open transaction."""
    held = [Field("not shown", f"{pin.group_id} on {pin.partition}: its first offset is pending") for pin in pins]
    see = Field("see", f"eosctl group pending -b {own_bootstrap_of(snapshot)}")
    return render_page([*held, see], style) if held else ""


def _share_groups(snapshot: ClusterSnapshot, style: Style) -> str:
    """Name the share-partitions whose lag is not shown: not read by the group yet, or not known to the broker."""
    groups = [group for group in snapshot.groups if group.group_type == SHARE_GROUP]
    unread = [group.group_id for group in groups if not group.share_partitions]
    unknown = [
        f"{group.group_id} on {one.partition}"
        for group in groups
        for one in group.share_partitions
        if one.start_offset is None or one.lag is None
    ]
    lines: list[Block] = []
    if unread:
        lines.append(Field("not shown", f"{count_text(len(unread), 'share group')} without state: {', '.join(unread)}"))
    if unknown:
        text = f"{count_text(len(unknown), 'share-partition')} without a start offset or lag: {', '.join(unknown)}"
        lines.append(Field("not shown", text))
    return render_page([Line(""), *lines], style) if lines else ""


def render_pending(
    snapshot: ClusterSnapshot,
    pins: Iterable[Pin],
    holders: Iterable[HangVerdict],
    stale: Sequence[StaleOffset],
    now_ms: int,
    output: OutputFormat,
    style: Style,
) -> str:
    """Render held offsets, and those on which coordinators and log disagree; for people also causes and next steps."""
    items = (*map(_pin_item, pins), *map(_stale_item, stale))
    result = listing("group-pending", "group pending", now_ms, items, snapshot)
    text = render_listing(result, PIN_COLUMNS, output, style, empty="No offset is held by a transaction.")
    return text + _holders(holders, style) + _stale(stale, style) if output in FOR_PEOPLE else text
