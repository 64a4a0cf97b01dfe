"""Print the surviving mutants; exit with 1 if there are any."""

from __future__ import annotations

import sys

from scripts.mutate_checks.mutants import ROOT
from scripts.mutate_checks.run import survivors


def main() -> int:
    """Print the surviving mutants."""
    count, alive = survivors()
    for mutant in alive:
        print(f"{mutant.path.relative_to(ROOT)}:{mutant.line}: no case notices this comparison inverted")
    print(f"{count} comparisons inverted, {count - len(alive)} noticed, {len(alive)} not.")
    return 1 if alive else 0


sys.exit(main())
