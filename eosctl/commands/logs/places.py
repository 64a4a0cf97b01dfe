"""The arguments that name logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", help="Log files and directories; compressed and rotated files are read too."),
]
Places = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH...",
        help="Log files and directories, compressed and rotated too, and kafka://HOST:PORT/TOPIC.",
    ),
]
