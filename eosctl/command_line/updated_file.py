"""Update a file that a command reads first and then writes with what it adds, such as a record of answers.

Two runs may have read the same file. The second to write would replace what the first one added, so it is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from eosctl.command_line.invocation import write_file
from eosctl.errors import EosctlError
from eosctl.render.escaping import utf8_text
from eosctl.whole_file import only_writer_in

T = TypeVar("T")


def updating(path: Path | None, render: Callable[[T], str]) -> Callable[[T], None]:
    """Return what writes the newest value to a file, as long as no other process has changed it.

    Args:
        path: The file as it is now is what the command reads later, or it does not exist yet. None: nothing is written.
        render: Returns the content of the file.

    Raises:
        OSError: The file cannot be read.
    """
    if path is None:
        return lambda _: None
    known = _content(path)

    def write(value: T) -> None:
        nonlocal known
        text = render(value)
        with only_writer_in(path.resolve().parent):
            if _content(path) != known:
                raise EosctlError(
                    f"Cannot write {path}.",
                    "It has changed since it was read, and the change would be lost.",
                    "Run the command again.",
                )
            write_file(text, path)
        known = utf8_text(text).encode() if path.is_file() else None

    return write


def _content(path: Path) -> bytes | None:
    """Return what a file holds; None if it does not exist, or is a device or a pipe."""
    return path.read_bytes() if path.is_file() else None
