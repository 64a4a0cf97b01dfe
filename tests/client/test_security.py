from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509 import load_pem_x509_certificate
from msgspec.structs import replace
from scramp import ScramException, ScramMechanism

from eosctl.client import connect
from eosctl.client.diagnosis import WrongSecurityProtocol
from eosctl.client.memory import MemoryNetwork
from eosctl.client.tls import tls_context
from eosctl.errors import AuthenticationFailed, ClusterUnreachable, ConfigFileError
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.client_config import (
    ClientConfig,
    Endpoint,
    SaslConfig,
    SaslMechanism,
    SecurityProtocol,
    TlsConfig,
)
from eosctl.model.secret import Secret
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from eosctl.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from eosctl.wire.messages.sasl_handshake import SaslHandshakeResponse
from tests.client.scripted_broker import HangUp, RawAnswer, ScriptedBroker, cluster_metadata, listening

#: Kerberos needs a KDC: tests/apache/test_client_kerberos.py.
MECHANISMS = [mechanism for mechanism in SaslMechanism if mechanism is not SaslMechanism.GSSAPI]
CONFIG = ClientConfig(bootstrap=(Endpoint("broker-1", 9092),), connect_timeout_ms=5_000)


class Authority(trustme.CA):
    """A certificate authority and its certificates."""

    def server(self, host: str = "127.0.0.1", *, require_client: bool = False) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.issue_cert(host).configure_cert(context)
        if require_client:
            self.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    @property
    def pem(self) -> str:
        return self.cert_pem.bytes().decode()


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


async def reach(config: ClientConfig, broker: ScriptedBroker, server: ssl.SSLContext | None = None) -> None:
    """Connect to a scripted broker behind a socket and ask it something."""
    broker.on(ApiKey.METADATA, lambda _: cluster_metadata(broker))
    async with listening(broker, server) as endpoint, connect(replace(config, bootstrap=(endpoint,))) as client:
        assert client.cluster.node_ids == (1,)


def tls_config(**tls: Any) -> ClientConfig:
    return replace(CONFIG, security_protocol=SecurityProtocol.SSL, tls=TlsConfig(**tls))


def test_a_tls_broker_is_reached_with_its_ca_as_text_or_file(authority: Authority, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text(authority.pem)
    asyncio.run(reach(tls_config(ca_pem=authority.pem), ScriptedBroker(), authority.server()))
    asyncio.run(reach(tls_config(ca_file=str(file)), ScriptedBroker(), authority.server()))


def test_a_certificate_of_an_unknown_authority_is_refused(authority: Authority) -> None:
    with pytest.raises(AuthenticationFailed, match="not to be trusted"):
        asyncio.run(reach(tls_config(ca_pem=Authority().pem), ScriptedBroker(), authority.server()))


def test_a_certificate_of_another_host_is_rejected_by_default(authority: Authority) -> None:
    server = authority.server("kafka.example.org")
    with pytest.raises(AuthenticationFailed, match="not to be trusted"):
        asyncio.run(reach(tls_config(ca_pem=authority.pem), ScriptedBroker(), server))
    asyncio.run(reach(tls_config(ca_pem=authority.pem, verify_hostname=False), ScriptedBroker(), server))


def test_a_client_certificate_comes_from_pem_or_pkcs12(authority: Authority, tmp_path: Path) -> None:
    identity = authority.issue_cert("client.example.org")
    key_pem = identity.private_key_pem.bytes()
    chain = identity.cert_chain_pems[0].bytes()
    store = tmp_path / "client.p12"
    store.write_bytes(
        serialize_key_and_certificates(
            b"me",
            load_pem_private_key(key_pem, None),  # type: ignore[arg-type]
            load_pem_x509_certificate(chain),
            [load_pem_x509_certificate(authority.pem.encode())],
            BestAvailableEncryption(b"word"),
        )
    )
    server = authority.server(require_client=True)
    for identity_config in (
        tls_config(ca_pem=authority.pem, certificate_pem=chain.decode(), key_pem=Secret(key_pem.decode())),
        tls_config(ca_pem=authority.pem, certificate_file=str(store), certificate_password=Secret("word")),
        tls_config(
            ca_file=str(store),
            ca_password=Secret("word"),
            certificate_file=str(store),
            certificate_password=Secret("word"),
        ),
    ):
        asyncio.run(reach(identity_config, ScriptedBroker(), server))
    with pytest.raises((AuthenticationFailed, ClusterUnreachable)) as refused:
        asyncio.run(reach(tls_config(ca_pem=authority.pem), ScriptedBroker(), server))
    assert "client certificate" in refused.value.why
    with pytest.raises(ConfigFileError, match="cannot be opened") as caught:
        tls_context(tls_config(certificate_file=str(store), certificate_password=Secret("wrong")))
    assert "wrong" not in caught.value.what


def test_a_pkcs12_store_needs_the_package_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "store.p12"
    store.write_bytes(b"\x30\x82")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    with pytest.raises(ConfigFileError, match="needs the package cryptography") as caught:
        tls_context(tls_config(ca_file=str(store)))
    assert "eosctl[tls]" in caught.value.next_step


def test_material_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError, match="No such file"):
        tls_context(tls_config(ca_file=str(tmp_path / "absent.pem")))
    with pytest.raises(ConfigFileError, match="cannot be used"):
        tls_context(tls_config(ca_pem="-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))


def test_plaintext_to_a_tls_listener_is_recognized(authority: Authority) -> None:
    with pytest.raises(WrongSecurityProtocol, match="is a TLS listener") as caught:
        asyncio.run(reach(CONFIG, ScriptedBroker(), authority.server()))
    assert "security.protocol to SSL" in caught.value.next_step


def test_tls_to_a_plaintext_listener_is_recognized(authority: Authority) -> None:
    with pytest.raises(WrongSecurityProtocol, match="is a plaintext listener"):
        asyncio.run(reach(tls_config(ca_pem=authority.pem), ScriptedBroker()))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "speaks HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "speaks SSH"),
        (b"\xff" * 64, "not Kafka's protocol"),
        (b"\x00\x00\x00\x02\x00\x00", "not Kafka's protocol"),
        (b"\x00\x00\x00\x08\x00\x00\x00\x63\x00\x00\x00\x00", "not Kafka's protocol"),
    ],
)
def test_what_is_not_kafka_is_named(answer: bytes, said: str) -> None:
    with pytest.raises(ClusterUnreachable, match=said):
        asyncio.run(reach(CONFIG, ScriptedBroker(greeting=RawAnswer(answer, then_close=True))))


def test_a_listener_that_hangs_up_without_a_word_is_reported() -> None:
    with pytest.raises(ClusterUnreachable, match="closed the connection before it answered"):
        asyncio.run(reach(CONFIG, ScriptedBroker(greeting=RawAnswer(b"", then_close=True))))


def test_a_sasl_listener_disconnects_clients_without_credentials() -> None:
    async def scenario() -> None:
        network = MemoryNetwork()
        broker = ScriptedBroker(CONFIG.bootstrap[0])
        broker.on(ApiKey.METADATA, lambda _: HangUp())
        broker.listen(network)
        with pytest.raises(WrongSecurityProtocol, match="closed the connection at the first request") as caught:
            async with connect(CONFIG, connector=network):
                pass
        assert "SASL_PLAINTEXT" in caught.value.next_step

    run_virtual(scenario())


class SaslBroker(ScriptedBroker):
    """A broker with the user `ops` and the password `word`."""

    def __init__(self, *mechanisms: str, lifetime_ms: int = 0) -> None:
        super().__init__(CONFIG.bootstrap[0])
        self.mechanisms = mechanisms
        self.lifetime_ms = lifetime_ms
        self.on(ApiKey.SASL_HANDSHAKE, self.shake_hands)
        self.on(ApiKey.METADATA, lambda _: cluster_metadata(self))
        self.on(ApiKey.LIST_GROUPS, lambda _: ListGroupsResponse())

    def shake_hands(self, message: Any) -> SaslHandshakeResponse:
        if message.mechanism not in self.mechanisms:
            return SaslHandshakeResponse(33, list(self.mechanisms))
        if message.mechanism.startswith("SCRAM"):
            scram = ScramMechanism(message.mechanism)
            salt, stored_key, server_key, iterations = scram.make_auth_info("word", iteration_count=4096)
            server = scram.make_server(lambda user: (salt, stored_key, server_key, iterations))
            self.on(ApiKey.SASL_AUTHENTICATE, lambda request: self.scram(server, request))
        else:
            self.on(ApiKey.SASL_AUTHENTICATE, self.plain_or_token)
        return SaslHandshakeResponse(0, list(self.mechanisms))

    def scram(self, server: Any, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
        text = request.auth_bytes.decode()
        try:
            if text.startswith("n,,"):
                server.set_client_first(text)
                return self.accepted(server.get_server_first().encode())
            server.set_client_final(text)
            return self.accepted(server.get_server_final().encode())
        except ScramException:
            return SaslAuthenticateResponse(
                58, "Authentication failed during authentication due to invalid credentials"
            )

    def plain_or_token(self, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
        match request.auth_bytes:
            case b"\0ops\0word" | b"n,,\x01auth=Bearer good\x01\x01":
                return self.accepted(b"")
            case b"n,,\x01auth=Bearer bad\x01\x01":
                return self.accepted(b'{"status":"invalid_token"}')
            case b"\x01":
                return SaslAuthenticateResponse(58, '{"status":"invalid_token"}')
            case _:
                return SaslAuthenticateResponse(58, "Authentication failed: Invalid username or password")

    def accepted(self, data: bytes) -> SaslAuthenticateResponse:
        return SaslAuthenticateResponse(auth_bytes=data, session_lifetime_ms=self.lifetime_ms)


def sasl_config(mechanism: SaslMechanism, password: str = "word", token: str = "good") -> ClientConfig:
    sasl = SaslConfig(mechanism, "ops", Secret(password), Secret(token))
    return replace(CONFIG, security_protocol=SecurityProtocol.SASL_PLAINTEXT, sasl=sasl)


@asynccontextmanager
async def authenticated(broker: ScriptedBroker, config: ClientConfig) -> AsyncIterator[Any]:
    network = MemoryNetwork()
    broker.listen(network)
    async with connect(config, connector=network) as client:
        yield client


async def log_in(broker: ScriptedBroker, config: ClientConfig) -> None:
    async with authenticated(broker, config) as client:
        assert client.cluster.node_ids == (1,)


def run(scenario: Coroutine[Any, Any, None]) -> None:
    run_virtual(scenario)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_logs_in(mechanism: SaslMechanism) -> None:
    run(log_in(SaslBroker(mechanism.value), sasl_config(mechanism)))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_wrong_credentials_are_refused_and_not_shown(mechanism: SaslMechanism) -> None:
    with pytest.raises(AuthenticationFailed, match="SASL_AUTHENTICATION_FAILED") as caught:
        run(log_in(SaslBroker(mechanism.value), sasl_config(mechanism, password="hunter2", token="bad")))
    assert "hunter2" not in str(caught.value)
    assert caught.value.next_step


def test_a_broker_that_does_not_know_the_password_is_refused() -> None:
    class Impostor(SaslBroker):
        def scram(self, server: Any, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
            answer = super().scram(server, request)
            if answer.auth_bytes.startswith(b"v="):
                return replace(answer, auth_bytes=b"v=" + b"A" * (len(answer.auth_bytes) - 3) + b"=")
            return answer

    with pytest.raises(AuthenticationFailed, match="SCRAM-SHA-256 failed"):
        run(log_in(Impostor("SCRAM-SHA-256"), sasl_config(SaslMechanism.SCRAM_SHA_256)))


@pytest.mark.parametrize("asked", ["1000001", "2147483647", "9" * 5_000, "0" * 20 + "1000001"])
def test_a_broker_cannot_ask_for_endless_iterations(asked: str) -> None:
    class Busy(SaslBroker):
        def scram(self, server: Any, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
            answer = super().scram(server, request)
            return replace(answer, auth_bytes=answer.auth_bytes.replace(b"i=4096", f"i={asked}".encode()))

    with pytest.raises(AuthenticationFailed, match="more than 1,000,000 iterations"):
        run(log_in(Busy("SCRAM-SHA-512"), sasl_config(SaslMechanism.SCRAM_SHA_512)))


def test_a_mechanism_that_is_not_offered_names_those_that_are() -> None:
    with pytest.raises(AuthenticationFailed, match="does not offer PLAIN") as caught:
        run(log_in(SaslBroker("SCRAM-SHA-512", "OAUTHBEARER"), sasl_config(SaslMechanism.PLAIN)))
    assert "SCRAM-SHA-512, OAUTHBEARER" in caught.value.why


def test_a_listener_without_sasl_is_recognized() -> None:
    broker = SaslBroker()
    broker.on(ApiKey.SASL_HANDSHAKE, lambda _: SaslHandshakeResponse(34))
    with pytest.raises(AuthenticationFailed, match="does not authenticate through SASL"):
        run(log_in(broker, sasl_config(SaslMechanism.PLAIN)))


def test_a_connection_is_replaced_before_its_credentials_run_out() -> None:
    async def scenario() -> None:
        broker = SaslBroker("PLAIN", lifetime_ms=10_000)
        async with authenticated(broker, sasl_config(SaslMechanism.PLAIN)) as client:
            await client.request(1, ApiKey.LIST_GROUPS, ListGroupsRequest())
            await asyncio.sleep(8)
            await client.request(1, ApiKey.LIST_GROUPS, ListGroupsRequest())
            assert broker.connection_count == 1
            await asyncio.sleep(1)
            await client.request(1, ApiKey.LIST_GROUPS, ListGroupsRequest())
            assert broker.connection_count == 2

    run(scenario())
