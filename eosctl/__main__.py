"""``python -m eosctl``, and what the installed program starts: a process that lives for one command."""

from __future__ import annotations

import gc
import sys
import time

# A timeout of a command counts from here: on a busy machine, what follows takes seconds to import.
_BEGAN_S = time.monotonic()

# What a command imports and collects lives until it ends; Python's default of 700 goes through it again and again.
_ALLOCATIONS_PER_COLLECTION = 100_000


def main() -> int:
    """Run the program on the process's command line and return the exit code."""
    gc.set_threshold(_ALLOCATIONS_PER_COLLECTION)
    from eosctl.cli import main as run
    from eosctl.temporary_folders import remove_at_signals

    remove_at_signals()
    try:
        return run(began_s=_BEGAN_S)
    finally:
        # Skip Python's own collections at exit: they would scan every object and free nothing.
        gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
