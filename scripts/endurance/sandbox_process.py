"""A sandbox process that is started, measured, killed, and restarted on its files and ports."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Final

import psutil

from eosctl.lab.apache.ports import CANDIDATES
from eosctl.model.client_config import ClientConfig
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.identity import send_signal, wait_for_exit
from eosctl.sandbox.process.manage import SandboxFailed
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.settings.clusters.endpoints import parse_endpoints
from scripts.endurance.growth import Sample

_EXIT_TIMEOUT_S: Final = 30.0
_START_TIMEOUT_S: Final = 60.0
_PROGRAM: Final = "eosctl.sandbox.process.main"


class SandboxProcess:
    """A sandbox process; `starts_s` are the durations of its starts."""

    def __init__(self, spec: SandboxSpec) -> None:
        self.spec = spec
        self.starts_s: list[float] = []
        self.kill_count = 0
        self.running: RunningSandbox | None = None

    @property
    def config(self) -> ClientConfig:
        """Return the client configuration; ports stay the same."""
        ports = range(self.spec.port_base or 0, (self.spec.port_base or 0) + self.spec.brokers)
        return ClientConfig(parse_endpoints(",".join(f"127.0.0.1:{port}" for port in ports), "the sandbox"))

    @property
    def data_dirs(self) -> list[Path]:
        """Return the data directories of its nodes."""
        root = Path(self.spec.data_dir)
        return sorted([*root.glob("broker-*"), *root.glob("controller-*")])

    def start(self) -> None:
        """Start it and wait until it serves.

        Raises:
            EosctlError: It does not start.
        """
        began = time.monotonic()
        self.running = manage.start(self.spec, timeout_s=_START_TIMEOUT_S)
        self.starts_s.append(time.monotonic() - began)

    def kill(self) -> None:
        """Kill it like kill -9, and wait until it has ended."""
        running, self.running = self.running, None
        if running is None:
            return
        send_signal(running.pid, running.process_start_ticks, signal.SIGKILL)
        wait_for_exit(running.pid, running.process_start_ticks, _EXIT_TIMEOUT_S)
        self.kill_count += 1

    def kill_in_start(self, after_ms: int) -> None:
        """Start it, and kill it like kill -9 after a delay, before or shortly after it serves."""
        known = {child.pid for child in psutil.Process().children()}

        def start() -> None:
            with contextlib.suppress(SandboxFailed):  # It was killed first.
                self.start()

        starting = threading.Thread(target=start)
        starting.start()
        child = _await_child(known, starting)
        time.sleep(after_ms / 1000)
        if child is not None:
            child.kill()
            self.kill_count += 1
        starting.join()
        if child is not None and self.running is not None:
            self.starts_s.pop()
            self.running = None

    def stop(self) -> None:
        """Stop it cleanly; no effect if it does not run."""
        running, self.running = self.running, None
        if running is not None:
            manage.stop(running)

    def sample(self, at_s: float) -> Sample | None:
        """Measure its resources; None while it does not run."""
        if self.running is None:
            return None
        process = psutil.Process(self.running.pid)
        files, disk = _size_of(Path(self.spec.data_dir))
        return Sample(at_s, process.memory_info().rss, process.num_fds(), files, disk)


def _await_child(known: set[int], starting: threading.Thread) -> psutil.Process | None:
    """Return the process of a start once it runs the sandbox's program."""
    while starting.is_alive():
        for child in psutil.Process().children():
            with contextlib.suppress(psutil.NoSuchProcess):
                if child.pid not in known and _PROGRAM in child.cmdline():
                    return child
        time.sleep(0.001)
    return None


def free_ports(count: int) -> int:
    """Return the first of `count` consecutive free loopback ports, which no outgoing connection takes while it is down.

    Raises:
        OSError: No ports are free.
    """
    for _ in range(100):
        base = random.choice(CANDIDATES)
        if all(map(_is_free, range(base, base + count))):
            return base
    raise OSError(f"no {count} free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _size_of(root: Path) -> tuple[int, int]:
    """Return the number of files and their bytes; files deleted meanwhile are skipped."""
    count = size = 0
    for folder, _, names in os.walk(root):
        for name in names:
            try:
                size += (Path(folder) / name).stat().st_size
            except FileNotFoundError:
                continue
            count += 1
    return count, size
