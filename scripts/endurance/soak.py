"""Run mixed load with random faults on a sandbox for hours, and check for violations and resource growth.

    python -m scripts.endurance.soak [--minutes 60] [--round-seconds 60] [--rate 10] [--brokers 3] [--seed 1]

The sandbox is one process for the whole run. Each round is a verification with all workloads and a checked history.
Meanwhile, the cluster's offsets and leaders are compared with the invariants of replication. After each round its data
directories are checked as `eosctl fsck` does, and the round's topics are deleted.

The process is measured every few seconds. Topics are deleted after their round; transactional ids, offsets, and
producers expire; logs are compacted. So all resources are bounded, and after the warm-up (the first quarter) memory,
descriptors, files, and their size must not grow further. `growth.py` has the bounds.

`fsck` warns about producers that are missing in a snapshot, since it assumes Kafka's expiration of a day instead of a
minute. Warnings are printed but do not count.

The exit status is 0 without violations and growth, 1 with any, and 4 when more than a tenth of the rounds were
inconclusive.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from eosctl.errors import EosctlError
from eosctl.lab.history.anomaly import Anomaly
from eosctl.lab.history.events import ReplicaSeen
from eosctl.lab.history.replicas import check_bounds, check_leaders
from eosctl.lab.verify.play import NemesisKind
from eosctl.lab.verify.report import Verdict
from eosctl.lab.verify.targets import running_cluster
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import SandboxSpec
from scripts.endurance.growth import Sample, judge_growth
from scripts.endurance.rounds import Round, Work, play_round, warnings_of
from scripts.endurance.sandbox_process import SandboxProcess, free_ports
from scripts.endurance.short_lives import SETTINGS

SAMPLE_EVERY_S: Final = 5.0
WARM_UP_SHARE: Final = 0.25
UNDECIDED_SHARE: Final = 0.1
INCOMPLETE: Final = 4


class Watcher:
    """Measures the process, and checks the cluster's status against the invariants of replication."""

    def __init__(self, sandbox: SandboxProcess, began: float) -> None:
        self._sandbox = sandbox
        self._began = began
        self._last: list[ReplicaSeen] = []
        self.samples: list[Sample] = []
        self.anomalies: list[Anomaly] = []
        self.look_count = 0

    async def watch(self) -> None:
        """Measure until cancelled."""
        while True:
            await asyncio.sleep(SAMPLE_EVERY_S)
            sample = self._sandbox.sample(time.monotonic() - self._began)
            if sample is not None:
                self.samples.append(sample)
            with contextlib.suppress(EosctlError):  # The process responds slowly under load.
                await self._look()

    async def _look(self) -> None:
        if self._sandbox.running is None:
            return
        status = await asyncio.to_thread(manage.send_command, self._sandbox.running, "status")
        seen = replicas_of(status, int((time.monotonic() - self._began) * 1_000))
        self.look_count += 1
        self.anomalies += check_bounds([*self._last, *seen])
        self.anomalies += check_leaders([*self._last, *seen])
        self._last = seen


def replicas_of(status: dict[str, Any], at_ms: int) -> list[ReplicaSeen]:
    """Return the leaders of a sandbox's status in the format of a history, with their offsets only."""
    return [
        ReplicaSeen(
            at_ms,
            TopicPartition(found["topic"], found["partition"]),
            found["leader"],
            0,
            True,
            found["leader_epoch"],
            0,
            found["last_stable_offset"],
            found["high_watermark"],
            found["log_end_offset"],
            tuple(found["isr"]),
        )
        for found in status["partitions"]
        if "log_end_offset" in found
    ]


async def soak(sandbox: SandboxProcess, work: Work, duration_s: float) -> tuple[list[Round], Watcher]:
    """Run rounds until the time is over."""
    target = await running_cluster(sandbox.config)
    began = time.monotonic()
    watcher = Watcher(sandbox, began)
    watching = asyncio.ensure_future(watcher.watch())
    rounds: list[Round] = []
    try:
        while time.monotonic() - began < duration_s:
            rounds.append(await play_round(len(rounds), work, target, sandbox.data_dirs))
            print_round(len(rounds), rounds[-1], watcher)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    return rounds, watcher


def print_round(number: int, done: Round, watcher: Watcher) -> None:
    """Print one line, and what is wrong."""
    last = watcher.samples[-1] if watcher.samples else None
    holds = f"; {last.resident >> 20} MiB, {last.descriptors} descriptors, {last.files} files" if last else ""
    print(f"{number:>4} {done.verdict.value}: {done.committed_count} committed, {done.fault_count} faults{holds}")
    for trouble in done.troubles():
        print(f"       {trouble}")
    sys.stdout.flush()


def judge(rounds: Sequence[Round], watcher: Watcher, duration_s: float) -> int:
    """Print the results of the run, and return the exit status."""
    growth = judge_growth(watcher.samples, duration_s * WARM_UP_SHARE)
    wrong = [done for done in rounds if done.is_wrong]
    undecided = [done for done in rounds if done.verdict is Verdict.UNDECIDED]
    print(
        f"{len(rounds)} rounds, {sum(done.committed_count for done in rounds):,} transactions committed, "
        f"{sum(done.fault_count for done in rounds):,} faults: {len(wrong)} wrong, {len(undecided)} undecided"
    )
    print(f"{watcher.look_count} checks of the cluster: {len(watcher.anomalies)} broken invariants of replication")
    for warning in warnings_of(rounds):
        print(f"  {warning}")
    for anomaly in watcher.anomalies[:5]:
        print(f"  {anomaly.kind}: {anomaly.subject}")
    print(f"{len(watcher.samples)} samples, counted from {duration_s * WARM_UP_SHARE / 60:.0f} min on:")
    for one in growth:
        print(f"  {one}")
    if wrong or watcher.anomalies or not all(one.holds for one in growth):
        return 1
    return INCOMPLETE if len(undecided) > UNDECIDED_SHARE * len(rounds) else 0


def main(arguments: Sequence[str]) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="how long rounds are begun")
    parser.add_argument("--round-seconds", type=int, default=60, help="work of each round")
    parser.add_argument("--rate", type=float, default=10, help="transactions per second of each of seven workloads")
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    work = Work(
        options.round_seconds, options.rate, (NemesisKind.BROKERS, NemesisKind.LINKS), gap_ms=2_000, seed=options.seed
    )
    with tempfile.TemporaryDirectory(prefix="eosctl-soak-") as directory:
        os.environ["XDG_STATE_HOME"] = directory
        sandbox = SandboxProcess(
            SandboxSpec(
                "soak",
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
            rounds, watcher = asyncio.run(soak(sandbox, work, options.minutes * 60))
        finally:
            sandbox.stop()
    return judge(rounds, watcher, options.minutes * 60)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
