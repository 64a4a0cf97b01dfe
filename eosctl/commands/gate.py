"""Exit codes that a pipeline acts on, and the option that asks for whole evidence."""

from __future__ import annotations

from typing import Annotated, Final

import typer

#: There are findings as bad as the gate.
FINDINGS: Final = 3
#: Evidence is missing, and ``--require-complete`` was given.
INCOMPLETE: Final = 4

GATE: Final = "Exit code"
RequireComplete = Annotated[
    bool,
    typer.Option("--require-complete", help="Exit with 4 when evidence is missing.", rich_help_panel=GATE),
]
