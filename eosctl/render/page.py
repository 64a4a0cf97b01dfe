"""Render text with headings, labeled fields, and tables; it is wrapped and colored only on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.render.escaping import visible, without_commands
from eosctl.render.wrapping import columns, longest_token, share_columns, wrap

LABEL_WIDTH = 10
GAP = "  "
UNBOUNDED = 1_000_000
WIDEST_CELL: Final = 250
"""The most columns to which the other cells of a column are padded; names of topics have up to 249 characters."""


class Style(NamedTuple):
    """How to write for the reader at hand.

    ``width`` is in columns, None for text that is not wrapped. ``fold`` breaks even names and commands, for frames that
    are drawn again and again and must fit the screen.
    """

    width: int | None = None
    color: bool = False
    fold: bool = False


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
_Paint = Callable[[str, str], str]


def render_page(blocks: Sequence[Block], style: Style = PLAIN) -> str:
    """Render blocks one under the other, with a final newline."""
    shown = [_without_controls(block) for block in blocks]
    if style.width is None and not style.color:
        return without_commands("".join(_plain(block) for block in shown))
    return without_commands(_styled(shown, style))


def _without_controls(block: Block) -> Block:
    match block:
        case Line(text):
            return replace(block, text=visible(text))
        case Field(label, text):
            return replace(block, label=visible(label), text=visible(text))
        case Grid(rows, header):
            # The columns of a query have names of its author.
            shown = tuple(tuple(visible(cell) for cell in row) for row in rows)
            return replace(block, rows=shown, header=tuple(visible(name) for name in header))


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
    widths = [min(max(map(len, column)), WIDEST_CELL) for column in zip(*rows, strict=True)]
    line = " " * grid.indent + "  ".join([f"%-{width}s" for width in widths])
    return "\n".join([(line % row).rstrip() for row in rows]) + "\n"


def _styled(blocks: Sequence[Block], style: Style) -> str:
    paint = _painter() if style.color else _leave
    return "".join(f"{line}\n" for block in blocks for line in _lines(block, style, paint))


def _lines(block: Block, style: Style, paint: _Paint) -> Iterator[str]:
    width = style.width or UNBOUNDED
    match block:
        case Line(text, tone):
            yield from (paint(line, tone) for line in wrap(text, width, fold=style.fold))
        case Field(label, text, tone):
            margin = LABEL_WIDTH + 2
            head = paint(f"  {label}".ljust(margin), "dim" if label else "")
            for at, line in enumerate(wrap(text, max(width - margin, 1), fold=style.fold)):
                yield ((" " * margin if at else head) + paint(line, tone)).rstrip()
        case Grid():
            yield from _grid_lines(block, width, paint, fold=style.fold)


def _grid_lines(grid: Grid, width: int, paint: _Paint, *, fold: bool) -> Iterator[str]:
    rows = ([grid.header] if grid.header else []) + list(grid.rows)
    if not rows:
        return
    by_column = tuple(zip(*rows, strict=True))
    widths = share_columns(
        [min(max(map(columns, cells)), WIDEST_CELL) for cells in by_column],
        [min(max(map(longest_token, cells)), WIDEST_CELL) for cells in by_column],
        width - grid.indent - len(GAP) * (len(by_column) - 1),
        fold=fold,
    )
    for at, row in enumerate(rows):
        is_header = bool(grid.header) and at == 0
        tones = ("bold",) * len(row) if is_header else grid.tones or ("",) * len(row)
        cells = [wrap(cell, space, fold=fold) for cell, space in zip(row, widths, strict=True)]
        for line in zip_longest(*cells, fillvalue=""):
            padded = (
                paint(part, tone) + " " * (space - columns(part))
                for part, tone, space in zip(line, tones, widths, strict=True)
            )
            yield (" " * grid.indent + GAP.join(padded)).rstrip()
        if is_header:
            yield " " * grid.indent + paint("─" * min(sum(widths) + len(GAP) * (len(widths) - 1), width), "dim")


def _leave(text: str, tone: str) -> str:
    return text


def _painter() -> _Paint:
    from rich.color import ColorSystem
    from rich.style import Style as Tone

    def paint(text: str, tone: str) -> str:
        return Tone.parse(tone).render(text, color_system=ColorSystem.STANDARD) if tone else text

    return paint
