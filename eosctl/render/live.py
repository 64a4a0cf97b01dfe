"""Redraw a page in place on a terminal; elsewhere, print pages one after the other."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from eosctl.render.page import Style

LEAST_ROWS: Final = 3


def show_live(draw: Callable[[Style, int | None], str], style: Callable[[], Style], interval_s: float) -> None:
    """Draw until Ctrl-C, which ends it cleanly, or until ``draw`` raises.

    Args:
        draw: Renders the page for a style and a height in lines (None without a limit).
        style: Called before every page, because a terminal may change its size.
        interval_s: The time between two pages.
    """
    try:
        if sys.stdout.isatty():
            _on_terminal(draw, style, interval_s)
        else:
            while True:
                sys.stdout.write(draw(style(), None) + "\n")
                sys.stdout.flush()
                time.sleep(interval_s)
    except KeyboardInterrupt:
        return


def _on_terminal(draw: Callable[[Style, int | None], str], style: Callable[[], Style], interval_s: float) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            page = draw(style(), console.size.height)
            live.update(Text.from_ansi(page, no_wrap=True, overflow="crop"), refresh=True)
            time.sleep(interval_s)


@contextmanager
def frames(output: StrEnum, write: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Show frames: on a terminal, each replaces the previous one; elsewhere, one below the other.

    Args:
        output: The format; JSON has one line per frame.
        write: Writes text to standard output.
    """
    if output.value == "json" or not sys.stdout.isatty():
        yield write
        return
    last = ""
    with _live_screen() as draw:

        def show(frame: str) -> None:
            nonlocal last
            last = frame
            draw(frame)

        yield show
    write(last)


def row_count(head_lines: int, without_terminal: int) -> int:
    """Return the number of rows that fit below the head of a frame; without a terminal, the given number."""
    if not sys.stdout.isatty():
        return without_terminal
    return max(LEAST_ROWS, shutil.get_terminal_size().lines - head_lines)


@contextmanager
def _live_screen() -> Iterator[Callable[[str], None]]:
    """Show frames in place on the terminal, and restore the screen afterwards."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(), screen=True, auto_refresh=False) as live:
        yield lambda text: live.update(Text.from_ansi(text), refresh=True)
