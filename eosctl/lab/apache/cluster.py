"""A cluster of real brokers behind the control socket of a sandbox, with the commands that processes support."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eosctl.lab.apache.faults import ProcessFaults
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.process import ProcessIdentity, end_process, read_record
from eosctl.lab.apache.status import describe_real_cluster
from eosctl.lab.engine import EngineError
from eosctl.sandbox.faults.control import fault_commands
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.control import Command
from eosctl.sandbox.process.spec import SandboxSpec

PROGRAM: Final = "eosctl.lab.apache.main"
START_TIMEOUT_S: Final = 120.0
END_PATIENCE_MS: Final = 10_000


class ApacheCluster:
    """Real Kafka nodes in the data directory of a sandbox."""

    def __init__(self, spec: SandboxSpec, rng: random.Random, now_ms: Callable[[], int]) -> None:
        """Prepare the cluster; `start` starts it.

        Args:
            spec: The specification of `sandbox up`; `kafka` is the release.
            rng: Chooses cluster id, ports, and nodes of faults.
            now_ms: The wall clock.
        """
        self._now_ms = now_ms
        self._spec = spec
        self._directory = Path(spec.data_dir)
        config = ApacheConfig(
            version=spec.kafka or "",
            node_count=spec.brokers,
            transaction_version=spec.transaction_version,
            settings=dict(spec.settings),
            port_base=spec.port_base,
            racks=spec.racks,
        )
        self._engine = ApacheNodes(config, self._directory, rng)
        self._faults: ProcessFaults | None = None
        self._seed = rng.getrandbits(32)

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of every broker, comma-separated."""
        return self._engine.bootstrap

    async def start(self) -> None:
        """Start every node; return once each of them lists all brokers.

        Raises:
            EngineError: Java or the jars are missing, or a node does not start.
        """
        await self._engine.up()
        self._faults = ProcessFaults(self._engine, self._seed)
        self._link_logs()

    async def stop(self) -> None:
        """Stop every node; the files stay."""
        await self._engine.down()

    def commands(self) -> Mapping[str, Command]:
        """Return the commands of the control socket other than `stop`."""
        if self._faults is None:
            raise EngineError(
                "The cluster is not started.",
                "Only a running one takes commands.",
                "Call start() first, and wait for it.",
            )

        async def status(arguments: dict[str, Any]) -> dict[str, Any]:
            return await describe_real_cluster(self._engine, self._spec, self._now_ms)

        async def kill(arguments: dict[str, Any]) -> str:
            await self._engine.kill(int(arguments["broker"]))
            return "killed"

        async def stop(arguments: dict[str, Any]) -> str:
            await self._engine.stop(int(arguments["broker"]))
            return "stopped"

        async def start(arguments: dict[str, Any]) -> str:
            await self._engine.restart(int(arguments["broker"]))
            return "started"

        return {
            "status": status,
            "kill-broker": kill,
            "stop-broker": stop,
            "start-broker": start,
            **fault_commands(self._faults),
        }

    def _link_logs(self) -> None:
        """Link the nodes' logs to where a sandbox has them."""
        logs = paths.logs_dir(self._directory)
        logs.mkdir(exist_ok=True)
        for broker_id in self._engine.logs():
            link = logs / f"broker-{broker_id}"
            if not link.is_symlink():
                link.symlink_to(Path("..") / f"node-{broker_id}" / "logs")


def recorded_nodes(spec: SandboxSpec) -> tuple[ProcessIdentity, ...]:
    """Return the running nodes of a sandbox from the records in its data directory."""
    records = sorted(Path(spec.data_dir).glob("node-*/node.pid"))
    return tuple(found for record in records if (found := read_record(record)) is not None)


def end_nodes(nodes: Sequence[ProcessIdentity]) -> int:
    """Stop those of these nodes that are running; return their number."""
    return sum(end_process(node, patience_ms=END_PATIENCE_MS) for node in nodes)
