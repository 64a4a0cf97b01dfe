"""The checks themselves: the list of them, and the manual of each."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.analysis.release import release_text
from eosctl.checks.declaration import Area, Check
from eosctl.checks.manual import manual_of
from eosctl.render.listing import Column
from eosctl.render.page import PLAIN, Block, Line, Style, render_page

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


def manual_item(check: Check) -> ManualItem:
    """Shape one check with its manual."""
    return ManualItem(check_item(check), manual_of(check)[1])


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


def render_manual(check: Check, style: Style = PLAIN) -> str:
    """Render a check's manual for people."""
    summary, sections = manual_of(check)
    item = check_item(check)
    releases = f"; Kafka releases: {text}" if (text := releases_of(check)) else ""
    blocks: list[Block] = [
        Line(f"{check.id}  {check.title}", "bold"),
        Line(check.name, "dim"),
        Line(f"{item.severity}; needs {', '.join(item.needs)}{releases}; tags {', '.join(item.tags) or 'none'}", "dim"),
        Line(""),
        Line(summary),
    ]
    for title, text in sections.items():
        blocks += [Line(""), Line(title, "bold")]
        blocks += [Line(f"  {line}" if line else "") for line in text.splitlines()]
    return render_page(blocks, style)
