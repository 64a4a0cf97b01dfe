"""Run every scenario without internal faults on the sandbox and on real Kafka, and print the differences.

    python -m scripts.differential [NAME]...

The exit status is 0 without differences, 1 with differences or a failed scenario, 2 for an unknown name.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from eosctl.errors import EosctlError
from eosctl.lab.scenarios.engines import real_kafka, simulated
from eosctl.lab.scenarios.load import find_script, library
from eosctl.lab.scenarios.player import Verdict, play_script
from eosctl.lab.scenarios.releases import settle
from eosctl.lab.scenarios.script import Script
from eosctl.lab.virtual_loop import run_virtual

SEED = 1


def play_both(script: Script) -> tuple[Verdict, Verdict]:
    """Run a scenario on the sandbox and on real Kafka of the same release."""
    script = settle(script)

    async def play(name: str) -> Verdict:
        with tempfile.TemporaryDirectory(prefix="eosctl-differential-") as directory:
            home = Path(directory)
            start = (
                simulated(script.cluster, home, SEED)
                if name == "sandbox"
                else real_kafka(script.cluster, home, random.Random(), lambda: time.time_ns() // 1_000_000)
            )
            async with start as engine:
                return await play_script(script, engine, seed=SEED)

    return run_virtual(play("sandbox"), SEED), asyncio.run(play("apache"))


def differences(sandbox: Verdict, apache: Verdict) -> list[str]:
    """Return the differing observations and answers. Steps are compared pairwise."""
    described = [
        f"step {number} ({mine.actor}: {mine.action}): sandbox {mine.answer or 'takes it'}, "
        f"Kafka {real.answer or 'takes it'}"
        for number, (mine, real) in enumerate(zip(sandbox.steps, apache.steps, strict=True), 1)
        if mine.answer != real.answer
    ]
    return described + [
        f"{mine.what}: sandbox {mine.seen}, Kafka {real.seen}"
        for mine, real in zip(sandbox.expectations, apache.expectations, strict=True)
        if mine.what.startswith("the check") and mine.seen != real.seen
    ]


def main(names: Sequence[str]) -> int:
    """Run the scenarios, and return the exit status."""
    try:
        chosen = [find_script(name) for name in names] or [each for each in library().values() if not each.inner]
    except EosctlError as error:
        print(error, file=sys.stderr)
        return 2
    worst = 0
    for script in chosen:
        try:
            found = [script.inner] if script.inner else differences(*play_both(script))
        except (EosctlError, TimeoutError) as error:
            found = [f"could not be played: {error}"]
        worst = max(worst, bool(found))
        print(f"{script.name:<28} {'differs' if found else 'the same'}", *found, sep="\n    ", flush=True)
    print(f"{len(chosen)} scenarios on both engines")
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
