"""Three real brokers with TLS: the certificate of one has expired, and that of another expires in three days."""

from __future__ import annotations

import datetime as dt
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509 import load_pem_x509_certificate

from eosctl.checks.broker.broker_unreachable import broker_unreachable
from eosctl.checks.security.certificate_expires_soon import certificate_expires_soon
from eosctl.errors import ExitCode
from eosctl.lab.apache.java import MIB, prepare_runtime
from eosctl.lab.apache.node import KafkaNode
from eosctl.lab.apache.nodes import random_cluster_id
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from tests.apache.conftest import SETTINGS
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")
PASSWORD = "keystore-word"
#: When the certificates of brokers 1, 2, and 3 expire, from now.
LIFETIMES = (dt.timedelta(hours=-2), dt.timedelta(days=3), dt.timedelta(days=300))


class TlsCluster(NamedTuple):
    """The TLS listeners of all brokers, and the client's configuration."""

    bootstrap: str
    config: str


def write_store(path: Path, authority: trustme.CA, lifetime: dt.timedelta) -> str:
    now = dt.datetime.now(dt.UTC)
    identity = authority.issue_cert("127.0.0.1", not_before=now - dt.timedelta(days=30), not_after=now + lifetime)
    path.write_bytes(
        serialize_key_and_certificates(
            b"own",
            load_pem_private_key(identity.private_key_pem.bytes(), None),  # type: ignore[arg-type]
            load_pem_x509_certificate(identity.cert_chain_pems[0].bytes()),
            None,
            BestAvailableEncryption(PASSWORD.encode()),
        )
    )
    return str(path)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsCluster]:
    """Three nodes that reach each other in plain text, with a TLS listener for clients."""
    home = tmp_path_factory.mktemp("certificates")
    rng, authority = random.Random(), trustme.CA()
    (home / "ca.pem").write_bytes(authority.cert_pem.bytes())
    (home / "client.properties").write_text(
        f"security.protocol=SSL\nssl.truststore.location={home / 'ca.pem'}\nssl.truststore.type=PEM\n"
    )
    ports = free_ports(3 * len(LIFETIMES), rng)
    addresses = [NodeAddress(number + 1, *ports[3 * number : 3 * number + 2]) for number in range(len(LIFETIMES))]
    try:
        runtime = prepare_runtime(resolve_release("4.3.1"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    cluster_id = random_cluster_id(rng)
    nodes = []
    for address, lifetime, tls in zip(addresses, LIFETIMES, ports[2::3], strict=True):
        listeners = f"INTERNAL://{HOST}:{address.port},CLIENTS://{HOST}:{tls}"
        node = KafkaNode(runtime, address, home / f"node-{address.node_id}", heap_bytes=320 * MIB, jvm_options=())
        own = {
            "listeners": f"{listeners},CONTROLLER://{HOST}:{address.controller_port}",
            "advertised.listeners": listeners,
            "listener.security.protocol.map": "INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SSL",
            "inter.broker.listener.name": "INTERNAL",
            "ssl.keystore.location": write_store(home / f"{address.node_id}.p12", authority, lifetime),
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.password": PASSWORD,
            "ssl.key.password": PASSWORD,
        }
        settings = node_settings(address, addresses, node.files.data_dir, SETTINGS | own)
        node.prepare(render_properties(settings), cluster_id, None)
        nodes.append(node)
    try:
        for node in nodes:
            node.start()
        for node in nodes:
            node.wait_ready(len(nodes), time.monotonic() + 90, threading.Event())
        bootstrap = ",".join(f"{HOST}:{tls}" for tls in ports[2::3])
        yield TlsCluster(bootstrap, str(home / "client.properties"))
    finally:
        for node in nodes:
            node.end(signal.SIGKILL)


def test_an_expired_certificate_is_the_cause(cluster: TlsCluster) -> None:
    target = ("-b", cluster.bootstrap, "--command-config", cluster.config)
    done = eosctl("doctor", *target, "-o", "json")
    assert done.code == 3
    found = {item["check_id"]: item for item in done.json["items"]}
    assert found[broker_unreachable.id]["resource"] == {"kind": "broker", "name": "1"}
    assert "certificate has expired" in found[broker_unreachable.id]["message"]
    assert found[broker_unreachable.id]["remedy"] == ["Renew the broker's certificate."]
    expiring = found[certificate_expires_soon.id]
    assert (expiring["resource"]["name"], expiring["severity"]) == ("2", "warning")
    gaps = [gap for gap in done.json["evidence"]["gaps"] if gap["subject"] == "broker 1"]
    assert {gap["reason"] for gap in gaps} == {"not-authenticated"}
    assert {gap["next_step"] for gap in gaps} == {"Renew the broker's certificate."}


# A live view shows its gaps in its last line only, so it ends with them, too.
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("group", "lag"), ExitCode.DONE),
        (("timeline",), ExitCode.DONE),
        (("txn", "hanging"), ExitCode.DONE),
        (("top", "--count", "1"), ExitCode.INCOMPLETE),
    ],
)
def test_the_other_brokers_are_read(cluster: TlsCluster, command: tuple[str, ...], code: ExitCode) -> None:
    done = eosctl(*command, "-b", cluster.bootstrap, "--command-config", cluster.config)
    assert done.code is code, done.err
    assert "certificate has expired" in done.out or "broker 1 not-authenticated" in done.out
