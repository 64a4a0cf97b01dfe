"""Check that acknowledged writes survive when the whole sandbox is killed (kill -9) at random times.

    python -m scripts.endurance.kill_nine [--kills 1000] [--rate 20] [--brokers 1] [--seed 1]

All nodes share one process and are killed together, during any operation: a partly written batch, a prepared
transaction, an unfinished snapshot. A third of the following starts are killed too, before they serve. Each round is a
verification with all workloads. Its history is checked for lost and duplicate writes, torn transactions, and offsets
that went back; then the data directories are checked as `eosctl fsck` does. Topics of a round are deleted after it,
which keeps recoveries short.

The loss of the page cache in a power failure is not tested here; see the fault `kill ... lose=N`.

The exit status is 0 when nothing was lost, 1 when something was, and 4 when more than a tenth of the rounds were
inconclusive.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from eosctl.lab.verify.plan import FaultRange, PlannedFault
from eosctl.lab.verify.play import NemesisKind
from eosctl.lab.verify.report import Verdict
from eosctl.lab.verify.targets import Target, running_cluster
from eosctl.sandbox.process.manage import SandboxFailed
from eosctl.sandbox.process.spec import SandboxSpec
from scripts.endurance.rounds import Round, Work, play_round, warnings_of
from scripts.endurance.sandbox_process import SandboxProcess, free_ports
from scripts.endurance.short_lives import SETTINGS

KILL: Final = "kill-process"
#: `amount` is the delay in milliseconds before a start is killed again; starts above this are not killed.
LAST_MS_OF_START: Final = 500
RANGE: Final = FaultRange(KILL, (0,), duration_ms=(0, 300), amount=(0, 3 * LAST_MS_OF_START))
ROUND_S: Final = 30
GAP_MS: Final = 1_500
UNDECIDED_SHARE: Final = 0.1
INCOMPLETE: Final = 4
_TRIES: Final = 5


class ProcessNemesis:
    """Kills the process of a sandbox and starts it again."""

    def __init__(self, sandbox: SandboxProcess) -> None:
        self._sandbox = sandbox

    async def begin(self, fault: PlannedFault) -> None:
        """Kill the process."""
        await asyncio.to_thread(self._sandbox.kill)

    async def end(self, fault: PlannedFault) -> None:
        """Start the process, possibly with a second attempt."""
        if fault.amount < LAST_MS_OF_START:
            await asyncio.to_thread(self._sandbox.kill_in_start, fault.amount)
        await self.heal()

    async def heal(self) -> None:
        """Start the process if it does not run; retry on an overloaded machine."""
        for tries_left in reversed(range(_TRIES)):
            if self._sandbox.running is not None:
                return
            try:
                await asyncio.to_thread(self._sandbox.start)
            except SandboxFailed:
                if not tries_left:
                    raise


async def disturbed_by_kills(sandbox: SandboxProcess) -> Target:
    """Return the cluster of a sandbox with kills as its only fault."""
    target = await running_cluster(sandbox.config)
    return replace(target, ranges=(RANGE,), nemesis=ProcessNemesis(sandbox))


async def kill_often(sandbox: SandboxProcess, work: Work, kill_count: int) -> list[Round]:
    """Run rounds until the sandbox was killed `kill_count` times."""
    target = await disturbed_by_kills(sandbox)
    rounds: list[Round] = []
    while sandbox.kill_count < kill_count:
        rounds.append(await play_round(len(rounds), work, target, sandbox.data_dirs))
        done = rounds[-1]
        print(f"{len(rounds):>4} {done.verdict.value}: {done.committed_count} committed, {sandbox.kill_count} kills")
        for trouble in done.troubles():
            print(f"       {trouble}")
        sys.stdout.flush()
    return rounds


def main(arguments: Sequence[str]) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--rate", type=float, default=20, help="transactions per second of each of seven workloads")
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    work = Work(ROUND_S, options.rate, (NemesisKind.BROKERS,), gap_ms=GAP_MS, seed=options.seed)
    with tempfile.TemporaryDirectory(prefix="eosctl-kill-nine-") as directory:
        os.environ["XDG_STATE_HOME"] = directory
        sandbox = SandboxProcess(
            SandboxSpec(
                "kill-nine",
                str(Path(directory) / "data"),
                brokers=options.brokers,
                port_base=free_ports(options.brokers),
                settings=tuple(SETTINGS.items()),
                fast=True,
                bugs=(("kafka-20734", False),),
            )
        )
        sandbox.start()
        try:
            rounds = asyncio.run(kill_often(sandbox, work, options.kills))
        finally:
            sandbox.stop()
    wrong = [done for done in rounds if done.is_wrong]
    undecided = [done for done in rounds if done.verdict is Verdict.UNDECIDED]
    print(
        f"{sandbox.kill_count} kills in {len(rounds)} rounds, "
        f"{sum(done.committed_count for done in rounds):,} transactions committed: "
        f"{len(wrong)} rounds wrong, {len(undecided)} undecided"
    )
    met: Counter[str] = sum((Counter(done.states_met) for done in rounds), Counter())
    print(f"met transactions: {', '.join(f'{count:,} {state}' for state, count in met.items())}")
    for warning in warnings_of(rounds):
        print(f"  {warning}")
    starts = sorted(sandbox.starts_s)
    print(f"a start took {median(starts):.2f} s (median), {starts[-1]:.2f} s at most")
    if wrong:
        return 1
    return INCOMPLETE if len(undecided) > UNDECIDED_SHARE * len(rounds) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
