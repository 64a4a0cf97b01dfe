"""Inject faults into sandbox clusters, individually and in pairs, and compare the diagnoses.

    python -m scripts.diagnosis_matrix [--seed N] [--alone] [--only NAME ...]

The diagnoses are `txn hanging` (with its verdict on aborting) and `group pending` on the running cluster, `txn blame`
for every id, and `fsck` over all data directories. Names are random. Prints the number of right, wrong, and missing
verdicts for each kind, and exits with 1 if precision or recall is below 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from scripts.diagnosis_matrix.faults.registry import FAULTS
from scripts.diagnosis_matrix.play import Outcome, groups_of, play, score


def main() -> int:
    """Run every fault alone and every pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--alone", action="store_true", help="one fault at a time")
    parser.add_argument("--only", nargs="+", choices=[fault.name for fault in FAULTS], metavar="NAME")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    outcomes: list[Outcome] = []
    chosen = [fault for fault in FAULTS if given.only is None or fault.name in given.only]
    for number, faults in enumerate(groups_of(chosen)):
        if given.alone and len(faults) > 1:
            break
        began = time.monotonic()
        outcome = play(faults, given.seed + number)
        outcomes.append(outcome)
        names = " + ".join(fault.name for fault in faults)
        took_s = time.monotonic() - began
        print(f"{'ok' if outcome.is_exact else 'WRONG':6}{took_s:5.1f} s  {names}", flush=True)
        for verdict in sorted(outcome.expected ^ outcome.found):
            print(f"      {'missing' if verdict in outcome.expected else 'not planted'}: {' '.join(verdict)}")
    print(f"\n{'VERDICT':50} RIGHT  WRONG  MISSING  PRECISION  RECALL")
    for (source, kind), (right, wrong, missing) in score(outcomes).items():
        precision, recall = (right / (right + more) if right else 0.0 for more in (wrong, missing))
        print(f"{source + ': ' + kind:50} {right:5}  {wrong:5}  {missing:7}  {precision:9.2f}  {recall:6.2f}")
    return 0 if all(outcome.is_exact for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
