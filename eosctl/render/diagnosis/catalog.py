"""The list of the checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.findings.manual import DIRECTORIES, FILES, CheckItem
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import Style

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


def render_checks(checks: Sequence[CheckItem], now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render the list of checks."""
    result = listing("checks", "check list", now_ms, tuple(checks))
    return render_listing(result, CHECK_COLUMNS, output, style)
