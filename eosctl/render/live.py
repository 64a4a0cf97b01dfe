"""A page that is drawn again and again in place, on a terminal; elsewhere pages one after the other."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from eosctl.render.page import Style


def show_live(draw: Callable[[Style, int | None], str], style: Callable[[], Style], interval_s: float) -> None:
    """Draw until Ctrl-C, which ends it in order, or until ``draw`` raises.

    Args:
        draw: Renders the page for a style and a height in lines (None where lines do not run out).
        style: Asked before every page: a terminal may change its size.
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
