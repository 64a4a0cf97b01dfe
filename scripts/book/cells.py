"""Text for the cells of Markdown tables."""

from __future__ import annotations


def cell(text: str) -> str:
    """Return a text on one line, with no bar that would end its cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    """Return a text as code in a cell."""
    return f"`{' '.join(text.split())}`".replace("|", "\\|")
