"""The Prometheus endpoints: names as jmx_exporter prints them for a real 4.3.1 broker, with actual values."""

from __future__ import annotations

import asyncio
import base64
import re
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.errors import EosctlError
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.secret import Secret
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.broker.error_counts import ErrorCounts
from eosctl.sandbox.cluster import Cluster
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metrics.endpoint import respond
from eosctl.sandbox.metrics.node_samples import node_samples, request_name
from eosctl.sandbox.metrics.samples import Sample, render_samples, sample
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from eosctl.wire.messages.end_txn import EndTxnResponse
from eosctl.wire.messages.fetch import FetchResponse
from eosctl.wire.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

RECORDED = Path(__file__).parents[2] / "fixtures" / "metrics" / "jmx-exporter-4.3.1.txt"
#: Beans of a real broker that the recording leaves out, since it was cut to what exactly-once is about.
NOT_RECORDED = {
    "kafka_server_KafkaServer_Value": {"BrokerState"},
    "kafka_server_ReplicaManager_Count": {"IsrExpandsPerSec"},
    "kafka_server_BrokerTopicMetrics_Count": {  # by topic
        *("BytesInPerSec", "BytesOutPerSec", "MessagesInPerSec", "TotalProduceRequestsPerSec"),
    },
    "kafka_cluster_Partition_Value": {"AtMinIsr", "InSyncReplicasCount", "ReplicasCount"},
    "kafka_log_Log_Value": {"NumLogSegments", "Size"},
    "kafka_controller_KafkaController_Value": {
        *("ActiveBrokerCount", "FencedBrokerCount", "GlobalTopicCount", "GlobalPartitionCount"),
        "PreferredReplicaImbalanceCount",
    },
}
LABEL = re.compile(r'(\w+)="([^"]*)"')


def recorded_shapes() -> set[tuple[str, tuple[str, ...], str]]:
    """Name, label keys and the bean's ``name`` of every recorded sample."""
    found = set()
    for line in RECORDED.read_text().splitlines():
        if line.startswith("kafka_"):
            name, _, labels = line.partition("{")
            pairs = LABEL.findall(labels)
            found.add((name.split()[0], tuple(key for key, _ in pairs), dict(pairs).get("name", "")))
    return found


async def measured(folder: Path) -> dict[int, list[Sample]]:
    """Leave a transaction open, lose a broker, and read the metrics of every node."""
    shape = ClusterShape(3, settings={"transaction.state.log.num.partitions": "3"}, fast=True)
    async with (
        simulate(shape, folder, seed=5) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        simulation.core.count_errors()
        place = (await ensure_topic(client, "orders")).partitions[0].partition
        producer = TransactionalProducer(client, "app", now_ms=simulation.now_ms)
        await producer.init_transactions()
        await producer.send(place, [OutgoingRecord(b"k", b"v")] * 4)
        leader = simulation.core.broker(1).metadata.topics["orders"].partitions[0].leader
        simulation.kill(next(node for node in simulation.core.broker_ids if node != leader))
        await asyncio.sleep(5)
        return {node_id: list(node_samples(node)) for node_id, node in simulation.core.nodes.items()}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Sample]]:
    found: dict[int, list[Sample]] = run_virtual(measured(tmp_path_factory.mktemp("metrics")))
    return found


def values(samples: list[Sample], metric: str, **labels: str) -> list[float]:
    return [found.value for found in samples if found.name == metric and labels.items() <= dict(found.labels).items()]


def test_names_and_labels_are_those_of_a_real_broker(samples: dict[int, list[Sample]]) -> None:
    known = recorded_shapes()
    unknown = set()
    for found in (found for node in samples.values() for found in node):
        bean = dict(found.labels).get("name", "")
        shape = (found.name, tuple(key for key, _ in found.labels), bean)
        if shape not in known and bean not in NOT_RECORDED.get(found.name, ()):
            unknown.add(shape)
    assert unknown == set()


def test_values_match_the_events(samples: dict[int, list[Sample]]) -> None:
    brokers = {node_id: found for node_id, found in samples.items() if node_id < 100}
    assert len(brokers) == 2
    everything = [found for node in brokers.values() for found in node]
    lag = values(everything, "kafka_cluster_Partition_Value", name="LastStableOffsetLag", topic="orders", partition="0")
    assert max(lag) == 4, "the open transaction holds four records back"
    led = sum(values(everything, "kafka_server_ReplicaManager_Value", name="LeaderCount"))
    short = sum(values(everything, "kafka_server_ReplicaManager_Value", name="UnderReplicatedPartitions"))
    assert led == short > 0, "every partition misses the dead broker"
    requests, topics = "kafka_network_RequestMetrics_Count", "kafka_server_BrokerTopicMetrics_Count"
    inits = sum(values(everything, requests, name="RequestsPerSec", request="InitProducerId"))
    assert inits >= 1
    assert sum(values(everything, requests, name="ErrorsPerSec", request="InitProducerId")) == inits
    assert sum(values(everything, topics, name="MessagesInPerSec", topic="orders")) == 4
    totals = [found for found in everything if found.labels == (("name", "MessagesInPerSec"),)]
    assert sum(found.value for found in totals) > 4, "records of coordinators count too"
    controller = samples[100]
    gauges = {
        dict(found.labels)["name"]: found.value
        for found in controller
        if found.name == "kafka_controller_KafkaController_Value"
    }
    assert (gauges["ActiveControllerCount"], gauges["FencedBrokerCount"], gauges["OfflinePartitionsCount"]) == (1, 1, 0)


def test_appends_and_markers_are_counted_as_kafka_counts_them(tmp_path: Path) -> None:
    """Three transactions of two partitions: TotalProduceRequestsPerSec counts markers, ErrorsPerSec each of them."""

    async def play() -> list[Sample]:
        async with (
            simulate(ClusterShape(3, fast=True), tmp_path, seed=5) as simulation,
            connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
        ):
            simulation.core.count_errors()
            places = [one.partition for one in (await ensure_topic(client, "orders", partition_count=2)).partitions]
            producer = TransactionalProducer(client, "app", now_ms=simulation.now_ms)
            await producer.init_transactions()
            for _ in range(3):
                for place in places:
                    await producer.send(place, [OutgoingRecord(b"k", b"v")] * 4)
                await producer.commit()
            await asyncio.sleep(5)
            return [found for node in simulation.core.nodes.values() for found in node_samples(node)]

    found: list[Sample] = run_virtual(play())
    requests, topics = "kafka_network_RequestMetrics_Count", "kafka_server_BrokerTopicMetrics_Count"
    assert sum(values(found, requests, name="ErrorsPerSec", request="WriteTxnMarkers", error="NONE")) == 6
    assert sum(values(found, requests, name="ErrorsPerSec", request="EndTxn", error="NONE")) == 3
    assert sum(values(found, topics, name="TotalProduceRequestsPerSec", topic="orders")) == 6 + 6
    assert sum(values(found, topics, name="MessagesInPerSec", topic="orders")) == 24 + 6
    # InitProducerId, and for each transaction those that add partitions, prepare, and complete.
    assert sum(values(found, topics, name="TotalProduceRequestsPerSec", topic="__transaction_state")) >= 1 + 3 * 3
    assert values(found, requests, name="ErrorsPerSec", request="FetchConsumer") == []


def test_a_deleted_topics_counts_stay_in_the_brokers_sum(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    client = EosClient(harness)
    client.create_topic("gone", 2)
    for index in range(2):
        assert client.produce(None, TopicPartition("gone", index), ["a", "b"]) is ErrorCode.NONE
    request = DeleteTopicsRequest(topic_names=["gone"], timeout_ms=1_000)
    assert harness.request(1, ApiKey.DELETE_TOPICS, 4, request).responses[0].error_code == ErrorCode.NONE
    replicas = harness.core.broker(1).replicas
    harness.run_until(lambda: not replicas.partitions)
    assert replicas.traffic == {}
    counted = list(node_samples(harness.core.nodes[1]))
    assert values(counted, "kafka_server_BrokerTopicMetrics_Count", name="MessagesInPerSec") == [4]
    harness.close()


def test_errors_are_counted_by_part() -> None:
    counts = ErrorCounts()
    counts.add(ApiKey.END_TXN, EndTxnResponse(error_code=ErrorCode.INVALID_PRODUCER_EPOCH))
    good, bad = PartitionProduceResponse(0), PartitionProduceResponse(1, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    counts.add(ApiKey.PRODUCE, ProduceResponse([TopicProduceResponse("orders", partition_responses=[good, bad])]))
    added = AddPartitionsToTxnPartitionResult(0, ErrorCode.CONCURRENT_TRANSACTIONS)
    topic = AddPartitionsToTxnTopicResult("orders", [added])
    counts.add(ApiKey.ADD_PARTITIONS_TO_TXN, AddPartitionsToTxnResponse(results_by_topic_v3_and_below=[topic]))
    counts.add(ApiKey.FETCH, FetchResponse())
    assert counts.by_api == {
        (ApiKey.END_TXN, ErrorCode.INVALID_PRODUCER_EPOCH): 1,
        (ApiKey.PRODUCE, ErrorCode.NONE): 1,
        (ApiKey.PRODUCE, ErrorCode.NOT_LEADER_OR_FOLLOWER): 1,
        (ApiKey.ADD_PARTITIONS_TO_TXN, ErrorCode.CONCURRENT_TRANSACTIONS): 1,
        (ApiKey.FETCH, ErrorCode.NONE): 1,
    }


def test_requests_have_the_names_of_kafkas_metrics() -> None:
    recorded = {dict(LABEL.findall(line)).get("request") for line in RECORDED.read_text().splitlines()} - {None}
    ours = {request_name(key, from_broker=False) for key in ApiKey} | {request_name(ApiKey.FETCH, from_broker=True)}
    assert recorded - ours <= {"AddPartitionsToTxnVerification"}, "which is AddPartitionsToTxn here"


def test_labels_are_escaped_and_names_stand_together() -> None:
    text = render_samples([sample("b", 1, topic='a"b\\c\nd'), sample("a", 2.5), sample("b", 0, topic="x")])
    assert text.splitlines() == [
        "# TYPE a untyped",
        "a 2.5",
        "# TYPE b untyped",
        r'b{topic="a\"b\\c\nd"} 1.0',
        'b{topic="x"} 0.0',
    ]


def free_ports(count: int) -> int:
    """Return a port that is free together with those behind it."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = int(probe.getsockname()[1])
        try:
            for port in range(first, first + count):
                with socket.socket() as other:
                    other.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first


def get(port: int, path: str = "/metrics") -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_every_node_answers_on_its_port_and_a_dead_one_does_not(tmp_path: Path) -> None:
    first = free_ports(3)

    async def play() -> None:
        cluster = Cluster(SandboxSpec("metrics", str(tmp_path), brokers=2, fast=True, metrics_port=first))
        await cluster.start()
        try:
            for port in range(first, first + 3):
                status, text = await asyncio.to_thread(get, port)
                assert status == 200
                name = (
                    "kafka_server_KafkaServer_Value" if port < first + 2 else "kafka_controller_KafkaController_Value"
                )
                assert name in text
            assert (await asyncio.to_thread(get, first, "/else"))[0] == 404
            await cluster.kill_broker(2)
            with pytest.raises(OSError):
                await asyncio.to_thread(get, first + 1)
        finally:
            await cluster.stop()
        with pytest.raises(OSError):
            await asyncio.to_thread(get, first)

    asyncio.run(play())


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    async def play() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(EosctlError, match=f"Port {port}.*metrics"):
                await Cluster(SandboxSpec("m", str(tmp_path), metrics_port=port)).start()

    asyncio.run(play())


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /metrics HTTP/1.1\r\n\r\n", 200),
        (b"HEAD /metrics?x=1 HTTP/1.0\r\n\r\n", 200),
        (b"POST /metrics HTTP/1.1\r\n\r\n", 405),
        (b"GET /x HTTP/1.1\r\n\r\n", 404),
        (b"GET /metrics HTTP/1.1\r\nHost: localhost:1\r\n\r\n", 200),
        (b"GET /metrics HTTP/1.1\r\nhost : rebound.example\r\n\r\n", 403),
        (b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: rebound.example\r\n\r\n", 403),
        (b"\x00\x01\r\n\r\n", 400),
    ],
)
def test_the_request_decides_the_status(tmp_path: Path, head: bytes, status: int) -> None:
    async def play() -> bytes:
        async with simulate(ClusterShape(1, fast=True), tmp_path, seed=1) as simulation:
            return respond(head, simulation.core.nodes[1])

    answer: bytes = run_virtual(play())
    assert int(answer.split()[1]) == status
    if head.startswith(b"HEAD"):
        assert answer.endswith(b"\r\n\r\n")


def authorization(text: bytes, scheme: bytes = b"Basic") -> bytes:
    return b"Authorization: %s %s\r\n" % (scheme, base64.b64encode(text))


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        (authorization(b"admin:a-Password:1"), 200),
        (authorization("jörg:pässword".encode(), b"basic"), 200),
        (b"", 401),
        (authorization(b"admin:wrong"), 401),
        (authorization(b"admin:"), 401),
        (authorization(b"admin"), 401),
        (authorization(b":a-Password:1"), 401),
        (authorization(b"admin:a-Password:1", b"Bearer"), 401),
        (authorization(b"admin:a-Password:1") * 2, 401),
        (authorization(b"\xff\xfe:x"), 401),
        (b"Authorization: Basic !\r\n", 401),
        (b"Authorization: Basic\r\n", 401),
        (b"Host: rebound.example\r\n" + authorization(b"admin:a-Password:1"), 403),
    ],
)
def test_metrics_of_a_sandbox_with_users_need_a_login(tmp_path: Path, fields: bytes, status: int) -> None:
    users = {"admin": Secret("a-Password:1"), "jörg": Secret("pässword")}

    async def play() -> bytes:
        async with simulate(ClusterShape(1, fast=True), tmp_path, seed=1) as simulation:
            return respond(b"GET /metrics HTTP/1.1\r\n" + fields + b"\r\n", simulation.core.nodes[1], users)

    answer: bytes = run_virtual(play())
    assert int(answer.split()[1]) == status
    assert (b"WWW-Authenticate: Basic" in answer) == (status == 401)
    assert (b"kafka_server" in answer) == (status == 200)


@pytest.mark.parametrize("sasl", [(), ("PLAIN",)])
def test_the_endpoint_knows_the_users_of_its_cluster(sasl: tuple[str, ...], tmp_path: Path) -> None:
    port = free_ports(2)

    async def play() -> None:
        spec = SandboxSpec("m", str(tmp_path), brokers=1, fast=True, metrics_port=port, sasl=sasl)
        cluster = Cluster(spec)
        await cluster.start()
        try:
            assert (await asyncio.to_thread(get, port))[0] == (401 if sasl else 200)
        finally:
            await cluster.stop()

    asyncio.run(play())
