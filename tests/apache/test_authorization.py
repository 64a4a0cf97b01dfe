"""What the sandbox's authorizer is held to in every test run is still what a real broker answers."""

from __future__ import annotations

import gzip
import json
import random
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.lab.apache.java import MIB, prepare_runtime
from eosctl.lab.apache.node import KafkaNode
from eosctl.lab.apache.nodes import random_cluster_id
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.offset_fetch import OffsetFetchRequest
from tests.sandbox.security.authorization_cases import collect_answers
from tests.sandbox.security.least_rights import KINDS, grant, prepare, prove
from tests.sandbox.security.minimal_requests import collect_minimal_answers
from tests.sandbox.security.test_authorization import RECORDED, SETTINGS
from tests.sandbox.security.wire_client import WireClient

LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
PASSWORDS = {"admin": "word", "alice": "word"}


class Guarded(NamedTuple):
    """The addresses of a broker's two listeners."""

    with_login: str
    open_to_all: str


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Guarded]:
    """One 4.3.1 broker with a login and the standard authorizer; one a test, as each makes topics of its own."""
    with guarded_broker(tmp_path / "authorizer", PASSWORDS) as broker:
        yield broker


@contextmanager
def guarded_broker(
    home: Path, passwords: Mapping[str, str], settings: Mapping[str, str] | None = None, version: str = "4.3.1"
) -> Iterator[Guarded]:
    """Run a broker that these users may log in to; admin may do everything."""
    rng = random.Random()
    port, controller_port, login_port = free_ports(3, rng)
    listeners = f"PLAINTEXT://{HOST}:{port},SASL_PLAINTEXT://{HOST}:{login_port}"
    users = " ".join(f'user_{user}="{password}"' for user, password in passwords.items())
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
        **(settings or {}),
    }
    address = NodeAddress(1, port, controller_port)
    try:
        runtime = prepare_runtime(resolve_release(version))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    node = KafkaNode(runtime, address, home / "node", heap_bytes=320 * MIB, jvm_options=())
    own = node_settings(address, [address], node.files.data_dir, overrides)
    node.prepare(render_properties(own), random_cluster_id(rng), None)
    node.start()
    try:
        node.wait_ready(1, time.monotonic() + 90, threading.Event())
        yield Guarded(f"{HOST}:{login_port}", f"{HOST}:{port}")
    finally:
        node.end(signal.SIGKILL)


def test_a_real_broker_answers_as_recorded(guarded: Guarded) -> None:
    recorded = json.loads(gzip.decompress(Path(RECORDED).read_bytes()))
    answers = collect_answers(guarded.with_login, PASSWORDS)
    assert {name: result for name, result in answers.items() if recorded[name] != result} == {}
    assert answers.keys() == recorded.keys()


#: Their responses list existing topics, or they belong to groups that a sandbox does not have.
NOT_COMPARED = (
    "METADATA 0",
    "DESCRIBE_TOPIC_PARTITIONS",
    "SHARE_",
    "ALTER_SHARE",
    "DELETE_SHARE_GROUP_O",
)


def test_the_smallest_requests_are_answered_alike(guarded: Guarded) -> None:
    with SandboxThread(fast=False, emulate="4.3", config={**SETTINGS, "super.users": "User:ANONYMOUS"}) as sandbox:
        answers = [_minimal_answers(bootstrap) for bootstrap in (guarded.open_to_all, sandbox.bootstrap)]
    real, ours = answers
    assert ours == real
    assert len(real) > 250


def _minimal_answers(bootstrap: str) -> dict[str, list[str]]:
    with WireClient(bootstrap) as client:
        while client.ask(ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest("", 0)).error_code:
            pass  # the offsets topic is being created
        while client.ask(ApiKey.OFFSET_FETCH, 7, OffsetFetchRequest()).error_code:
            pass  # and loaded
    found = collect_minimal_answers(bootstrap)
    return {name: result for name, result in found.items() if not name.startswith(NOT_COMPARED)}


def test_the_minimal_acls_are_sufficient_and_necessary(guarded: Guarded) -> None:
    login = {
        "bootstrap.servers": guarded.with_login,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.password": PASSWORDS["alice"],
    }
    prepare({**login, "sasl.username": "admin"})
    for kind in KINDS:
        prove(kind, {**login, "sasl.username": "alice"}, partial(grant, guarded.with_login, PASSWORDS["admin"]))
