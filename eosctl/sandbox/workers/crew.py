"""The workers of a sandbox: their processes, and the nodes that each hosts."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from eosctl.errors import EosctlError
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.control import ControlError
from eosctl.sandbox.process.leftovers import remove_worker_files
from eosctl.sandbox.process.shape import assign_nodes, shape_of
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.sandbox.starting import not_startable
from eosctl.sandbox.workers.order import WorkerOrder
from eosctl.sandbox.workers.worker_process import WorkerProcess
from eosctl.text import name_some
from eosctl.whole_file import whole_file

STOP_TIMEOUT_S = 8.0


class Crew:
    """The workers.

    Attributes:
        shape: The whole cluster.
        shares: The nodes of each worker.
        addresses: The client address of each broker.
        on_end: Called after a process has ended that the supervisor did not stop.
        on_restart: Called for a new process of a worker before its nodes start.
    """

    def __init__(self, spec: SandboxSpec, held: Sequence[int]) -> None:
        self.shape: ClusterShape = shape_of(spec)
        self.shares = assign_nodes(self.shape, spec.processes)
        self.addresses: dict[int, str] = {}
        self.on_end: Callable[[WorkerProcess], None] = lambda _: None
        self.on_restart: Callable[[WorkerProcess], Awaitable[None]] = _do_nothing
        self._spec = spec
        self._held = held
        self._ports: dict[int, Sequence[int]] = {}
        self._processes: dict[int, WorkerProcess] = {}
        self._start_count = 0
        self._watches: set[asyncio.Task[None]] = set()
        self._restarting = asyncio.Lock()
        self._is_stopping = False

    # --- processes ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start every worker with all its nodes, and wait until all brokers are ready."""
        for number, nodes in self.shares.items():
            await self._spawn(number, nodes)
        for process in self.processes():
            await self._bind(process)
        for process in self.processes():
            earlier = [other for other in self.processes() if other.number < process.number]
            await process.call("link", paths=self._link_paths(earlier))
        await _all(process.call("begin", nodes=sorted(self.shares[process.number])) for process in self.processes())

    async def open(self) -> None:
        """Let every worker accept clients."""
        await _all(process.call("open") for process in self.processes())

    async def stop(self) -> None:
        """Shut down the nodes of every worker; kill a worker that does not stop in time."""
        self._is_stopping = True
        with contextlib.suppress(TimeoutError, ControlError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await _all(self._stop(process) for process in self.processes())
        await self.abort()

    async def abort(self) -> None:
        """Kill every worker."""
        self._is_stopping = True
        for process in self.processes():
            await process.end()
        if self._watches:
            await asyncio.wait(self._watches)
        remove_worker_files(self._spec)

    async def _stop(self, process: WorkerProcess) -> None:
        with contextlib.suppress(ControlError):  # It has ended, or is killed next.
            await process.call("stop")
            await process.wait()

    async def _spawn(self, number: int, started: Collection[int]) -> WorkerProcess:
        self._start_count += 1
        order = WorkerOrder(
            spec=self._spec,
            worker=number,
            start_number=self._start_count,
            hosted=sorted(self.shares[number]),
            started=sorted(started),
            ports=self._ports,
        )
        process = await WorkerProcess.spawn(order, self._held)
        self._processes[number] = process
        watch = asyncio.ensure_future(self._watch(process))
        self._watches.add(watch)
        watch.add_done_callback(self._watches.discard)
        with whole_file(paths.workers_file(self._spec.name)) as file:
            known = [[each.pid, each.ticks] for each in self._processes.values()]
            file.write(json.dumps(known).encode())
        return process

    async def _bind(self, process: WorkerProcess) -> None:
        bound = await process.bound()
        self._ports |= bound.ports
        self.addresses |= bound.addresses

    async def _watch(self, process: WorkerProcess) -> None:
        await process.wait()
        if not self._is_stopping:
            self.on_end(process)

    def _link_paths(self, processes: Sequence[WorkerProcess]) -> list[str]:
        return [str(paths.link_socket(self._spec.name, process.number)) for process in processes]

    # --- looking in ---------------------------------------------------------------------------------------------

    def processes(self) -> list[WorkerProcess]:
        """Return the running processes by number."""
        return [process for _, process in sorted(self._processes.items()) if process.is_running]

    def worker_of(self, node_id: int) -> int:
        """Return the number of the worker that hosts a node."""
        return next(number for number, nodes in self.shares.items() if node_id in nodes)

    def process_of(self, node_id: int) -> WorkerProcess:
        """Return the process that hosts a node.

        Raises:
            EosctlError: It has ended.
        """
        process = self._processes[self.worker_of(node_id)]
        if not process.is_running:
            raise EosctlError(
                f"Node {node_id} does not run.",
                f"Its process {process.pid} {process.end_text}.",
                f"Start it: eosctl sandbox fault start node={node_id}",
            )
        return process

    def describe(self) -> list[dict[str, Any]]:
        """Return the processes as JSON values."""
        return [
            {
                "worker": number,
                "pid": process.pid,
                "nodes": sorted(self.shares[number]),
                "running": process.is_running,
                "ended": process.end_text or None,
            }
            for number, process in sorted(self._processes.items())
        ]

    def nodes_text(self, process: WorkerProcess) -> str:
        """Return the nodes of a process in words."""
        nodes = sorted(self.shares[process.number])
        brokers = [node for node in nodes if node in self.shape.broker_ids]
        controllers = [node for node in nodes if node not in brokers]
        groups = [("broker", brokers), ("controller", controllers)]
        return ", ".join(name_some(noun, [str(node) for node in ids]) for noun, ids in groups if ids)

    async def ask_all(self, command: str) -> Mapping[int, Any]:
        """Return the responses of all running workers; a worker that ends meanwhile has none.

        Raises:
            ControlError: A worker returned an error.
        """
        answers: dict[int, Any] = {}
        for process in self.processes():
            try:
                answers[process.number] = await process.call(command)
            except ControlError:
                if await self._is_alive(process):
                    raise
        return answers

    async def _is_alive(self, process: WorkerProcess) -> bool:
        """Return whether a process still responds; otherwise wait until its end is known."""
        try:
            await process.call("now")
        except ControlError:
            await process.wait()
        return process.is_running

    # --- nodes --------------------------------------------------------------------------------------------------

    async def start_node(self, node_id: int) -> None:
        """Start a node that is down; if its process has ended, in a new one.

        Raises:
            EosctlError: It runs, does not exist, or cannot start.
        """
        if not any(node_id in nodes for nodes in self.shares.values()):
            raise not_startable(node_id)
        async with self._restarting:
            number = self.worker_of(node_id)
            if self._processes[number].is_running:
                await self._processes[number].call("start-broker", broker=node_id)
                return
            process = await self._spawn(number, {node_id})
            try:
                await self._bind(process)
                others = [other for other in self.processes() if other is not process]
                await process.call("link", paths=self._link_paths(others))
                await self.on_restart(process)
                await process.call("begin", nodes=[node_id])
                await process.call("open")
            except EosctlError:
                await process.end()
                raise


async def _all(calls: Any) -> None:
    """Await all calls; of several failures, raise the first."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


async def _do_nothing(process: WorkerProcess) -> None:
    """Prepare nothing."""
