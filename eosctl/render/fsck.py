"""Findings of a check of data directories as rows, with what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from eosctl.analysis.fsck.consequences import CONSEQUENCES
from eosctl.model.fsck import FsckFinding, FsckSeverity
from eosctl.render.listing import Column
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


def _number(number: int | None) -> str:
    return "-" if number is None else str(number)


FSCK_COLUMNS: Final[tuple[Column[FsckItem], ...]] = (
    Column("SEVERITY", lambda item: item.severity),
    Column("KIND", lambda item: item.kind),
    Column("FILE", lambda item: item.file or "-"),
    Column("POSITION", lambda item: _number(item.position)),
    Column("OFFSET", lambda item: _number(item.offset)),
    Column("MESSAGE", lambda item: item.message),
    Column("PRODUCER-ID", lambda item: _number(item.producer_id), wide=True),
    Column("TRANSACTIONAL-ID", lambda item: item.transactional_id or "-", wide=True),
    Column("DIRECTORY", lambda item: item.directory, wide=True),
)


def render_consequences(items: Iterable[FsckItem], style: Style = PLAIN) -> str:
    """Say once for each kind among the warnings and errors what follows from it."""
    kinds = dict.fromkeys(item.kind for item in items if item.severity != FsckSeverity.INFO)
    blocks: list[Block] = []
    for kind in kinds:
        follows = CONSEQUENCES[kind]
        blocks += [
            Line(""),
            Line(kind, "bold"),
            Field("effect", follows.effect),
            Field("restart", follows.on_restart),
            Field("repair", follows.repair),
        ]
    return render_page(blocks, style) if blocks else ""


def render_repair_plan(items: Sequence[FsckItem], style: Style = PLAIN) -> str:
    """Write the steps that mend what was found, one block a kind with its files; nothing is carried out."""
    wanted = [item for item in items if item.severity != FsckSeverity.INFO]
    if not wanted:
        return render_page([Line("Nothing needs repair.")], style)
    blocks: list[Block] = [
        Line(f"Repair plan for {count_text(len(wanted), 'finding')}. Nothing has been changed; copy the files first.")
    ]
    for number, kind in enumerate(dict.fromkeys(item.kind for item in wanted), 1):
        files = dict.fromkeys(f"{item.directory}/{item.file}".rstrip("/") for item in wanted if item.kind == kind)
        blocks += [Line(""), Line(f"{number}. {kind}", "bold"), *(Field("file", file) for file in files)]
        blocks += [Field("do", CONSEQUENCES[kind].repair), Field("why", CONSEQUENCES[kind].effect)]
    return render_page(blocks, style)
