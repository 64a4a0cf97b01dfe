"""Compare the sandbox's responses with recorded scenarios: a table by area and target.

    python scripts/transcripts.py [--only TEXT] [-v]
    python scripts/transcripts.py --bootstrap HOST:PORT --target 4.3-tv2 [--only TEXT] [-v]

With a bootstrap address, the scenarios without a profile are run on that broker instead. The exit status is 1 when a
response differs from the recorded one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.transcript_runner.conversation import Outcome
from scripts.transcript_runner.runner import play_on, run_scenarios
from scripts.transcript_runner.scenario import TARGETS, load_scenarios

FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures"
FOLDERS = (FIXTURES / "protocol" / "scenarios", FIXTURES / "transcripts")


def render_table(counts: dict[tuple[str, str], Counter[str]]) -> str:
    """Render passed and failed scenarios by area (rows) and target (columns)."""
    areas = sorted({area for area, _ in counts})
    names = [target.name for target in TARGETS]
    lines = [f"{'area':22}" + "".join(f"{name:>22}" for name in names)]
    for area in [*areas, "all"]:
        cells = []
        for name in names:
            total: Counter[str] = Counter()
            for (other, target), found in counts.items():
                if target == name and area in (other, "all"):
                    total += found
            cells.append(f"{total['passed']} passed, {total['failed']} failed")
        lines.append(f"{area:22}" + "".join(f"{cell:>22}" for cell in cells))
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the scenarios and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="scenarios whose area/name contains TEXT")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every difference")
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="play on this broker, not on a sandbox in memory")
    parser.add_argument("--target", choices=[target.name for target in TARGETS], help="only this one")
    options = parser.parse_args(arguments)
    if options.bootstrap and not options.target:
        parser.error("--bootstrap needs --target: what the broker is")
    scenarios = [scenario for folder in FOLDERS for scenario in load_scenarios(folder, options.only)]
    counts: dict[tuple[str, str], Counter[str]] = {}
    answers = matched = 0
    started = time.perf_counter()
    for target in TARGETS:
        if options.target not in (None, target.name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            outcomes = (
                play_on(options.bootstrap, scenarios, target)
                if options.bootstrap
                else run_scenarios(scenarios, target, Path(folder))
            )
            for outcome in outcomes:
                kind = "failed" if outcome.differences else "passed"
                counts.setdefault((outcome.scenario.area, target.name), Counter())[kind] += 1
                answers += outcome.check_count
                matched += outcome.check_count - _failed_checks(outcome)
                if outcome.differences:
                    print(f"FAIL {target.name} {outcome.scenario}: {outcome.scenario.title}")
                    for line in outcome.differences if options.verbose else outcome.differences[:2]:
                        print(f"     {line}")
    print(render_table(counts))
    print(f"{matched} of {answers} answers as recorded, in {time.perf_counter() - started:.1f} s")
    return 0 if matched == answers else 1


def _failed_checks(outcome: Outcome) -> int:
    return len({line.partition(": ")[0] for line in outcome.differences})


if __name__ == "__main__":
    sys.exit(main())
