"""`sandbox up --listen` and `--advertise`: what brokers bind, what they give to clients, and what is refused."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

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


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--listen", "0.0.0.0", "--insecure"), "Clients cannot connect to 0.0.0.0"),
        (("--advertise", "0.0.0.0"), "Clients cannot connect to 0.0.0.0"),
        (("--listen", "0.0.0.0", "--advertise", "kafka.test"), "opens the brokers to other machines"),
        (("--listen", "0.0.0.0", "--advertise", "kafka.test", "--tls"), "Add --tls and --sasl, or --insecure"),
        (("--listen", "everywhere"), "is not an address"),
        (("--advertise", "kafka test"), "is not a host"),
        (("--advertise", "kafka.test:9092"), "is not a host"),
        (("--engine", "apache", "--listen", ELSEWHERE), "cannot be used with --engine apache"),
    ],
)
def test_addresses_that_cannot_serve_are_refused(options: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    refused = eosctl(*UP, "--data-dir", tmp_path / "data", *options)
    assert refused.code == 2
    assert reason in " ".join(refused.err.split())
    assert not (tmp_path / "data").exists()
