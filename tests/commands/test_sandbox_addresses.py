"""`sandbox up --listen` and `--advertise`: what brokers bind, what they give to clients, and what is refused."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource

from tests.commands.conftest import eosctl

UP = ("sandbox", "up", "--name", "near", "--brokers", "1", "--ephemeral", "--ttl", "10m", "-o", "json")
ELSEWHERE = "127.0.0.2"
LONG_S = 30


@pytest.fixture
def stopped() -> Iterator[None]:
    yield
    eosctl("sandbox", "down", "--name", "near")


def port_of(bootstrap: str, host: str) -> int:
    name, _, port = bootstrap.partition(":")
    assert name == host
    return int(port)


@pytest.mark.usefixtures("stopped")
def test_clients_get_the_advertised_name(tmp_path: Path) -> None:
    up = eosctl(*UP, "--data-dir", tmp_path / "data", "--listen", ELSEWHERE, "--advertise", "kafka.test")
    assert up.code == 0, up.err
    port = port_of(up.json["items"][0]["bootstrap"], "kafka.test")
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", port), timeout=LONG_S)
    with socket.create_connection((ELSEWHERE, port), timeout=LONG_S):
        pass
    admin = AdminClient({"bootstrap.servers": f"{ELSEWHERE}:{port}"})
    (broker,) = admin.list_topics(timeout=LONG_S).brokers.values()
    assert (broker.host, broker.port) == ("kafka.test", port)
    status = eosctl("sandbox", "status", "--name", "near", "-o", "json")
    assert f"kafka.test:{port}" in status.out


@pytest.mark.usefixtures("stopped")
def test_the_certificate_has_the_advertised_name(tmp_path: Path) -> None:
    options = ("--listen", ELSEWHERE, "--advertise", "kafka.test", "--tls", "--sasl", "plain")
    up = eosctl(*UP, "--data-dir", tmp_path / "data", *options)
    assert up.code == 0, up.err
    port = port_of(up.json["items"][0]["bootstrap"], "kafka.test")
    trusted = ssl.create_default_context(cafile=str(tmp_path / "data" / "security" / "ca.pem"))
    for name in ("kafka.test", "localhost"):
        with (
            socket.create_connection((ELSEWHERE, port), timeout=LONG_S) as plain,
            trusted.wrap_socket(plain, server_hostname=name) as secured,
        ):
            assert secured.version() is not None
    with (
        socket.create_connection((ELSEWHERE, port), timeout=LONG_S) as plain,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        trusted.wrap_socket(plain, server_hostname="other.test")


TWO = (
    *("--listen", "HOST://127.0.0.1", "--listen", f"DOCKER://{ELSEWHERE}"),
    *("--advertise", "DOCKER://kafka.test:19092", "--inter-broker-listener", "DOCKER"),
)


def brokers_seen_through(address: str) -> list[tuple[str, int]]:
    admin = AdminClient({"bootstrap.servers": address})
    return sorted((broker.host, broker.port) for broker in admin.list_topics(timeout=LONG_S).brokers.values())


@pytest.mark.usefixtures("stopped")
def test_each_listener_gives_its_own_addresses(tmp_path: Path) -> None:
    up = eosctl(*UP, "--brokers", "2", "--data-dir", tmp_path / "data", *TWO)
    assert up.code == 0, up.err
    bootstrap = up.json["items"][0]["bootstrap"].split(",")
    ports = [port_of(address, "127.0.0.1") for address in bootstrap]
    assert brokers_seen_through(bootstrap[0]) == sorted(("127.0.0.1", port) for port in ports)
    admin = AdminClient({"bootstrap.servers": bootstrap[0]})
    (settings,) = (one.result(LONG_S) for one in admin.describe_configs([ConfigResource("broker", "2")]).values())
    assert settings["inter.broker.listener.name"].value == "DOCKER"
    listed = dict(one.split("://") for one in settings["listeners"].value.split(","))
    assert listed["HOST"] == f"127.0.0.1:{ports[1]}"
    assert settings["advertised.listeners"].value == f"HOST://127.0.0.1:{ports[1]},DOCKER://kafka.test:19093"
    assert "DOCKER:PLAINTEXT" in settings["listener.security.protocol.map"].value
    assert brokers_seen_through(listed["DOCKER"]) == [("kafka.test", 19092), ("kafka.test", 19093)]


@pytest.mark.usefixtures("stopped")
def test_clients_of_both_listeners_share_records(tmp_path: Path) -> None:
    options = ("--listen", "HOST://127.0.0.1", "--listen", f"DOCKER://{ELSEWHERE}")
    up = eosctl(*UP, "--data-dir", tmp_path / "data", *options)
    assert up.code == 0, up.err
    near = up.json["items"][0]["bootstrap"]
    admin = AdminClient({"bootstrap.servers": near})
    (settings,) = (one.result(LONG_S) for one in admin.describe_configs([ConfigResource("broker", "1")]).values())
    far = settings["listeners"].value.rpartition("DOCKER://")[2]
    producer = Producer({"bootstrap.servers": far, "transactional.id": "app"})
    producer.init_transactions(LONG_S)
    producer.begin_transaction()
    producer.produce("orders", b"paid")
    producer.commit_transaction(LONG_S)
    reader = Consumer({"bootstrap.servers": near, "group.id": "readers", "auto.offset.reset": "earliest"})
    reader.subscribe(["orders"])
    record = reader.poll(LONG_S)
    assert record is not None
    assert record.value() == b"paid"
    reader.close()
    restarted = eosctl("sandbox", "fault", "restart", "node=1", "--name", "near")
    assert restarted.code == 0, restarted.err
    assert brokers_seen_through(far) == [tuple_of(far)]


def tuple_of(address: str) -> tuple[str, int]:
    host, _, port = address.partition(":")
    return host, int(port)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--listen", "0.0.0.0", "--insecure"), "Clients cannot connect to 0.0.0.0"),
        (("--advertise", "0.0.0.0"), "Clients cannot connect to 0.0.0.0"),
        (("--listen", "0.0.0.0", "--advertise", "kafka.test"), "opens the brokers to other machines"),
        (("--listen", "0.0.0.0", "--advertise", "kafka.test", "--tls"), "Add --tls and --sasl, or --insecure"),
        (("--listen", "everywhere"), "is not an address"),
        (("--advertise", "kafka test"), "is not a host"),
        (("--advertise", "kafka.test:9092:1"), "is not a host"),
        (("--listen", "127.0.0.1", "--listen", f"B://{ELSEWHERE}"), "Several listeners need names"),
        (("--listen", "A://127.0.0.1", "--listen", f"A://{ELSEWHERE}"), "is named twice"),
        (("--listen", "CONTROLLER://127.0.0.1"), "cannot be a listener for clients"),
        (("--advertise", "B://kafka.test"), "--advertise names the listener B, which is not bound"),
        (("--listen", "A://127.0.0.1", "--inter-broker-listener", "B"), "is not a listener"),
        (("--listen", "127.0.0.1:70000"), "is not an address"),
        (("--engine", "apache", "--listen", ELSEWHERE), "cannot be used with --engine apache"),
    ],
)
def test_addresses_that_cannot_serve_are_refused(options: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    refused = eosctl(*UP, "--data-dir", tmp_path / "data", *options)
    assert refused.code == 2
    assert reason in " ".join(refused.err.split())
    assert not (tmp_path / "data").exists()
