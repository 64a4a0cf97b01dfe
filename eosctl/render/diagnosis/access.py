"""Render the minimal access rules of an application, with their proof and the commands that add them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from eosctl.model.access import NeededRule, RuleState
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.diagnosis.access_files import kafka_user, terraform
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Line, Style, render_page


class AccessItem(msgspec.Struct, frozen=True):
    """A rule that an application needs; ``state`` is empty if no cluster was compared."""

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


def _access_item(needed: NeededRule, principal: str, state: RuleState | None, bootstrap: str) -> AccessItem:
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


def render_access(
    rules: Iterable[tuple[NeededRule, RuleState | None]],
    principal: str,
    address: str,
    snapshot: ClusterSnapshot | None,
    now_ms: int,
    output: OutputFormat,
    style: Style = PLAIN,
    *,
    as_files: bool = False,
) -> str:
    """Render rules with their states; the table also has the commands that add missing rules.

    Args:
        rules: Each rule, with its state; None if no cluster was compared.
        principal: The principal that the application connects as.
        address: The cluster's address and client configuration, as shell words.
        snapshot: The evidence of the cluster; None without one.
        now_ms: The time of the result, ms since the epoch.
        output: The format.
        style: Width and color.
        as_files: Whether the table also shows the rules as a KafkaUser and as Terraform.
    """
    rules = tuple(rules)
    items = tuple(_access_item(needed, principal, state, address) for needed, state in rules)
    result = listing("access-rules", "check acl", now_ms, items, snapshot)
    text = render_listing(result, ACCESS_COLUMNS, output, style)
    if output not in (OutputFormat.TABLE, OutputFormat.WIDE):
        return text
    missing = [item.command for item in result.items if item.state != RuleState.PRESENT]
    lines = [Line(""), Line("ADD", "bold"), *(Line(f"  $ {command}") for command in missing)] if missing else []
    if as_files:
        needed = [rule for rule, _ in rules]
        for title, file in (("STRIMZI", kafka_user(needed, principal)), ("TERRAFORM", terraform(needed, principal))):
            lines += [Line(""), Line(title, "bold"), *(Line(f"  {line}") for line in file)]
    return text + render_page(lines, style)
