"""Two real brokers with a login and the standard authorizer; the second one can be stopped and started.

The first one is the controller, too, and has the internal topics, as it runs alone until they exist.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from eosctl.lab.apache.java import MIB, prepare_runtime
from eosctl.lab.apache.node import KafkaNode
from eosctl.lab.apache.nodes import random_cluster_id
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from tests.apache.test_authorization import LOGIN

_READY_S = 120


class GuardedPair:
    """The brokers; users log in at `bootstrap`."""

    def __init__(self, home: Path, passwords: Mapping[str, str], settings: Mapping[str, str], version: str) -> None:
        rng = random.Random()
        runtime = prepare_runtime(resolve_release(version))
        ports = free_ports(6, rng)
        cluster_id = random_cluster_id(rng)
        addresses = [NodeAddress(1, ports[0], ports[1]), NodeAddress(2, ports[2], ports[3])]
        users = " ".join(f'user_{user}="{password}"' for user, password in passwords.items())
        self._nodes: dict[int, KafkaNode] = {}
        self._login_ports = dict(zip((1, 2), ports[4:], strict=True))
        for address in addresses:
            listeners = (
                f"PLAINTEXT://{HOST}:{address.port},SASL_PLAINTEXT://{HOST}:{self._login_ports[address.node_id]}"
            )
            control = f",CONTROLLER://{HOST}:{address.controller_port}" if address.node_id == 1 else ""
            own = {
                "process.roles": "broker,controller" if control else "broker",
                "listeners": listeners + control,
                "advertised.listeners": listeners,
                "listener.security.protocol.map": (
                    "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT"
                ),
                "sasl.enabled.mechanisms": "PLAIN",
                "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
                    f'{LOGIN} required username="x" password="x" {users};'
                ),
                "authorizer.class.name": STANDARD_AUTHORIZER,
                "super.users": "User:admin;User:ANONYMOUS",
                **settings,
            }
            node = KafkaNode(runtime, address, home / f"node-{address.node_id}", heap_bytes=320 * MIB, jvm_options=())
            made = node_settings(address, addresses[:1], node.files.data_dir, own)
            node.prepare(render_properties(made), cluster_id, None)
            self._nodes[address.node_id] = node

    @property
    def bootstrap(self) -> str:
        """Return the addresses at which users log in."""
        return ",".join(f"{HOST}:{port}" for port in self._login_ports.values())

    def start(self, broker_id: int) -> None:
        """Start a broker; return once it lists all brokers that run."""
        node = self._nodes[broker_id]
        node.start()
        node.wait_ready(broker_id, time.monotonic() + _READY_S, threading.Event())

    def stop(self, broker_id: int) -> None:
        """Stop a broker cleanly."""
        self._nodes[broker_id].end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill both."""
        for node in self._nodes.values():
            node.end(signal.SIGKILL)


@contextmanager
def guarded_pair(
    home: Path,
    passwords: Mapping[str, str],
    settings: Mapping[str, str],
    use: Callable[[str], None],
    version: str = "4.3.1",
) -> Iterator[GuardedPair]:
    """Run the brokers; the second one starts when `use` has made the internal topics on the first."""
    try:
        pair = GuardedPair(home, passwords, settings, version)
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    try:
        pair.start(1)
        use(pair.bootstrap)
        pair.start(2)
        yield pair
    finally:
        pair.kill()
