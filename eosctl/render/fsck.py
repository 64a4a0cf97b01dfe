"""Findings of a check of data directories as rows, with what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from eosctl.findings.fsck.checked import Checked
from eosctl.findings.fsck.consequences import CONSEQUENCES
from eosctl.model.evidence import EvidenceGap
from eosctl.model.fsck import FsckFinding, FsckSeverity
from eosctl.render.envelope import Listing, envelope, listing
from eosctl.render.findings.sections import first_blocks, suppressed_blocks
from eosctl.render.findings.views import ActionView, SuppressedView, action_views, suppressed_views
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, number_cell, render_listing
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.text import count_text


class FsckItem(msgspec.Struct, frozen=True):
    """A finding with its consequences; ``id`` is the same as long as the files and their directory are."""

    id: str
    kind: str
    severity: str
    directory: str
    file: str
    partition: str
    position: int | None
    offset: int | None
    entry: int | None
    producer_id: int | None
    producer_epoch: int | None
    transactional_id: str | None
    invalid_bytes: int | None
    message: str
    consequence: str
    on_restart: str
    repair: str


def fsck_item(finding: FsckFinding) -> FsckItem:
    """Shape one finding."""
    follows = CONSEQUENCES[finding.kind]
    where = next((n for n in (finding.entry, finding.position, finding.offset) if n is not None), None)
    subject = finding.file or finding.transactional_id or finding.partition
    place = "/".join(part for part in (finding.directory, subject) if part)
    parts = [finding.kind, place, "" if where is None else str(where)]
    if finding.producer_id is not None:
        parts.append(f"p{finding.producer_id}")
    return FsckItem(
        id=":".join(part for part in parts if part),
        kind=finding.kind,
        severity=finding.severity.value,
        directory=finding.directory,
        file=finding.file,
        partition=finding.partition,
        position=finding.position,
        offset=finding.offset,
        entry=finding.entry,
        producer_id=finding.producer_id,
        producer_epoch=finding.producer_epoch,
        transactional_id=finding.transactional_id,
        invalid_bytes=finding.invalid_bytes,
        message=finding.message,
        consequence=follows.effect,
        on_restart=follows.on_restart,
        repair=follows.repair,
    )


def fsck_items(checked: Checked) -> tuple[FsckItem, ...]:
    """Shape the findings that count, the worst first."""
    return tuple(map(fsck_item, checked.counted))


class FsckView(Listing[FsckItem], frozen=True):
    """A check as JSON and YAML show it; ``gaps`` are partitions and transactions that could not be judged."""

    partition_count: int
    actions: tuple[ActionView, ...]
    suppressed: tuple[SuppressedView, ...]
    remarks: tuple[str, ...]
    gaps: tuple[EvidenceGap, ...]


def fsck_view(checked: Checked) -> FsckView:
    """Shape a check for machines."""
    diagnosis = checked.diagnosis
    return FsckView(
        *envelope("fsck", "fsck", checked.generated_at_ms),
        cluster=None,
        evidence=None,
        items=fsck_items(checked),
        partition_count=checked.partition_count,
        actions=action_views(checked.actions),
        suppressed=suppressed_views(diagnosis.suppressed),
        remarks=(*diagnosis.remarks, *filter(None, [checked.taken])),
        gaps=diagnosis.gaps,
    )


def render_fsck(checked: Checked, *, wide: bool, style: Style = PLAIN) -> str:
    """Render a check for people: rows, and what follows from them."""
    items = fsck_items(checked)
    hidden = len(checked.diagnosis.suppressed)
    state = f"No finding that counts, {hidden} suppressed" if hidden else "Healthy"
    text = render_listing(
        listing("fsck", "fsck", checked.generated_at_ms, items),
        FSCK_COLUMNS,
        OutputFormat.WIDE if wide else OutputFormat.TABLE,
        style,
        empty=f"{state}: {count_text(checked.partition_count, 'partition')}.",
    )
    blocks = [
        *_taken(checked),
        *_consequences(items),
        *first_blocks(checked.actions),
        *suppressed_blocks(checked.diagnosis),
    ]
    return text + (render_page(blocks, style) if blocks else "")


FSCK_COLUMNS: Final[tuple[Column[FsckItem], ...]] = (
    Column("SEVERITY", lambda item: item.severity),
    Column("KIND", lambda item: item.kind),
    Column("FILE", lambda item: item.file or "-"),
    Column("POSITION", lambda item: number_cell(item.position)),
    Column("OFFSET", lambda item: number_cell(item.offset)),
    Column("MESSAGE", lambda item: item.message),
    Column("PRODUCER-ID", lambda item: number_cell(item.producer_id), wide=True),
    Column("TRANSACTIONAL-ID", lambda item: item.transactional_id or "-", wide=True),
    Column("DIRECTORY", lambda item: item.directory, wide=True),
)


def _consequences(items: Iterable[FsckItem]) -> Iterator[Block]:
    """Yield what follows from each kind among the warnings and errors, once."""
    kinds = dict.fromkeys(item.kind for item in items if item.severity != FsckSeverity.INFO)
    for kind in kinds:
        follows = CONSEQUENCES[kind]
        yield Line("")
        yield Line(kind, "bold")
        yield Field("effect", follows.effect)
        yield Field("restart", follows.on_restart)
        yield Field("repair", follows.repair)


def render_repair_plan(checked: Checked, style: Style = PLAIN) -> str:
    """Render the steps that repair what was found, one block a kind with its files; nothing is carried out."""
    wanted = [item for item in fsck_items(checked) if item.severity != FsckSeverity.INFO]
    taken = _taken(checked)
    if not wanted:
        return render_page([Line("Nothing needs repair."), *taken, *suppressed_blocks(checked.diagnosis)], style)
    blocks: list[Block] = [
        Line(f"Repair plan for {count_text(len(wanted), 'finding')}. Nothing has been changed; copy the files first.")
    ]
    for number, kind in enumerate(dict.fromkeys(item.kind for item in wanted), 1):
        files = dict.fromkeys(f"{item.directory}/{item.file}".rstrip("/") for item in wanted if item.kind == kind)
        blocks += [Line(""), Line(f"{number}. {kind}", "bold"), *(Field("file", file) for file in files)]
        blocks += [Field("do", CONSEQUENCES[kind].repair), Field("why", CONSEQUENCES[kind].effect)]
    return render_page([*blocks, *taken, *suppressed_blocks(checked.diagnosis)], style)


def _taken(checked: Checked) -> list[Block]:
    return [Line(checked.taken)] if checked.taken else []
