"""Tell the whole story of eosctl on a cluster of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from eosctl.demo.interrupts import Interrupts
from eosctl.demo.steps import Steps
from eosctl.demo.story import prepare_folder, tell_story


def demonstrate(folder: Path, tell: Callable[[str], None], heading: Callable[[str], str]) -> None:
    """Start a cluster, break it, diagnose it, fix it, and read its logs; must run on the main thread.

    Args:
        folder: Where programs, logs, and the report go; replaced.
        tell: Called with text as it comes.
        heading: Marks a line as a heading.

    Raises:
        EosctlError: The folder is not one of a demonstration, or a step does not end as it should.
        KeyboardInterrupt: The user stopped it; the cluster is gone.
    """
    begun = time.monotonic()
    prepare_folder(folder)
    with Interrupts() as interrupts:
        tell_story(Steps(folder, tell, interrupts.held), f"demo-{os.getpid()}", heading)
    tell(f"\nDone in {time.monotonic() - begun:.0f} s.\n")
