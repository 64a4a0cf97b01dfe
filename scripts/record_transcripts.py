"""Run scenarios on brokers and record their responses.

    python -m scripts.record_transcripts 3.9-tv0=HOST:PORT 4.3-tv2=HOST:PORT -- DRAFT.yaml...

A draft is a scenario as in `tests/fixtures/transcripts` without expectations; the responses of every target broker are
written into the file. The brokers should be fresh, with the settings of `tests/apache`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import yaml

from scripts.transcript_runner.recording import record_on, with_expectations
from scripts.transcript_runner.runner import await_coordinators
from scripts.transcript_runner.scenario import TARGETS, load_scenario
from scripts.transcript_runner.sockets import SocketCluster


def main(arguments: Sequence[str]) -> int:
    """Record, and return the exit status."""
    if "--" not in arguments:
        print(__doc__, file=sys.stderr)
        return 2
    divider = list(arguments).index("--")
    brokers = dict(argument.split("=", 1) for argument in arguments[:divider])
    for address in brokers.values():
        with SocketCluster(address) as cluster:
            await_coordinators(cluster)
    for place in map(Path, arguments[divider + 1 :]):
        scenario = load_scenario(place)
        run = f"{time.time_ns() // 1_000_000:x}"
        answers = {
            target.name: record_on(brokers[target.name], scenario, target, run)
            for target in TARGETS
            if target.name in scenario.targets and target.name in brokers
        }
        content = with_expectations(yaml.safe_load(place.read_text()), answers)
        place.write_text(yaml.safe_dump(content, sort_keys=False, width=120, allow_unicode=True))
        print(f"{scenario}: {', '.join(answers)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
