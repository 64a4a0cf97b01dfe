"""The raw client with a real broker's TLS and SASL listeners: successes and error messages."""

from __future__ import annotations

import asyncio
import base64
import json
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
from msgspec.structs import replace

from eosctl.cli import main
from eosctl.client import connect
from eosctl.client.diagnosis import WrongSecurityProtocol
from eosctl.errors import AuthenticationFailed, ClusterUnreachable
from eosctl.lab.apache.java import MIB, prepare_runtime, run_tool
from eosctl.lab.apache.node import KafkaNode
from eosctl.lab.apache.nodes import random_cluster_id
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.model.client_config import (
    ClientConfig,
    Endpoint,
    SaslConfig,
    SaslMechanism,
    SecurityProtocol,
    TlsConfig,
    TokenRequest,
)
from eosctl.model.secret import Secret
from tests.client.issuer import issuer

#: Kerberos needs a KDC: tests/apache/test_client_kerberos.py.
MECHANISMS = [mechanism for mechanism in SaslMechanism if mechanism is not SaslMechanism.GSSAPI]
STORE_PASSWORD = "keystore-word"
JAAS = "org.apache.kafka.common.security"


class Secured(NamedTuple):
    """A broker with a listener of every protocol."""

    plaintext: Endpoint
    tls: Endpoint
    mutual_tls: Endpoint
    sasl: Endpoint
    sasl_tls: Endpoint
    authority_pem: str
    client_store: str


def write_store(path: Path, authority: trustme.CA, name: str) -> str:
    identity = authority.issue_cert(name, "localhost", "127.0.0.1")
    path.write_bytes(
        serialize_key_and_certificates(
            b"own",
            load_pem_private_key(identity.private_key_pem.bytes(), None),  # type: ignore[arg-type]
            load_pem_x509_certificate(identity.cert_chain_pems[0].bytes()),
            [load_pem_x509_certificate(authority.cert_pem.bytes())],
            BestAvailableEncryption(STORE_PASSWORD.encode()),
        )
    )
    return str(path)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    home = tmp_path_factory.mktemp("secured")
    rng = random.Random()
    port, controller_port, tls, mutual, sasl, sasl_tls = free_ports(6, rng)
    authority = trustme.CA()
    authority_file = home / "ca.pem"
    authority_file.write_bytes(authority.cert_pem.bytes())
    names = {"PLAINTEXT": port, "TLS": tls, "MTLS": mutual, "LOGIN": sasl, "LOGINTLS": sasl_tls}
    listeners = ",".join(f"{name}://{HOST}:{number}" for name, number in names.items())
    plain = f'{JAAS}.plain.PlainLoginModule required username="x" password="x" user_ops="word";'
    scram = f"{JAAS}.scram.ScramLoginModule required;"
    oauth = f"{JAAS}.oauthbearer.OAuthBearerLoginModule required;"
    logins = {
        f"listener.name.{listener}.{mechanism}.sasl.jaas.config": line
        for listener in ("login", "logintls")
        for mechanism, line in (
            ("plain", plain),
            ("scram-sha-256", scram),
            ("scram-sha-512", scram),
            ("oauthbearer", oauth),
        )
    }
    overrides = {
        "listeners": f"{listeners},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": listeners,
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL,MTLS:SSL,LOGIN:SASL_PLAINTEXT,LOGINTLS:SASL_SSL"
        ),
        "listener.name.mtls.ssl.client.auth": "required",
        "ssl.keystore.location": write_store(home / "broker.p12", authority, "broker"),
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.password": STORE_PASSWORD,
        "ssl.key.password": STORE_PASSWORD,
        "ssl.truststore.location": str(authority_file),
        "ssl.truststore.type": "PEM",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        **logins,
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
        user = ("--alter", "--entity-type", "users", "--entity-name", "ops", "--add-config")
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):  # not both in one request
            server = ("--bootstrap-server", f"{HOST}:{port}")
            done = run_tool(runtime, "kafka.admin.ConfigCommand", *server, *user, f"{mechanism}=[password=word]")
            assert done.exit_code == 0, done.complaint
        endpoints = [Endpoint(HOST, number) for number in names.values()]
        client_store = write_store(home / "client.p12", authority, "client")
        yield Secured(*endpoints, authority.cert_pem.bytes().decode(), client_store)
    finally:
        node.end(signal.SIGKILL)


def unsecured_token(lifetime_s: int = 3600) -> str:
    def part(content: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    now = int(time.time())
    return f"{part({'alg': 'none'})}.{part({'sub': 'ops', 'iat': now - 1, 'exp': now + lifetime_s})}."


def config_for(endpoint: Endpoint, protocol: SecurityProtocol, secured: Secured) -> ClientConfig:
    return ClientConfig((endpoint,), protocol, TlsConfig(ca_pem=secured.authority_pem))


async def reach(config: ClientConfig) -> None:
    async with connect(config) as client:
        assert client.cluster.node_ids == (1,)
        # What the broker advertises is this listener, so a second connection goes the same way.
        assert client.cluster.endpoint(1) == config.bootstrap[0]


def login(mechanism: SaslMechanism, password: str = "word", token: str | None = None) -> SaslConfig:
    return SaslConfig(mechanism, "ops", Secret(password), Secret(token if token is not None else unsecured_token()))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("encrypted", [False, True])
def test_every_mechanism_logs_in(secured: Secured, mechanism: SaslMechanism, encrypted: bool) -> None:
    config = (
        config_for(secured.sasl_tls, SecurityProtocol.SASL_SSL, secured)
        if encrypted
        else config_for(secured.sasl, SecurityProtocol.SASL_PLAINTEXT, secured)
    )
    asyncio.run(reach(replace(config, sasl=login(mechanism))))


def test_a_token_of_an_issuer_logs_in(secured: Secured) -> None:
    config = config_for(secured.sasl, SecurityProtocol.SASL_PLAINTEXT, secured)
    with issuer({"access_token": unsecured_token(), "expires_in": 3600}) as server:
        source = TokenRequest(server.url, "ops", Secret("word"))
        asyncio.run(reach(replace(config, sasl=SaslConfig(SaslMechanism.OAUTHBEARER, token_source=source))))
        assert len(server.forms) == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_wrong_credentials_are_refused(secured: Secured, mechanism: SaslMechanism) -> None:
    config = config_for(secured.sasl, SecurityProtocol.SASL_PLAINTEXT, secured)
    with pytest.raises(AuthenticationFailed, match="SASL_AUTHENTICATION_FAILED"):
        asyncio.run(reach(replace(config, sasl=login(mechanism, password="wrong", token=unsecured_token(-7200)))))


def test_tls_with_and_without_a_client_certificate(secured: Secured) -> None:
    asyncio.run(reach(config_for(secured.tls, SecurityProtocol.SSL, secured)))
    mutual = config_for(secured.mutual_tls, SecurityProtocol.SSL, secured)
    identity = replace(mutual.tls, certificate_file=secured.client_store, certificate_password=Secret(STORE_PASSWORD))
    asyncio.run(reach(replace(mutual, tls=identity)))
    with pytest.raises((AuthenticationFailed, ClusterUnreachable)) as refused:
        asyncio.run(reach(mutual))
    assert "client certificate" in refused.value.why


def test_the_wrong_protocol_is_recognized_both_ways(secured: Secured) -> None:
    with pytest.raises(WrongSecurityProtocol, match="is a TLS listener"):
        asyncio.run(reach(config_for(secured.tls, SecurityProtocol.PLAINTEXT, secured)))
    with pytest.raises(WrongSecurityProtocol, match="is a plaintext listener"):
        asyncio.run(reach(config_for(secured.plaintext, SecurityProtocol.SSL, secured)))
    with pytest.raises(WrongSecurityProtocol, match="closed the connection at the first request"):
        asyncio.run(reach(config_for(secured.sasl, SecurityProtocol.PLAINTEXT, secured)))
    without_sasl = config_for(secured.plaintext, SecurityProtocol.SASL_PLAINTEXT, secured)
    with pytest.raises(AuthenticationFailed, match="does not authenticate through SASL"):
        asyncio.run(reach(replace(without_sasl, sasl=login(SaslMechanism.PLAIN))))


def test_an_authority_that_is_not_known_is_refused(secured: Secured) -> None:
    stranger = trustme.CA().cert_pem.bytes().decode()
    config = ClientConfig((secured.tls,), SecurityProtocol.SSL, TlsConfig(ca_pem=stranger))
    with pytest.raises(AuthenticationFailed, match="not to be trusted"):
        asyncio.run(reach(config))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_topics_of_logs_are_reached_by_every_mechanism(
    secured: Secured, mechanism: SaslMechanism, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The raw client's configuration also reaches librdkafka: passwords, tokens, and authorities."""
    words = ["security.protocol=SASL_SSL", f"sasl.mechanism={mechanism.value}"]
    words += [f"ssl.truststore.certificates={secured.authority_pem}"]
    if mechanism is SaslMechanism.OAUTHBEARER:
        monkeypatch.setenv("EOSCTL_SASL_OAUTHBEARER_TOKEN", unsecured_token())
    else:
        words += ["sasl.username=ops"]
        monkeypatch.setenv("EOSCTL_SASL_PASSWORD", "word")
    given = [part for word in words for part in ("-X", word)]
    assert main(["logs", "scan", f"kafka://{secured.sasl_tls}/missing", *given]) == 1
    assert "Unknown topic or partition" in capsys.readouterr().err
