"""Run random conversations with a running broker, and compare its responses with the sandbox's.

    python -m scripts.improvise 4.3-tv2=HOST:PORT [--seeds 0:200] [--kind transactions] [--show SEED]

Each conversation is determined by its seed. A difference is reported with its first step; `--show` prints a
conversation up to there. The brokers should have the settings of `tests/apache`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.transcript_runner.conversation import Outcome
from scripts.transcript_runner.improvising import KINDS, differences_on, improvise, kinds_of
from scripts.transcript_runner.scenario import TARGETS


def main(arguments: list[str] | None = None) -> int:
    """Run the conversations and report; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("brokers", nargs="+", type=_broker, metavar="TARGET=HOST:PORT")
    parser.add_argument("--seeds", default=range(100), type=_seeds, metavar="FROM:TO")
    parser.add_argument("--kind", default="", choices=["", *(kind.area.removeprefix("improvised-") for kind in KINDS)])
    parser.add_argument("--show", type=int, metavar="SEED", help="print this conversation up to its first difference")
    options = parser.parse_args(arguments)
    seeds = options.seeds if options.show is None else (options.show,)
    try:
        return _hold(dict(options.brokers), options.kind, seeds, reports=options.show is not None)
    except (OSError, TimeoutError) as error:
        parser.exit(1, f"{parser.prog}: a broker does not answer: {error}\n")


def _broker(text: str) -> tuple[str, str]:
    target, _, address = text.partition("=")
    if target not in [known.name for known in TARGETS] or not address.rpartition(":")[2].isdecimal():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not TARGET=HOST:PORT with a target of {', '.join(known.name for known in TARGETS)}"
        )
    return target, address


def _seeds(text: str) -> range:
    first, _, last = text.partition(":")
    if not (first.isdecimal() and last.isdecimal() and int(first) < int(last)):
        raise argparse.ArgumentTypeError(f"{text!r} is not FROM:TO, as 0:100")
    return range(int(first), int(last))


def _hold(addresses: Mapping[str, str], wanted: str, seeds: Sequence[int], *, reports: bool) -> int:
    differing = 0
    for target in TARGETS:
        for kind in kinds_of(target):
            if target.name not in addresses or not kind.area.endswith(wanted):
                continue
            started = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder:
                conversations = list(improvise(kind, target, seeds, Path(folder)))
            found = differences_on(addresses[target.name], conversations, target)
            differing += len(found)
            spent = time.perf_counter() - started
            print(f"{target.name} {kind.area}: {len(found)} of {len(seeds)} differ ({spent:.0f} s)", flush=True)
            for outcome in found:
                print(f"  seed {outcome.scenario.name} {outcome.differences[0]}")
                if reports:
                    print("\n".join(_rendered(outcome)))
    return 1 if differing else 0


def _rendered(outcome: Outcome) -> list[str]:
    """Render a conversation, one line per step, up to the first difference."""
    last = int(outcome.differences[0].split()[1])
    return [
        f"  {number:3} {json.dumps({key: value for key, value in step.items() if key != 'client'})}"
        for number, step in enumerate(outcome.scenario.steps[:last], 1)
    ]


if __name__ == "__main__":
    sys.exit(main())
