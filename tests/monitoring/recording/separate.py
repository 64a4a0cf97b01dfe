"""A broker of real Kafka and its controller, each in a JVM of its own.

A combined node shows its controller's threads together with its broker's (KIP-1207): half of them are always idle.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from eosctl.lab.apache.java import MIB, prepare_runtime
from eosctl.lab.apache.node import KafkaNode
from eosctl.lab.apache.nodes import random_cluster_id
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release


class SeparateNodes:
    """Has of the engine what a fault needs that makes itself through clients alone."""

    def __init__(
        self, version: str, settings: Mapping[str, str], broker_options: tuple[str, ...], folder: Path
    ) -> None:
        chance = random.Random()
        runtime, ports = prepare_runtime(resolve_release(version)), free_ports(4, chance)
        controller, broker = NodeAddress(1, ports[0], ports[1]), NodeAddress(2, ports[2], ports[3])
        cluster_id = random_cluster_id(chance)
        roles = (
            (controller, "controller", f"CONTROLLER://{HOST}:{controller.controller_port}", ()),
            (broker, "broker", f"PLAINTEXT://{HOST}:{broker.port}", broker_options),
        )
        self.bootstrap = f"{HOST}:{broker.port}"
        self._nodes = []
        for address, role, listeners, options in roles:
            home = folder / role
            node = KafkaNode(runtime, address, home, heap_bytes=512 * MIB, jvm_options=options)
            own = node_settings(address, [controller], home / "data", settings)
            own |= {"process.roles": role, "listeners": listeners}
            if role == "controller":
                del own["advertised.listeners"], own["inter.broker.listener.name"]
            node.prepare(render_properties(own), cluster_id, None)
            self._nodes.append(node)

    async def up(self) -> None:
        for node in self._nodes:
            node.start()
        self._nodes[1].wait_ready(1, time.monotonic() + 300, threading.Event())

    async def down(self) -> None:
        for node in reversed(self._nodes):
            node.end(signal.SIGKILL)
