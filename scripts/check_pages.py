"""Generate the pages of checks, and the list of issued ids."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import astuple

from eosctl.checks.declaration import Check
from eosctl.checks.manual import manual_of
from eosctl.render.diagnosis.catalog import releases_of


def render_check_page(check: Check) -> str:
    """Render a check's page of the documentation, in Markdown."""
    item, sections = astuple(manual_of(check))
    facts = [
        ("Name", f"`{item.name}`"),
        ("Severity", item.severity),
        ("Needs", ", ".join(item.needs)),
        ("Uses if it can be had", ", ".join(item.uses) or "nothing else"),
        ("Kafka releases", releases_of(item)),
        ("Tags", ", ".join(item.tags) or "none"),
    ]
    lines = [f"# {check.id}: {check.title}", "", item.summary, "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in facts if value]
    for title, text in sections.items():
        lines += ["", f"## {title}", "", text]
    shown = f"In a terminal: `eosctl explain {check.id}`."
    lines += ["", f"{shown} Generated from the declaration of the check.", ""]
    return "\n".join(lines)


def render_check_index(checks: Sequence[Check]) -> str:
    """Render the index page of all checks, in Markdown."""
    lines = [
        "# Checks",
        "",
        "The checks of `eosctl doctor` and `eosctl check run`, and of `eosctl config lint` (CFG); generated.",
        "",
        "| Id | Name | Problem | Severity | Needs |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| [{item.id}]({item.id}.md) | `{item.name}` | {item.title} | {item.severity} | {', '.join(item.needs)} |"
        for item in (manual_of(check).check for check in sorted(checks, key=lambda check: check.id))
    ]
    return "\n".join([*lines, ""])


def catalog_lock(checks: Sequence[Check]) -> str:
    """Return every id with its title, one per line; issued ids are never reused."""
    return "".join(f"{check.id} {check.title}\n" for check in sorted(checks, key=lambda check: check.id))
