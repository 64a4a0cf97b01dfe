"""``eosctl demo``: a whole incident on a cluster of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.services.demonstrate import demonstrate


def demo(
    invocation: Invocation,
    folder: Annotated[
        Path,
        typer.Option(
            "--dir", metavar="DIR", help="Directory for programs, logs, and the report; replaced on each run."
        ),
    ] = Path("demo-output"),
) -> None:
    """Show a fault from injection to repair in a minute.

    Starts a sandbox cluster, injects faults, diagnoses and repairs them, and reports the incidents in its logs. Every
    step is a command that you can run yourself. Needs neither Kafka nor Java, writes only to its own folder, and
    removes the cluster at the end, also after Ctrl-C. Exit code 1 when a step fails.

    Examples:
        eosctl demo
        eosctl demo --dir /tmp/eosctl-demo
    """
    color = invocation.style().color

    def show(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    demonstrate(folder, show, lambda text: f"\033[1m{text}\033[0m" if color else f"== {text}")
