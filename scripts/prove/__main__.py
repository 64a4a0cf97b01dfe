"""Run long proofs, and save the results in docs/proofs/NAME.json.

    python -m scripts.prove              list the proofs
    python -m scripts.prove NAME...      run them one after the other
    python -m scripts.prove --new NAME   of a proof by case, only the cases without a result, those that failed, and
                                         those whose own test or its helpers changed since

A record contains the commit, so the work tree must be clean for the result to be repeatable. A proof by case keeps the
result of each case as soon as it is known, and a later run continues with the cases that have not passed with the
current code. The exit status is 0 when every proof succeeded, 1 when one failed (its record contains that), 2 for an
unknown name or a work tree with changes, 130 when a proof by case was interrupted.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.prove.by_case import run_by_case
from scripts.prove.catalog import PROOFS, Proof
from scripts.prove.runs import changed_files, run_whole

ROOT = Path(__file__).parents[2]
NEW = "--new"


def main(names: Sequence[str], root: Path = ROOT, proofs: Mapping[str, Proof] = PROOFS) -> int:
    """List the proofs, or run the named ones."""
    only_new, names = NEW in names, [name for name in names if name != NEW]
    if not names:
        for name, proof in proofs.items():
            print(f"{name:<14} {proof.claim}")
        return 0
    if unknown := [name for name in names if name not in proofs]:
        print(f"There is no proof {', '.join(unknown)}. Known: {', '.join(proofs)}.", file=sys.stderr)
        return 2
    if changed := changed_files(root):
        print(
            f"The work tree has changes; commit them first, so that the record names its code:\n{changed}",
            file=sys.stderr,
        )
        return 2
    if only_new and (whole := [name for name in names if not proofs[name].by_case]):
        print(f"{NEW} is for proofs by case; {', '.join(whole)} runs as a whole.", file=sys.stderr)
        return 2
    try:
        results = [
            run_by_case(root, name, proofs[name], only_new=only_new)
            if proofs[name].by_case
            else run_whole(root, name, proofs[name])
            for name in names
        ]
    except KeyboardInterrupt:
        print(
            "Interrupted. A proof by case continues with the cases that are left when it runs again.", file=sys.stderr
        )
        return 130
    return 0 if all(results) else 1


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell lets programs in the background ignore SIGINT
        signal.signal(number, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
