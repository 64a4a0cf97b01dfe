"""A real broker that clients reach and that reaches no other node: its metadata is what was true before."""

from __future__ import annotations

import asyncio
import random
import signal
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.checks.broker.broker_fenced import broker_fenced
from eosctl.client import connect
from eosctl.client.consumer import list_offset
from eosctl.client.producer_errors import TransactionFailed
from eosctl.client.transactions import TV1, produce
from eosctl.errors import RequestTimedOut
from eosctl.lab.apache.java import MIB, prepare_runtime
from eosctl.lab.apache.node import KafkaNode
from eosctl.lab.apache.nodes import random_cluster_id
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.process import read_record
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.lab.scenarios.steps.play import LimitedNetwork
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.apache.conftest import SETTINGS
from tests.apache.links import Links
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")
NODES = 3
PATIENCE_S = 60
QUICK = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}


class Divided(NamedTuple):
    """The addresses of a broker with a controller and of the one that is cut off, and a partition that this one led."""

    connected: str
    isolated: str
    led: int


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Divided]:
    """Three nodes that reach each other through links; the third one is cut off within an open transaction."""
    home, rng, links = tmp_path_factory.mktemp("divided"), random.Random(), Links()
    ports = free_ports(5 * NODES, rng)
    addresses = [NodeAddress(number + 1, *ports[5 * number : 5 * number + 2]) for number in range(NODES)]
    linked = [tuple(ports[5 * number + 2 : 5 * number + 5]) for number in range(NODES)]
    try:
        runtime = prepare_runtime(resolve_release("4.3.1"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    voters = ",".join(f"{one.node_id}@{HOST}:{outer[0]}" for one, outer in zip(addresses, linked, strict=True))
    cluster_id, nodes = random_cluster_id(rng), []
    for address, (controller, internal, replication) in zip(addresses, linked, strict=True):
        links.forward(controller, address.controller_port)
        links.forward(internal, replication)
        own = {
            "listeners": f"PLAINTEXT://{HOST}:{address.port},INTERNAL://{HOST}:{replication},"
            f"CONTROLLER://{HOST}:{address.controller_port}",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{address.port},INTERNAL://{HOST}:{internal},"
            f"CONTROLLER://{HOST}:{controller}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "INTERNAL",
            "controller.quorum.voters": voters,
        }
        node = KafkaNode(runtime, address, home / f"node-{address.node_id}", heap_bytes=320 * MIB, jvm_options=())
        settings = node_settings(address, addresses, node.files.data_dir, SETTINGS | QUICK | own)
        node.prepare(render_properties(settings), cluster_id, None)
        nodes.append(node)
    try:
        for node in nodes:
            node.start()
        for node in nodes:
            node.wait_ready(NODES, time.monotonic() + 90, threading.Event())
        connected, _, isolated = (f"{HOST}:{address.port}" for address in addresses)
        led = leave_open(connected)
        process = read_record(nodes[-1].files.record)
        assert process is not None
        links.isolate(process.pid, frozenset({addresses[-1].controller_port, linked[-1][2]}))
        yield Divided(connected, isolated, led)
    finally:
        for node in nodes:
            node.end(signal.SIGKILL)
        links.close()


def leave_open(bootstrap: str) -> int:
    """Leave a transaction open on partitions of all brokers, and return one that the last broker leads."""
    topic = NewTopic("orders", 6, 3, config={"min.insync.replicas": "2"})
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([topic])["orders"].result(PATIENCE_S)
    held = Producer({"bootstrap.servers": bootstrap, "transactional.id": "held", "log_level": 0})
    held.init_transactions(PATIENCE_S)
    held.begin_transaction()
    for partition in range(6):
        held.produce("orders", b"held", partition=partition)
    held.flush(PATIENCE_S)
    # A client that is given one broker may ask another one, so this is asked while all have the same metadata.
    return next(
        one.id for one in admin.list_topics("orders").topics["orders"].partitions.values() if one.leader == NODES
    )


def fenced(bootstrap: str) -> list[tuple[str, bool]]:
    """Return the brokers that `doctor` reports as fenced, each with whether it still answered."""
    done = eosctl("doctor", "-b", bootstrap, "-o", "json", "--exit-zero")
    assert done.code == 0, done.err
    found = [item for item in done.json["items"] if item["check_id"] == broker_fenced.id]
    return [(item["resource"]["name"], "still answers clients" in item["message"]) for item in found]


def test_its_metadata_is_not_taken_for_current(divided: Divided) -> None:
    while not (known := fenced(divided.connected)):
        pass
    assert known == [("3", False)]
    assert fenced(divided.isolated) == [("3", True)]
    listed = eosctl("txn", "list", "-b", divided.isolated, "-o", "json").json["items"]
    assert [one["transactional_id"] for one in listed] == ["held"]
    leaders = eosctl("txn", "producers", "--topic", "orders", "-b", divided.isolated, "-o", "json").json["items"]
    assert 3 not in {one["broker_id"] for one in leaders}


def test_it_leads_on_as_in_the_split_brain_scenario(divided: Divided) -> None:
    async def write(bootstrap: str, partition: TopicPartition, acks: int) -> tuple[int, int]:
        """Return the offset of a record and the end for readers."""
        endpoints = parse_endpoints(bootstrap, "real Kafka")
        network = LimitedNetwork(None, frozenset(endpoints))
        config = ClientConfig(endpoints, timeout_ms=5_000, request_timeout_ms=3_000)
        data = encode_batch([Record(0, int(time.time() * 1000), None, b"split")])
        async with connect(config, connector=network) as client:
            offset = await produce(client, partition, data, transactional_id=None, bounds=TV1.produce, acks=acks)
            return offset, await list_offset(client, partition)

    partition = TopicPartition("orders", divided.led)
    accepted, shown = asyncio.run(write(divided.isolated, partition, acks=1))
    assert accepted >= shown, "what only the isolated leader has is hidden from readers"
    with pytest.raises((TransactionFailed, RequestTimedOut), match=r"REQUEST_TIMED_OUT|in time"):
        asyncio.run(write(divided.isolated, partition, acks=-1))
    offset, shown = asyncio.run(write(divided.connected, partition, acks=-1))
    assert (offset, shown) == (accepted, accepted + 1)
