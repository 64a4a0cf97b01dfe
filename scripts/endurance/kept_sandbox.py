"""A sandbox that keeps its files, driven by the command line, and faults of its nodes, process, and disk."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import psutil

from scripts.endurance.foreign_clients import WRITERS
from scripts.endurance.sandbox_process import free_ports
from scripts.endurance.torn_files import tear

BROKERS: Final = 3
NODE_FAULTS: Final = (
    "kill node={node} lose=3 torn=true for={s}s",
    "kill node={node} lose=20 for={s}s",
    "restart node={node} lose=5 torn=true",
    "stop node={node} for={s}s",
    "pause node={node} for={s}s",
    "cut node={node} for={s}s",
    "cut node={node} other=clients for={s}s",
    "disconnect node={node}",
    "disconnect api=EndTxn side=answer count=3 for={s}s",
    "disconnect api=Produce side=answer count=5 for={s}s",
    "late-markers ms=800 for={s}s",
    "late-end-txn ms=800 for={s}s",
    "late-produce ms=300 for={s}s",
    "slow-disk node={node} ms=50 for={s}s",
    "move-coordinator transactional-id={id}",
    "unload-coordinator transactional-id={id}",
)
PROCESS_FAULTS: Final = ("kill-process", "tear-files", "kill-start", "restart-process", "stop-signal")
PROCESS_SHARE: Final = 0.4
_PROGRAM: Final = "eosctl.sandbox.process.main"
_STARTS: Final = 3


class KeptSandbox:
    """A sandbox of three brokers in a process of its own."""

    def __init__(self, folder: Path, sources: Path | None) -> None:
        paths = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "s"), "XDG_RUNTIME_DIR": str(folder)}
        self._environment = os.environ | paths | ({"PYTHONPATH": str(sources)} if sources else {})
        self._folder = folder
        self._port = free_ports(BROKERS)
        self.data_dir = folder / "data"
        self.bootstrap = ",".join(f"127.0.0.1:{self._port + place}" for place in range(BROKERS))

    def _command(self, words: Sequence[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "eosctl", *words],
            env=self._environment,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> str | None:
        """Run a command of eosctl; return None, or its error."""
        with self._command(words) as process:
            _, error = process.communicate(timeout=300)
        return error if process.returncode else None

    def _start_words(self) -> list[str]:
        words = ["sandbox", "up", "--name", "l", "--fast", "--ttl", "3h", "--brokers", str(BROKERS)]
        words += ["--data-dir", str(self.data_dir), "--port-base", str(self._port)]
        return [*words, "--config", "min.insync.replicas=2", "--config", "log.segment.bytes=1048576"]

    def start(self) -> None:
        """Start it on its files.

        Raises:
            SystemExit: It does not start; that is a violation.
        """
        for _ in range(_STARTS):  # A busy machine can take longer than a start may.
            error = self.run(*self._start_words())
            if error is None:
                return
        raise SystemExit(f"The sandbox does not start on its files:\n{error}")

    def stop(self) -> None:
        """Stop it in an orderly way."""
        self.run("sandbox", "down", "--name", "l")

    def processes(self) -> list[psutil.Process]:
        """Return its running process, if it runs."""
        return [one for one in psutil.process_iter(["cmdline"]) if self._is_own(one)]

    def _is_own(self, process: psutil.Process) -> bool:
        words = process.info["cmdline"] or []
        return _PROGRAM in words and any(str(self.data_dir) in word for word in words)

    def kill(self) -> None:
        """Kill it like kill -9."""
        for process in self.processes():
            process.kill()
            process.wait(60)

    def kill_in_start(self, after_s: float) -> None:
        """Start it, and kill it like kill -9 after a delay, before or shortly after it serves."""
        with self._command(self._start_words()) as starting:
            time.sleep(after_s)
            self.kill()
            starting.communicate(timeout=300)
        self.kill()  # A short delay ends before the process exists.


def disturb(sandbox: KeptSandbox, count: int, gap_s: float, rng: random.Random) -> Counter[str]:
    """Inject faults one after the other, so that at most one node is away, and return how many of each kind took."""
    done: Counter[str] = Counter()
    while done.total() < count:
        seconds, count_before = rng.choice((0.3, 1.0, 3.0)), done.total()
        if rng.random() < PROCESS_SHARE:
            # Nodes of an earlier fault are back before all of them end.
            sandbox.run("sandbox", "heal", "--name", "l")
            kind = rng.choice(PROCESS_FAULTS)
            disturb_process(sandbox, kind, seconds, rng)
            done[kind] += 1
        else:
            fault = rng.choice(NODE_FAULTS)
            words = fault.format(node=rng.randint(1, BROKERS), s=seconds, id=rng.choice(list(WRITERS))).split()
            # A fault that does not apply at the moment is refused.
            if sandbox.run("sandbox", "fault", *words, "--name", "l") is None:
                done[words[0]] += 1
            time.sleep(seconds)
        time.sleep(gap_s)
        if count_before < done.total() and done.total() % 25 == 0:
            print(f"{done.total()} faults", flush=True)
    sandbox.run("sandbox", "heal", "--name", "l")
    return done


def disturb_process(sandbox: KeptSandbox, kind: str, seconds: float, rng: random.Random) -> None:
    """End or stop the whole process, damage files while it does not run, and start it again."""
    if kind == "stop-signal":
        for process in sandbox.processes():
            process.send_signal(signal.SIGSTOP)
            time.sleep(seconds)
            process.send_signal(signal.SIGCONT)
        return
    if kind == "restart-process":
        sandbox.stop()
    else:
        sandbox.kill()
    if kind == "kill-start":
        sandbox.kill_in_start(rng.uniform(0.2, 2.0))
    if kind == "tear-files":
        tear(sandbox.data_dir, rng)
    sandbox.start()
