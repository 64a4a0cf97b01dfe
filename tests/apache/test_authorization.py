"""What the sandbox's authorizer is held to in every test run is still what a real broker answers."""

from __future__ import annotations

import gzip
import json
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.lab.apache.engine import random_cluster_id
from eosctl.lab.apache.java import MIB, prepare_runtime
from eosctl.lab.apache.node import KafkaNode
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from tests.sandbox.security.authorization_cases import collect_answers
from tests.sandbox.security.test_authorization import RECORDED

LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
PASSWORDS = {"admin": "word", "alice": "word"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One 4.3.1 broker with a login and the standard authorizer; gives the address of the listener with the login."""
    home = tmp_path_factory.mktemp("authorizer")
    rng = random.Random()
    port, controller_port, login_port = free_ports(3, rng)
    listeners = f"PLAINTEXT://{HOST}:{port},SASL_PLAINTEXT://{HOST}:{login_port}"
    users = " ".join(f'user_{user}="{password}"' for user, password in PASSWORDS.items())
    overrides = {
        "listeners": f"{listeners},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": listeners,
        "listener.security.protocol.map": ("PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT"),
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{LOGIN} required username="x" password="x" {users};',
        "authorizer.class.name": STANDARD_AUTHORIZER,
        "super.users": "User:admin;User:ANONYMOUS",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
    }
    address = NodeAddress(1, port, controller_port)
    try:
        runtime = prepare_runtime(resolve_release("4.3.1"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    node = KafkaNode(runtime, address, home / "node", heap_bytes=320 * MIB, jvm_options=())
    settings = node_settings(address, [address], node.files.data_dir, overrides)
    node.prepare(render_properties(settings), random_cluster_id(rng), None)
    node.start()
    try:
        node.wait_ready(1, time.monotonic() + 90, threading.Event())
        yield f"{HOST}:{login_port}"
    finally:
        node.end(signal.SIGKILL)


def test_a_real_broker_answers_as_recorded(guarded: str) -> None:
    recorded = json.loads(gzip.decompress(Path(RECORDED).read_bytes()))
    answers = collect_answers(guarded, PASSWORDS)
    assert {name: told for name, told in answers.items() if recorded[name] != told} == {}
    assert answers.keys() == recorded.keys()
