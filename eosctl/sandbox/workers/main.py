"""A worker: a process that hosts a share of a sandbox's nodes.

The supervisor starts it with its order, holds the other end of its standard input, and reads one line from its standard
output: the listeners of its brokers, or the reason why they cannot be used. Everything else is a command of the control
socket. A worker whose supervisor has ended kills its nodes like `kill -9`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from eosctl.errors import EosctlError
from eosctl.sandbox.cluster import FIRST_START_TIMEOUT_S, Command
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.control import serve_control
from eosctl.sandbox.process.main import ProcessCluster, new_loop
from eosctl.sandbox.starting import explain_start
from eosctl.sandbox.workers.links import Links
from eosctl.sandbox.workers.order import WorkerOrder

_STDIN: Final = 0
_STDOUT: Final = 1
_STDERR: Final = 2
#: Runs of nodes in one process are fewer.
_RUNS: Final = 1 << 20
_POLL_S: Final = 0.005


class Worker(ProcessCluster):
    """The nodes of a worker, and their links to those of other workers."""

    def __init__(self, order: WorkerOrder) -> None:
        super().__init__(order.spec, paths.logs_dir(Path(order.spec.data_dir)), order.share)
        self._order = order
        self._ended = asyncio.Event()
        self._links: Links | None = None

    async def run(self) -> None:
        """Serve the supervisor until it stops this worker, or ends."""
        order = self._order
        name, worker = order.spec.name, order.worker
        await self.prepare()
        self.core.network.run_count = order.start_number * _RUNS
        self._links = Links(self.core.network, self.core.ticks)
        await self._links.listen(paths.link_socket(name, worker))
        path = paths.worker_socket(name, worker)
        server = await serve_control(path, self.commands())
        lifeline = asyncio.StreamReader()
        reading = partial(asyncio.StreamReaderProtocol, lifeline)
        await asyncio.get_running_loop().connect_read_pipe(reading, sys.stdin)
        supervised = asyncio.ensure_future(lifeline.read())
        supervised.add_done_callback(lambda _: self._ended.set())
        listeners = {broker_id: self.core.listeners[broker_id] for broker_id in self._servers}
        ports = {broker_id: [one.port for one in bound] for broker_id, bound in listeners.items()}
        addresses = {broker_id: address for broker_id, address in self._addresses().items() if broker_id in ports}
        _report({"ports": ports, "addresses": addresses})
        await self._ended.wait()
        self.abort()  # Nothing is left to kill after a command to stop.
        supervised.cancel()
        self._links.close()
        server.close()

    def commands(self) -> Mapping[str, Command]:
        """Return the commands of a cluster, and those that only the supervisor uses."""
        links = self._links
        if links is None:
            raise RuntimeError("the worker is not prepared")

        async def link(arguments: dict[str, Any]) -> str:
            try:
                await links.connect(map(Path, arguments["paths"]))
            except OSError as error:
                raise EosctlError(
                    f"Worker {self._order.worker} does not reach another one.",
                    error.strerror or str(error),
                    "Start it again; see: eosctl sandbox logs --process.",
                ) from error
            return "linked"

        async def begin(arguments: dict[str, Any]) -> str:
            try:
                await self.start_nodes([node_id for node_id in self.core.node_ids if node_id in arguments["nodes"]])
            except Exception as error:
                explained = explain_start(error, self._spec, FIRST_START_TIMEOUT_S)
                raise explained from error
            return "ready"

        async def nodes(arguments: dict[str, Any]) -> list[int]:
            return sorted(self.core.nodes)

        async def register(arguments: dict[str, Any]) -> int:
            await self.register_users()
            return self._metadata_offset()

        async def catch_up(arguments: dict[str, Any]) -> int:
            offset = int(arguments["offset"])
            while -1 < self._metadata_offset() < offset:
                await asyncio.sleep(_POLL_S)
            return self._metadata_offset()

        async def accept(arguments: dict[str, Any]) -> str:
            await self.open()
            return "open"

        async def stop(arguments: dict[str, Any]) -> str:
            await self.stop()
            asyncio.get_running_loop().call_soon(self._ended.set)
            return "stopped"

        return {
            **super().commands(),
            "link": link,
            "begin": begin,
            "nodes": nodes,
            "register-users": register,
            "catch-up": catch_up,
            "open": accept,
            "stop": stop,
        }

    def _metadata_offset(self) -> int:
        """Return the offset up to which every broker has replayed the metadata log; -1 without any that runs."""
        running = [broker for broker in self.core.brokers() if broker.paused is None]
        return min((broker.metadata.last_offset for broker in running), default=-1)


def _report(answer: dict[str, Any]) -> None:
    with suppress(BrokenPipeError):  # The supervisor has ended, which ends this process, too.
        os.write(_STDOUT, json.dumps(answer).encode() + b"\n")
    os.dup2(_STDERR, _STDOUT)  # Nothing reads what a library prints from now on.


def main(order: WorkerOrder) -> int:
    """Run a worker and return its exit code."""
    os.umask(0o077)

    async def run() -> None:
        await Worker(order).run()

    try:
        with asyncio.Runner(loop_factory=partial(new_loop, order.spec)) as runner:
            runner.run(run())
    except (EosctlError, OSError) as error:
        explained = explain_start(error, order.spec, FIRST_START_TIMEOUT_S)
        if not isinstance(explained, EosctlError):
            raise
        words = {"what": explained.what, "why": explained.why, "next_step": explained.next_step}
        _report({"error": words, "exit_code": explained.exit_code})
        return explained.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(WorkerOrder.from_json(sys.stdin.readline())))
