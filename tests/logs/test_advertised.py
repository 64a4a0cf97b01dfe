"""A client that got metadata and cannot use a broker's address there was answered by a bootstrap server."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

CONFIG = (
    "[2026-10-24 16:27:51,604] INFO ProducerConfig values: \n\tacks = -1\n\tbootstrap.servers = [{}:9092]\n"
    "\tclient.id = tiles\n (org.apache.kafka.clients.producer.ProducerConfig)\n"
)
CLUSTER = (
    "[2026-10-24 16:{},790] INFO [Producer clientId=tiles] Cluster ID: MkU3OEVBNTcw "
    "(org.apache.kafka.clients.Metadata)\n"
)
REFUSED = (
    "[2026-10-24 16:{},809] WARN [Producer clientId=tiles] Connection to node {} ({}:9092) could not be established. "
    "Broker may not be available. (org.apache.kafka.clients.NetworkClient)\n"
)
EXPIRED = (
    "[2026-10-24 16:29:51,822] ERROR Error when sending message to topic tiles with key: null, value: 14 bytes with "
    "error: (org.apache.kafka.clients.producer.internals.ErrorLoggingCallback)\n"
    "org.apache.kafka.common.errors.TimeoutException: Expiring 1 record(s) for tiles-0:120000 ms has passed since "
    "batch creation\n"
)
UNKNOWN_HOST = (
    "[2026-10-24 16:{},809] WARN [Producer clientId=tiles] Error connecting to node kb-1:9092 (id: {} rack: null) "
    "(org.apache.kafka.clients.NetworkClient)\njava.net.UnknownHostException: kb-1\n"
)
SARAMA = (
    "[sarama] 2026/10/24 16:27:51 client/brokers registered new broker #1 at localhost:9092\n"
    + 2
    * "[sarama] 2026/10/24 16:27:51 Failed to connect to broker localhost:9092: dial tcp 127.0.0.1:9092: connect: "
    "connection refused\n"
    "2026/10/24 16:28:01 ERROR failed to send message to topic tiles: kafka: client has run out of available brokers "
    "to talk to: dial tcp 127.0.0.1:9092: connect: connection refused\n"
)
LIBRDKAFKA = "2026-10-24 16:27:50,000 INFO app: starting producer bootstrap.servers={}:9092 topic=tiles\n" + "".join(
    f"%3|{moment}.809|FAIL|tiles#producer-1| [thrd:localhost:9092/1]: localhost:9092/1: Connect to ipv4#127.0.0.1:9092 "
    "failed: Connection refused (after 0ms in state CONNECT)\n"
    for moment in (1792859271, 1792859302, 1792859392)
)
LOCAL = "localhost/127.0.0.1"
TIMES = ("27:51", "27:52", "28:22", "29:20")
INIT = (
    "2026-03-14 16:{0}:11.141  INFO 1 --- [exec-{1}] o.a.k.c.p.internals.TransactionManager : [Producer clientId=p-{1},"
    " transactionalId=tx-{1}] Invoking InitProducerId for the first time in order to acquire a producer ID\n"
)
METADATA = (
    "2026-03-14 16:20:11.870  INFO 1 --- [producer-tx-1] org.apache.kafka.clients.Metadata : [Producer clientId=p-1, "
    "transactionalId=tx-1] Cluster ID: {}\n"
)
NO_ID = (
    "2026-03-14 16:{0}:11.152 ERROR 1 --- [exec-{1}] o.a.c.c.C.[.[.[/].[dispatcherServlet] : Servlet.service() threw\n"
    "\norg.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId\n\n"
)


def refused(node: str, host: str) -> str:
    return "".join(REFUSED.format(moment, node, host) for moment in TIMES)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CONFIG.format("kb-1") + CLUSTER.format("27:51") + refused("1", LOCAL) + EXPIRED, id="java"),
        pytest.param(CLUSTER.format("27:51") + refused("1", LOCAL) + EXPIRED, id="answered just before"),
        pytest.param(
            CLUSTER.format("27:50") + "".join(UNKNOWN_HOST.format(moment, 1) for moment in TIMES) + EXPIRED,
            id="unknown name",
        ),
        pytest.param(CONFIG.format("kb-1") + refused("1", "/127.0.0.1") + EXPIRED, id="an address without a name"),
        pytest.param(SARAMA, id="sarama"),
        pytest.param(LIBRDKAFKA.format("kb-1"), id="librdkafka"),
    ],
)
def test_an_advertised_address_is_the_cause(tmp_path: Path, text: str) -> None:
    (one,) = judge(tmp_path, {"tiles.log": text})
    assert one.root_cause == "advertised-address-not-reached"
    assert "bootstrap server answered" in one.explanation
    assert "advertised.listeners" in one.next_step and one.severity == Severity.ERROR


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LIBRDKAFKA.format("localhost"), id="librdkafka on the same machine"),
        pytest.param(CONFIG.format("localhost") + refused("1", LOCAL) + EXPIRED, id="the same machine"),
        pytest.param(CONFIG.format("kb-1") + refused("-1", "kb-1/192.0.2.7") + EXPIRED, id="the bootstrap server"),
        pytest.param(
            CONFIG.format("kb-1") + CLUSTER.format("17:51") + refused("2", "kb-2/192.0.2.8") + EXPIRED, id="one broker"
        ),
        pytest.param("".join(UNKNOWN_HOST.format(moment, -1) for moment in TIMES) + EXPIRED, id="the client's own"),
        pytest.param("".join(UNKNOWN_HOST.format(moment, 1) for moment in TIMES) + EXPIRED, id="a restarted pod"),
    ],
)
def test_other_addresses_are_not_reached(tmp_path: Path, text: str) -> None:
    for one in judge(tmp_path, {"tiles.log": text}):
        assert one.root_cause != "advertised-address-not-reached"


def test_metadata_excludes_brokers_that_are_away(tmp_path: Path) -> None:
    text = INIT.format(20, 1) + METADATA.format("k1x0ab") + NO_ID.format(21, 1)
    (one,) = judge(tmp_path, {"app.log": text})
    assert "a broker answered the request for metadata" in one.explanation
    assert "cannot be reached" not in one.explanation


def test_each_thread_initializes_its_own_producer(tmp_path: Path) -> None:
    text = INIT.format(20, 1) + METADATA.format("tiles.servicebus.windows.net") + NO_ID.format(21, 1)
    (one,) = judge(tmp_path, {"app.log": text + INIT.format(22, 2) + NO_ID.format(23, 2)})
    assert one.subject["transactional.ids"] == ("tx-1", "tx-2")
    assert "Event Hubs" in one.explanation
    assert "single broker" not in f"{one.explanation} {one.next_step}"


def test_a_client_that_works_again_has_recovered(tmp_path: Path) -> None:
    lost = refused("2", "kb-2/192.0.2.8")
    (one,) = judge(tmp_path, {"tiles.log": lost + CLUSTER.format("31:51")})
    assert (one.kind, one.severity) == ("brokers_not_reached", Severity.WARNING)
    assert "The client worked again at 2026-10-24T16:31:51.790Z (" in one.explanation
