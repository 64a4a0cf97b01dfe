"""Findings as GitHub workflow commands: annotations on the lines of a pull request."""

from __future__ import annotations

from typing import Final

from eosctl.model.read_as import ReadAs, sentence
from eosctl.render.configuration.lint_view import LintView
from eosctl.render.escaping import visible

LEVELS: Final = {"critical": "error", "error": "error", "warning": "warning", "info": "notice"}


def render_annotations(view: LintView) -> str:
    """Render a lint run, one command a line; files that cannot be read are errors too."""
    lines = [
        f"::{LEVELS[item.severity]} file={annotation_property(item.file)},line={item.line},"
        f"title={annotation_property(f'{item.id} {item.title}')}::"
        f"{annotation_text(f'{item.message} {item.impact} {item.remedy}')}"
        for item in view.items
    ]
    lines += [f"::error file={annotation_property(one.file)}::{annotation_text(one.reason)}" for one in view.unreadable]
    lines += read_as_notices(view.read_as)
    return "".join(f"{line}\n" for line in lines)


def read_as_notices(parts: tuple[ReadAs, ...]) -> list[str]:
    """Return a notice for each part of a file: what it was read as."""
    return [
        f"::notice file={annotation_property(one.file)},line={max(1, one.line)},title=read as::"
        f"{annotation_text(f'read as: {sentence(one)}')}"
        for one in parts
    ]


def annotation_text(text: str) -> str:
    """Escape the message of a workflow command."""
    lines = text.replace("%", "%25").replace("\r\n", "\n").split("\n")
    return "%0A".join(visible(line) for line in lines)


def annotation_property(text: str) -> str:
    """Escape a property of a workflow command, where commas and colons separate."""
    return annotation_text(text).replace(":", "%3A").replace(",", "%2C")
