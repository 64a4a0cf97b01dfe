"""Text for people: headings, labelled fields, tables. It wraps and colours on a terminal, and is plain elsewhere."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

LABEL_WIDTH = 10
UNBOUNDED = 1_000_000


class Style(NamedTuple):
    """How to write for the reader at hand: ``width`` in columns, None for text that is not wrapped."""

    width: int | None = None
    color: bool = False


PLAIN = Style()


class Line(msgspec.Struct, frozen=True):
    """One paragraph at the margin."""

    text: str
    tone: str = ""


class Field(msgspec.Struct, frozen=True):
    """A labelled paragraph; lines after the first stand under the text, not under the label."""

    label: str
    text: str
    tone: str = ""


class Grid(msgspec.Struct, frozen=True):
    """Columns. ``header`` empty: none is printed. ``tones`` is one tone per column, or empty."""

    rows: tuple[tuple[str, ...], ...]
    header: tuple[str, ...] = ()
    tones: tuple[str, ...] = ()
    indent: int = 0


Block = Line | Field | Grid

# Names come from the wire: an escape sequence in one must not reach the terminal.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}


def visible(text: str) -> str:
    r"""Write control characters out, as ``\x1b``."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def render_page(blocks: Sequence[Block], style: Style = PLAIN) -> str:
    """Render blocks one under the other, with a final newline."""
    visible = [_without_controls(block) for block in blocks]
    if style.width is None and not style.color:
        return "".join(_plain(block) for block in visible)
    return _rich(visible, style)


def _without_controls(block: Block) -> Block:
    match block:
        case Line(text):
            return replace(block, text=visible(text))
        case Field(_, text):
            return replace(block, text=visible(text))
        case Grid(rows):
            return replace(block, rows=tuple(tuple(visible(cell) for cell in row) for row in rows))


def _plain(block: Block) -> str:
    match block:
        case Line(text):
            return text.rstrip() + "\n"
        case Field(label, text):
            return f"  {label:<{LABEL_WIDTH}}{text}".rstrip() + "\n"
        case Grid():
            return _plain_grid(block)


def _plain_grid(grid: Grid) -> str:
    rows = ([grid.header] if grid.header else []) + list(grid.rows)
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = " " * grid.indent + "  ".join([f"%-{width}s" for width in widths])
    return "\n".join([(line % row).rstrip() for row in rows]) + "\n"


def _rich(blocks: Sequence[Block], style: Style) -> str:
    # Text objects throughout: markup in a transactional id or a topic name must stay text.
    from rich.box import SIMPLE_HEAD
    from rich.console import Console, RenderableType
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    out = io.StringIO()
    console = Console(
        file=out,
        width=style.width or UNBOUNDED,
        force_terminal=style.color,
        color_system="standard" if style.color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for block in blocks:
        item: RenderableType
        match block:
            case Line(text, tone):
                item = Text(text, style=tone)
            case Field(label, text, tone):
                table = Table.grid(padding=0)
                table.add_column(width=LABEL_WIDTH + 2, no_wrap=True)
                table.add_column(overflow="fold")
                table.add_row(Text(f"  {label}", style="dim"), Text(text, style=tone, overflow="fold"))
                item = table
            case Grid(rows, header, tones, indent):
                table = Table(
                    box=SIMPLE_HEAD if header else None, show_header=bool(header), pad_edge=False, padding=(0, 1)
                )
                for column in range(len(rows[0]) if rows else len(header)):
                    table.add_column(
                        Text(header[column] if header else "", style="bold"),
                        style=tones[column] if tones else "",
                        overflow="fold",
                    )
                for row in rows:
                    table.add_row(*(Text(cell) for cell in row))
                item = Padding(table, (0, 0, 0, indent))
        console.print(item, soft_wrap=style.width is None)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))
