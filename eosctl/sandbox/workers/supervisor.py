"""A cluster in several processes: the supervisor hosts no node, but starts, stops, and queries the workers."""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eosctl.errors import UsageError
from eosctl.sandbox.cluster import FIRST_START_TIMEOUT_S, Command
from eosctl.sandbox.core import find_cluster_id
from eosctl.sandbox.process.security_files import prepare_material, write_client_files
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.sandbox.security.protocol import ListenerSecurity
from eosctl.sandbox.starting import explain_start
from eosctl.sandbox.workers.crew import Crew
from eosctl.sandbox.workers.faults import CrewFaults
from eosctl.sandbox.workers.status import merge_status
from eosctl.sandbox.workers.worker_process import WorkerProcess
from eosctl.wire.uuid import render_uuid


class SupervisedCluster:
    """A cluster with its nodes in workers (`process.serving.Served`)."""

    def __init__(self, spec: SandboxSpec, held: Sequence[int] = ()) -> None:
        """Prepare a cluster; `start` starts it.

        Args:
            spec: The cluster's specification.
            held: Descriptors that the workers hold, too: the lock of the data directory outlives this process in them.
        """
        directories = [Path(spec.data_dir) / f"broker-{number}" for number in range(1, spec.brokers + 1)]
        cluster_id = find_cluster_id(directories) or spec.cluster_id or render_uuid(secrets.token_bytes(16))
        self._spec = replace(spec, cluster_id=cluster_id)
        self._crew = Crew(self._spec, held)
        self._crew.on_end = self._note_end
        self._faults: CrewFaults | None = None

    async def start(self) -> None:
        """Start the workers, and wait until all brokers serve.

        Raises:
            EosctlError: A port is in use, the data cannot be read or written, or a setting is not allowed.
        """
        spec, crew = self._spec, self._crew
        self._faults = CrewFaults(crew, spec.bugs)
        is_secure = spec.security != ListenerSecurity()
        try:
            if is_secure:  # The workers load what is made here.
                hosts = [one.advertised_host for one in spec.listeners]
                prepare_material(Path(spec.data_dir), spec.security, spec.users, hosts)
            async with asyncio.timeout(FIRST_START_TIMEOUT_S):
                await crew.start()
                await self._register_users()
                await crew.open()
            if is_secure:
                write_client_files(Path(spec.data_dir), spec.security, spec.users, self.bootstrap)
        except BaseException as error:
            await crew.abort()
            raise explain_start(error, spec, FIRST_START_TIMEOUT_S) from error

    async def _register_users(self) -> None:
        first, *others = self._crew.processes()
        offset = await first.call("register-users")
        for process in others:
            await process.call("catch-up", offset=offset)

    async def stop(self) -> None:
        """Shut down every node cleanly, and end the workers."""
        await self._crew.stop()

    @property
    def bootstrap(self) -> str:
        """Return the bootstrap servers: every broker's address, including stopped brokers."""
        return ",".join(address for _, address in sorted(self._crew.addresses.items()))

    def _note_end(self, process: WorkerProcess) -> None:
        """Report a process that ended on its own in the output of the sandbox."""
        nodes = self._crew.nodes_text(process)
        line = f"Worker {process.number} (process {process.pid}) {process.end_text}. Down: {nodes}."
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - the process's log is its standard error
        if self._faults is not None:
            self._faults.forget(process)

    async def status(self) -> dict[str, Any]:
        """Describe the cluster as one process does, and its processes."""
        crew = self._crew
        reports = await crew.ask_all("status")
        merged = merge_status(crew.shape, crew.shares, reports, crew.addresses)
        return {**merged, "cluster_id": self._spec.cluster_id, "processes": crew.describe()}

    def commands(self) -> Mapping[str, Command]:
        """Return the commands of the control socket other than `stop`."""

        async def status(arguments: dict[str, Any]) -> dict[str, Any]:
            return await self.status()

        async def kill(arguments: dict[str, Any]) -> Any:
            node_id = int(arguments["broker"])
            return await self._crew.process_of(node_id).call("kill-broker", broker=node_id)

        async def stop(arguments: dict[str, Any]) -> Any:
            node_id = int(arguments["broker"])
            return await self._crew.process_of(node_id).call("stop-broker", broker=node_id)

        async def start(arguments: dict[str, Any]) -> str:
            await self._crew.start_node(int(arguments["broker"]))
            return "started"

        async def advance(arguments: dict[str, Any]) -> None:
            raise UsageError(
                "The clock of a sandbox in several processes cannot be advanced.",
                "Each process has its own timers, and they cannot jump together.",
                "Start the sandbox without --processes, or use eosctl sandbox simulate.",
            )

        async def now(arguments: dict[str, Any]) -> int:
            return time.time_ns() // 1_000_000

        if self._faults is None:
            raise RuntimeError("the cluster is not started")
        return {
            "status": status,
            "kill-broker": kill,
            "stop-broker": stop,
            "start-broker": start,
            "advance": advance,
            "now": now,
            **self._faults.commands(),
        }
