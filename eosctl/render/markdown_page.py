"""A page of text as markdown: headings, paragraphs, and tables, for reviews and wikis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eosctl.render.escaping import markdown_text, without_commands
from eosctl.render.page import Block, Field, Grid, Line


def render_markdown_page(blocks: Sequence[Block], title: str) -> str:
    """Render blocks as markdown under a title, with a final newline. A line in bold becomes a heading.

    A field without a label continues the line before it.
    """
    lines = [f"# {markdown_text(title)}", ""]
    for block in blocks:
        lines += _lines(block)
    return without_commands("\n".join(_without_gaps(lines))) + "\n"


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Line("", _):
            yield ""
        case Line(text, "bold"):
            yield from ("", f"## {markdown_text(text)}", "")
        case Line(text, _):
            yield from (markdown_text(text.strip()), "")
        case Field("", text):
            yield from (markdown_text(text), "")
        case Field(label, text):
            yield from (f"**{markdown_text(label)}** {markdown_text(text)}", "")
        case Grid(rows, header):
            yield from _table(rows, header)


def _table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> Iterator[str]:
    if not rows:
        return
    yield _row(header or [""] * len(rows[0]))
    yield _row(["---"] * len(rows[0]))
    for row in rows:
        yield _row([markdown_text(cell) for cell in row])
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _without_gaps(lines: Sequence[str]) -> Iterator[str]:
    """Return the lines with one empty line where there are several, and none at the end."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    for at, line in enumerate(lines):
        if line or (at and lines[at - 1]):
            yield line
