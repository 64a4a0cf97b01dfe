"""The manual of a check, read from its docstring."""

from __future__ import annotations

import inspect
from typing import Final

SECTIONS: Final = (
    "What it checks",
    "Why it matters for exactly-once",
    "Example",
    "Fix",
    "Verify",
    "References",
)


class ManualError(ValueError):
    """A docstring lacks a section, or has them in another order."""


def parse_manual(docstring: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into its summary and its sections.

    A section begins with its title and a colon on a line of its own, at the docstring's margin.

    Returns:
        The summary line, and the text of each section, in order.

    Raises:
        ManualError: A section is missing, empty, unknown or out of order.
    """
    lines = inspect.cleandoc(docstring).splitlines()
    summary: list[str] = []
    sections: dict[str, list[str]] = {}
    target = summary
    for line in lines:
        title = line.removesuffix(":")
        if title != line and title in SECTIONS:
            target = sections.setdefault(title, [])
        else:
            target.append(line)
    found = tuple(sections)
    if found != SECTIONS:
        raise ManualError(f"sections are {', '.join(found) or 'none'}; expected {', '.join(SECTIONS)}")
    texts = {title: inspect.cleandoc("\n" + "\n".join(body)) for title, body in sections.items()}
    empty = [title for title, text in texts.items() if not text]
    if empty or not summary:
        raise ManualError(f"empty: {', '.join(empty) or 'summary'}")
    return " ".join(summary).strip(), texts
