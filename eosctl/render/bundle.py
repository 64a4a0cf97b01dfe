"""Render evidence bundles, and the changes between two of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from eosctl.model.bundle import BundleManifest, BundlePart, MissingPart
from eosctl.model.snapshot import ClusterSnapshot, SnapshotChange
from eosctl.render.envelope import listing
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.text import count_text, time_text


class ChangeItem(msgspec.Struct, frozen=True):
    """A difference between two snapshots; a value is empty if it did not exist."""

    kind: str
    subject: str
    what: str
    before: str
    after: str


class BundleItem(msgspec.Struct, frozen=True):
    """A bundle: its parts, its missing parts, and the counts of its snapshot."""

    file: str
    captured_at: str
    eosctl_version: str
    cluster_id: str
    broker_count: int
    topic_count: int
    transaction_count: int
    group_count: int
    collected: tuple[str, ...]
    gap_count: int
    parts: tuple[BundlePart, ...]
    missing: tuple[MissingPart, ...]


def _change_item(change: SnapshotChange) -> ChangeItem:
    """Shape one change."""
    return ChangeItem(*change)


def _bundle_item(file: str, manifest: BundleManifest, snapshot: ClusterSnapshot) -> BundleItem:
    """Shape a bundle."""
    return BundleItem(
        file=file,
        captured_at=time_text(manifest.captured_at_ms),
        eosctl_version=manifest.eosctl_version,
        cluster_id=manifest.cluster_id,
        broker_count=snapshot.broker_count,
        topic_count=len(snapshot.topics),
        transaction_count=len(snapshot.transactions),
        group_count=len(snapshot.groups),
        collected=tuple(sorted(kind.value for kind in snapshot.collected)),
        gap_count=len(snapshot.gaps),
        parts=manifest.parts,
        missing=manifest.missing,
    )


PART_COLUMNS: Final[tuple[Column[BundleItem], ...]] = (
    Column("FILE", lambda item: item.file),
    Column("CAPTURED", lambda item: item.captured_at),
    Column("CLUSTER", lambda item: item.cluster_id),
    Column("PARTS", lambda item: str(len(item.parts))),
    Column("MISSING", lambda item: str(len(item.missing))),
)

CHANGE_COLUMNS: Final[tuple[Column[ChangeItem], ...]] = (
    Column("KIND", lambda item: item.kind),
    Column("SUBJECT", lambda item: item.subject),
    Column("WHAT", lambda item: item.what),
    Column("BEFORE", lambda item: item.before or "-"),
    Column("AFTER", lambda item: item.after or "-"),
)


def render_changes(
    snapshot: ClusterSnapshot, changes: Iterable[SnapshotChange], now_ms: int, output: OutputFormat, style: Style
) -> str:
    """Render what changed up to a snapshot."""
    result = listing("snapshot-diff", "snapshot diff", now_ms, tuple(map(_change_item, changes)), snapshot)
    return render_listing(result, CHANGE_COLUMNS, output, style, empty="Nothing changed.")


def render_bundle(
    file: str,
    manifest: BundleManifest,
    snapshot: ClusterSnapshot,
    *,
    command: str,
    now_ms: int,
    output: OutputFormat,
    style: Style = PLAIN,
) -> str:
    """Render a bundle, as a command shows it."""
    item = _bundle_item(file, manifest, snapshot)
    if output in FOR_PEOPLE:
        return _page(item, style)
    return render_listing(listing("bundle", command, now_ms, (item,), snapshot), PART_COLUMNS, output)


def _page(item: BundleItem, style: Style) -> str:
    counts = ", ".join(
        [
            count_text(item.broker_count, "broker"),
            count_text(item.topic_count, "topic"),
            count_text(item.transaction_count, "transactional id"),
            count_text(item.group_count, "group"),
        ]
    )
    blocks: list[Block] = [
        Line(item.file, "bold"),
        Field("captured", f"{item.captured_at} by eosctl {item.eosctl_version}"),
        Field("cluster", f"{item.cluster_id or 'unknown'}: {counts}"),
        Field("evidence", ", ".join(item.collected)),
        Field("gaps", f"{item.gap_count} in the snapshot" if item.gap_count else "none in the snapshot"),
    ]
    rows = tuple((p.name, p.kind, f"{p.size_bytes:,}", p.redaction or "-") for p in item.parts[:200])
    blocks.append(Grid(rows, ("PART", "KIND", "BYTES", "REDACTION"), indent=2))
    if len(item.parts) > len(rows):
        blocks.append(Line(f"  and {len(item.parts) - len(rows)} more"))
    if item.missing:
        blocks.append(Line("MISSING", "yellow"))
        blocks += [Field("", f"{missing.what}: {missing.reason}") for missing in item.missing[:200]]
    return render_page(blocks, style)
