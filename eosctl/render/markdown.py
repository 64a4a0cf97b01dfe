"""Findings as Markdown, for job summaries and comments."""

from __future__ import annotations

import re

from eosctl.render.configuration import LintView


def render_lint_markdown(view: LintView) -> str:
    """Render a lint run as one table."""
    lines = ["# Kafka configuration", ""]
    if view.items:
        lines += ["| Where | Severity | What | Do |", "|---|---|---|---|"]
        lines += [
            f"| `{item.file}:{item.line}` | {item.severity} | {_cell(item.message)} ({item.id}) "
            f"| {_cell(item.remedy)} |"
            for item in view.items
        ]
    else:
        lines.append("No findings.")
    if view.unresolved:
        lines += ["", "Not judged, as the value lies outside of the files:", ""]
        lines += [f"- `{one.file}:{one.line}` {_cell(one.key)}" for one in view.unresolved]
    if view.unreadable:
        lines += ["", "Could not be read:", ""]
        lines += [f"- {_cell(one.reason)}" for one in view.unreadable]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Keep names and values of files from becoming markup."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text.replace("\n", " "))
