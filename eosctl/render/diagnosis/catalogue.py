"""The checks themselves: the list of them, and the manual of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from eosctl.analysis.fsck.kinds import AREA, FsckKind
from eosctl.checks.declaration import Area, Check
from eosctl.checks.manual import manual_of
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.one import render_one
from eosctl.render.page import PLAIN, Block, Line, Style, render_page
from eosctl.text import release_text

DIRECTORIES: Final = "data-directories"
FILES: Final = "configuration-files"
"""What a check needs that asks nothing of a cluster."""


class CheckItem(msgspec.Struct, frozen=True):
    """A check as the catalogue lists it; ``since`` and ``until`` are Kafka releases, empty when it applies to all."""

    id: str
    name: str
    title: str
    area: str
    severity: str
    summary: str
    needs: tuple[str, ...]
    uses: tuple[str, ...]
    since: str
    until: str
    tags: tuple[str, ...]
    references: tuple[str, ...]


class ManualItem(msgspec.Struct, frozen=True):
    """A check with its manual; ``sections`` in the order of the manual."""

    check: CheckItem
    sections: dict[str, str]


def check_item(check: Check) -> CheckItem:
    """Shape one check."""
    summary, _ = manual_of(check)
    return CheckItem(
        id=check.id,
        name=check.name,
        title=check.title,
        area=check.area.value,
        severity=check.severity.value,
        summary=summary,
        needs=tuple(sorted(kind.value for kind in check.needs)) or (FILES,),
        uses=tuple(sorted(kind.value for kind in check.uses)),
        since="" if check.since is None else release_text(check.since),
        until="" if check.until is None else release_text(check.until),
        tags=check.tags,
        references=check.references,
    )


def manual_item(rule: Check | FsckKind) -> ManualItem:
    """Shape a check, or a kind of finding in data directories, with its manual."""
    if not isinstance(rule, FsckKind):
        return ManualItem(check_item(rule), manual_of(rule)[1])
    item = CheckItem(
        id=rule.id,
        name=rule.name,
        title=rule.title,
        area=AREA,
        severity="",
        summary=rule.follows.effect,
        needs=(DIRECTORIES,),
        uses=(),
        since="",
        until="",
        tags=(AREA,),
        references=(),
    )
    return ManualItem(item, {"When the broker starts again": rule.follows.on_restart, "Fix": rule.follows.repair})


CHECK_COLUMNS: Final[tuple[Column[CheckItem], ...]] = (
    Column("ID", lambda item: item.id),
    Column("NAME", lambda item: item.name),
    Column("SEVERITY", lambda item: item.severity),
    Column("TITLE", lambda item: item.title),
    Column("NEEDS", lambda item: ",".join(item.needs), wide=True),
    Column("SINCE", lambda item: item.since or "-", wide=True),
    Column("TAGS", lambda item: ",".join(item.tags)),
)


def releases_of(check: Check) -> str:
    """Tell the releases that a check applies to; a rule over configurations decides it by each component: nothing."""
    if check.area is Area.CONFIGURATION:
        return ""
    if check.until is not None:
        return f"{f'{release_text(check.since)} ' if check.since else 'up '}to {release_text(check.until)}"
    return f"{release_text(check.since)} and later" if check.since else "all"


def render_manual(rule: Check | FsckKind, output: OutputFormat, style: Style = PLAIN) -> str:
    """Render the manual of a check, or of a kind of finding in data directories."""
    manual = manual_item(rule)
    return render_one(manual, output, lambda: manual.sections.items(), lambda: _page(rule, manual, style))


def _page(rule: Check | FsckKind, manual: ManualItem, style: Style) -> str:
    item = manual.check
    releases = "" if isinstance(rule, FsckKind) else releases_of(rule)
    facts = [
        item.severity,
        f"needs {', '.join(item.needs)}",
        f"Kafka releases: {releases}" if releases else "",
        f"tags {', '.join(item.tags) or 'none'}",
    ]
    blocks: list[Block] = [
        Line(f"{item.id}  {item.title}", "bold"),
        Line(item.name, "dim"),
        Line("; ".join(fact for fact in facts if fact), "dim"),
        Line(""),
        Line(item.summary),
    ]
    for title, text in manual.sections.items():
        blocks += [Line(""), Line(title, "bold")]
        blocks += [Line(f"  {line}" if line else "") for line in text.splitlines()]
    return render_page(blocks, style)


def render_checks(checks: Sequence[Check], now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render the list of checks."""
    result = listing("checks", "check list", now_ms, tuple(map(check_item, checks)))
    return render_listing(result, CHECK_COLUMNS, output, style)
