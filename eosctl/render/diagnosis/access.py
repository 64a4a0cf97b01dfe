"""The minimal access rules of an application, with their proof and the commands that add them."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.analysis.minimal_access import NeededRule, RuleState
from eosctl.render.envelope import Listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Line, Style, render_page


class AccessItem(msgspec.Struct, frozen=True):
    """A rule that an application needs; ``state`` is empty where no cluster was asked."""

    principal: str
    resource_type: str
    name: str
    pattern_type: str
    operation: str
    requests: tuple[str, ...]
    without_it: str
    state: str
    command: str


ACCESS_COLUMNS: Final[tuple[Column[AccessItem], ...]] = (
    Column("RESOURCE", lambda item: f"{item.resource_type} {item.name}"),
    Column("PATTERN", lambda item: item.pattern_type),
    Column("OPERATION", lambda item: item.operation),
    Column("STATE", lambda item: item.state or "-"),
    Column("WITHOUT-IT", lambda item: item.without_it),
    Column("NEEDED-BY", lambda item: ", ".join(item.requests)),
)


def access_item(needed: NeededRule, principal: str, state: RuleState | None, bootstrap: str) -> AccessItem:
    """Shape one rule."""
    return AccessItem(
        principal=principal,
        resource_type=needed.resource_type,
        name=needed.name.text,
        pattern_type=needed.name.pattern_type,
        operation=needed.operation,
        requests=needed.requests,
        without_it=needed.error,
        state="" if state is None else state.value,
        command=f"kafka-acls.sh --bootstrap-server {bootstrap} --add {needed.flags(principal)}",
    )


def render_access(result: Listing[AccessItem], output: OutputFormat, style: Style = PLAIN) -> str:
    """Render the rules; for people with the commands that add those which are not there."""
    text = render_listing(result, ACCESS_COLUMNS, output, style)
    if output not in (OutputFormat.TABLE, OutputFormat.WIDE):
        return text
    missing = [item.command for item in result.items if item.state != RuleState.PRESENT]
    lines = [Line(""), Line("ADD", "bold"), *(Line(f"  $ {command}") for command in missing)] if missing else []
    return text + render_page(lines, style)
