"""Findings as Markdown, for job summaries and comments."""

from __future__ import annotations

from eosctl.model.read_as import ReadAs, sentence
from eosctl.render.configuration.lint_view import LintView
from eosctl.render.escaping import markdown_code, markdown_text


def render_lint_markdown(view: LintView) -> str:
    """Render a lint run as one table."""
    lines = ["# Kafka configuration", ""]
    if view.items:
        lines += ["| Where | Severity | What | Do |", "|---|---|---|---|"]
        lines += [
            f"| {markdown_code(f'{item.file}:{item.line}', in_table=True)} | {item.severity} "
            f"| {markdown_text(item.message)} ({item.id}) | {markdown_text(item.remedy)} |"
            for item in view.items
        ]
    else:
        lines.append("No findings.")
    if view.unresolved:
        lines += ["", "Not judged, as the value lies outside of the files:", ""]
        lines += [f"- {markdown_code(f'{one.file}:{one.line}')} {markdown_text(one.key)}" for one in view.unresolved]
    if view.unreadable:
        lines += ["", "Could not be read:", ""]
        lines += [f"- {markdown_text(one.reason)}" for one in view.unreadable]
    lines += read_as_lines(view.read_as)
    return "\n".join(lines) + "\n"


def read_as_lines(parts: tuple[ReadAs, ...]) -> list[str]:
    """Return what each part of a file was read as, as a list."""
    if not parts:
        return []
    return ["", *(f"- {markdown_code(one.file)} read as: {markdown_text(sentence(one))}" for one in parts)]
