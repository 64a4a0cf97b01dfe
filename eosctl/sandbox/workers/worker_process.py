"""One process of a worker, as its supervisor sees it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from eosctl.errors import EosctlError, ExitCode, UsageError
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.control import request_control
from eosctl.sandbox.process.identity import start_ticks
from eosctl.sandbox.workers.order import WorkerOrder

PROGRAM = "eosctl.sandbox.workers.main"


class Bound(NamedTuple):
    """What a worker's brokers have bound: the ports in the order of their listeners, and the first one's address."""

    ports: Mapping[int, Sequence[int]]
    addresses: Mapping[int, str]


class WorkerProcess:
    """A running or ended process of a worker.

    Attributes:
        number: The worker's number.
        pid: The id of the process.
        ticks: Its start time (`process.identity.start_ticks`).
    """

    def __init__(self, order: WorkerOrder, process: asyncio.subprocess.Process) -> None:
        self.number = order.worker
        self.pid = process.pid
        self.ticks = start_ticks(process.pid) or 0
        self._process = process
        self._control = paths.worker_socket(order.spec.name, order.worker)

    @classmethod
    async def spawn(cls, order: WorkerOrder, held: Sequence[int]) -> Self:
        """Start a process, which also holds some descriptors of this one.

        A session of its own keeps Ctrl-C in a terminal from its nodes, which the supervisor stops.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            PROGRAM,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=held,
            start_new_session=True,
            cwd="/",
        )
        assert process.stdin is not None
        # Not an argument: settings may be secrets, and arguments are there for all users to see.
        process.stdin.write(f"{order.to_json()}\n".encode())
        await process.stdin.drain()
        return cls(order, process)

    async def bound(self) -> Bound:
        """Return what the brokers have bound.

        Raises:
            EosctlError: A port cannot be used, or the process ended.
        """
        line = await self._process.stdout.readline() if self._process.stdout is not None else b""
        if not line:
            await self._process.wait()
            raise EosctlError(
                f"Worker {self.number} ended while it started.",
                self.end_text,
                "See its output: eosctl sandbox logs --process",
            )
        report = json.loads(line)
        if "error" in report:
            failure = UsageError if report["exit_code"] == ExitCode.BAD_INPUT else EosctlError
            raise failure(report["error"]["what"], report["error"]["why"], report["error"]["next_step"])
        ports = {int(broker_id): bound for broker_id, bound in report["ports"].items()}
        return Bound(ports, {int(broker_id): address for broker_id, address in report["addresses"].items()})

    @property
    def control(self) -> Path:
        """Return the control socket."""
        return self._control

    @property
    def is_running(self) -> bool:
        """Return whether the process has not ended yet, as far as is known."""
        return self._process.returncode is None

    @property
    def end_text(self) -> str:
        """Return how the process ended; empty while it runs."""
        code = self._process.returncode
        if code is None:
            return ""
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    async def call(self, command: str, **arguments: Any) -> Any:
        """Send a command and return its response.

        Raises:
            ControlError: It returned an error, or ended.
            UsageError: It refused bad input.
        """
        return await request_control(self._control, command, arguments)

    async def wait(self) -> None:
        """Wait until the process has ended."""
        await self._process.wait()

    async def end(self) -> None:
        """Kill the process, and wait until it has ended."""
        if self.is_running:
            self._process.kill()
        await self._process.wait()
