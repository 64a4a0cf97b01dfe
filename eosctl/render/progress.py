"""One moving line on standard error while something is collected, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[Callable[[str], None]]:
    """Yield a function that is told what is going on; the line disappears at the end."""
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False)
    with console.status(Text("connecting"), spinner="dots") as status:
        yield lambda text: status.update(Text(text))
