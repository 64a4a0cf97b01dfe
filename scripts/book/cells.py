"""Text for the cells of Markdown tables."""

from __future__ import annotations


def cell(text: str) -> str:
    """Return a text on one line with escaped bars, for a table cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    """Return a text as code, for a table cell."""
    return f"`{' '.join(text.split())}`".replace("|", "\\|")
