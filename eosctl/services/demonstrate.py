"""Run the demonstration of eosctl on a cluster of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from eosctl.demo.incident import play_incident, prepare_folder
from eosctl.demo.interrupts import Interrupts
from eosctl.demo.steps import Steps
from eosctl.services.stopwatch import SYSTEM, Stopwatch


def demonstrate(
    folder: Path, report: Callable[[str], None], heading: Callable[[str], str], stopwatch: Stopwatch = SYSTEM
) -> None:
    """Start a cluster, break it, diagnose it, fix it, and read its logs; must run on the main thread.

    Args:
        folder: The folder for programs, logs, and the report; it is replaced.
        report: Called with text as it is produced.
        heading: Marks a line as a heading.
        stopwatch: Measures the duration.

    Raises:
        EosctlError: The folder does not belong to a demonstration, or a step fails.
        KeyboardInterrupt: The user stopped it; the cluster is gone.
    """
    begun = stopwatch.now_s()
    prepare_folder(folder)
    with Interrupts() as interrupts:
        play_incident(Steps(folder, report, interrupts.held), f"demo-{os.getpid()}", heading)
    report(f"\nDone in {stopwatch.now_s() - begun:.0f} s.\n")
