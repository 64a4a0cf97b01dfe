"""The checks themselves: the list of them, and the manual of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.findings.manual import DIRECTORIES, FILES, CheckItem, ManualItem
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.one import render_one
from eosctl.render.page import PLAIN, Block, Line, Style, render_page

CHECK_COLUMNS: Final[tuple[Column[CheckItem], ...]] = (
    Column("ID", lambda item: item.id),
    Column("NAME", lambda item: item.name),
    Column("SEVERITY", lambda item: item.severity),
    Column("TITLE", lambda item: item.title),
    Column("NEEDS", lambda item: ",".join(item.needs), wide=True),
    Column("SINCE", lambda item: item.since or "-", wide=True),
    Column("TAGS", lambda item: ",".join(item.tags)),
)


def releases_of(item: CheckItem) -> str:
    """Return the releases that a check applies to, in words; empty for a check of files."""
    if {FILES, DIRECTORIES}.intersection(item.needs):
        return ""
    if item.until:
        return f"{f'{item.since} ' if item.since else 'up '}to {item.until}"
    return f"{item.since} and later" if item.since else "all"


def render_manual(manual: ManualItem, output: OutputFormat, style: Style = PLAIN) -> str:
    """Render the manual of a check, or of a kind of finding in data directories."""
    return render_one(manual, output, lambda: manual.sections.items(), lambda: _page(manual, style))


def _page(manual: ManualItem, style: Style) -> str:
    item = manual.check
    releases = releases_of(item)
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


def render_checks(checks: Sequence[CheckItem], now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render the list of checks."""
    result = listing("checks", "check list", now_ms, tuple(checks))
    return render_listing(result, CHECK_COLUMNS, output, style)
