"""Findings as GitHub workflow commands: annotations on the lines of a pull request."""

from __future__ import annotations

from typing import Final

from eosctl.render.configuration import LintView

_LEVELS: Final = {"critical": "error", "error": "error", "warning": "warning", "info": "notice"}


def render_annotations(view: LintView) -> str:
    """Render a lint run, one command a line; files that cannot be read are errors too."""
    lines = [
        f"::{_LEVELS[item.severity]} file={_property(item.file)},line={item.line},"
        f"title={_property(f'{item.id} {item.title}')}::{_message(f'{item.message} {item.impact} {item.remedy}')}"
        for item in view.items
    ]
    lines += [f"::error file={_property(one.file)}::{_message(one.reason)}" for one in view.unreadable]
    return "".join(f"{line}\n" for line in lines)


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
