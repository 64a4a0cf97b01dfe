"""One moving line on standard error while something is collected, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from eosctl.render.escaping import visible


@contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step; the line disappears at the end, or with an empty text."""
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.text import Text

    status = Console(file=stream, highlight=False, markup=False).status("", spinner="dots")

    def show(text: str) -> None:
        status.update(Text(visible(text)))
        if text:
            status.start()
        else:
            status.stop()

    try:
        yield show
    finally:
        status.stop()
