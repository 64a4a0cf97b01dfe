"""What a SASL listener takes before and during a login, and when it hangs up: as SaslServerAuthenticator."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
from scramp import ScramClient

from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.frames import encode_request
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.metadata import MetadataRequest
from eosctl.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.sandbox.security.conftest import password_of
from tests.sandbox.security.wire_client import WireClient

VERSIONS = ApiVersionsRequest("test", "1")


def test_only_api_versions_may_precede_the_handshake_once(login_only: SandboxThread) -> None:
    with WireClient(login_only.bootstrap) as client:
        answer = client.ask(ApiKey.API_VERSIONS, 4, VERSIONS)
        assert answer is not None
        assert ApiKey.SASL_AUTHENTICATE in {api.api_key for api in answer.api_keys}
        assert client.ask(ApiKey.API_VERSIONS, 4, VERSIONS) is None
    with WireClient(login_only.bootstrap) as client:
        assert client.ask(ApiKey.METADATA, 12, MetadataRequest([], False)) is None


def test_an_unknown_api_versions_version_may_be_retried(login_only: SandboxThread) -> None:
    with WireClient(login_only.bootstrap) as client:
        client.send(struct.pack(">ihhihb", 11, ApiKey.API_VERSIONS, 99, 7, -1, 0))
        frame = client.frame()
        assert frame is not None
        assert struct.unpack_from(">ih", frame) == (7, ErrorCode.UNSUPPORTED_VERSION)
        answer = client.ask(ApiKey.API_VERSIONS, 4, VERSIONS)
        assert answer is not None
        assert answer.error_code == 0


def test_a_disabled_mechanism_is_rejected_with_the_enabled_ones(login_only: SandboxThread) -> None:
    with WireClient(login_only.bootstrap) as client:
        answer = client.shake_hands("GSSAPI")
        assert answer is not None
        assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
        assert list(answer.mechanisms) == ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
        assert client.frame() is None


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_login_opens_the_connection_and_is_not_repeated(login_only: SandboxThread, version: int) -> None:
    token = f"\0alice\0{password_of(login_only, 'alice')}".encode()
    with WireClient(login_only.bootstrap) as client:
        assert client.shake_hands() is not None
        answer = client.authenticate(token, version)
        assert answer is not None
        assert (answer.error_code, answer.auth_bytes, answer.session_lifetime_ms) == (0, b"", 0)
        assert client.ask(ApiKey.METADATA, 12, MetadataRequest([], False)) is not None
        again = client.shake_hands()
        assert again is not None
        assert again.error_code == ErrorCode.ILLEGAL_SASL_STATE
        late = client.authenticate(token)
        assert late is not None
        assert late.error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_tokens_are_bare_after_handshake_version_0(login_only: SandboxThread) -> None:
    for password, answer in ((password_of(login_only), b""), ("wrong", None)):
        with WireClient(login_only.bootstrap) as client:
            assert client.shake_hands(version=0) is not None
            token = f"\0admin\0{password}".encode()
            client.send(struct.pack(">i", len(token)) + token)
            assert client.frame() == answer
            if answer is not None:
                assert client.ask(ApiKey.METADATA, 12, MetadataRequest([], False)) is not None


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b"\0alice\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0nobody\0word", "Authentication failed: Invalid username or password"),
        (b"\0\0word", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (b"alice", "expected 3 tokens"),
        (b"\xff\xfe\0\0", "expected 3 tokens"),
    ],
)
def test_a_failed_plain_login_is_reported_and_closed(login_only: SandboxThread, token: bytes, text: str) -> None:
    with WireClient(login_only.bootstrap) as client:
        assert client.shake_hands() is not None
        answer = client.authenticate(token)
        assert answer is not None
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert text in answer.error_message
        assert client.frame() is None


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_both_sides_of_scram_prove_the_password(login_only: SandboxThread, mechanism: str) -> None:
    scram = ScramClient([mechanism], "alice", password_of(login_only, "alice"))
    with WireClient(login_only.bootstrap) as client:
        assert client.shake_hands(mechanism) is not None
        first = client.authenticate(scram.get_client_first().encode())
        assert first is not None
        scram.set_server_first(first.auth_bytes.decode())
        final = client.authenticate(scram.get_client_final().encode())
        assert final is not None
        scram.set_server_final(final.auth_bytes.decode())
        assert client.ask(ApiKey.METADATA, 12, MetadataRequest([], False)) is not None


@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("nobody", "word")])
def test_scram_hides_whether_the_user_exists(login_only: SandboxThread, user: str, password: str) -> None:
    scram = ScramClient(["SCRAM-SHA-256"], user, password)
    with WireClient(login_only.bootstrap) as client:
        assert client.shake_hands("SCRAM-SHA-256") is not None
        answer = client.authenticate(scram.get_client_first().encode())
        assert answer is not None
        if not answer.error_code:
            scram.set_server_first(answer.auth_bytes.decode())
            answer = client.authenticate(scram.get_client_final().encode())
            assert answer is not None
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert answer.error_message == (
            "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256"
        )
        assert client.frame() is None


def test_a_request_in_the_middle_of_a_login_ends_the_connection(login_only: SandboxThread) -> None:
    with WireClient(login_only.bootstrap) as client:
        assert client.shake_hands() is not None
        assert client.ask(ApiKey.METADATA, 12, MetadataRequest([], False)) is None


def test_unauthenticated_clients_cannot_fill_the_memory(login_only: SandboxThread) -> None:
    with WireClient(login_only.bootstrap) as client:
        client.send(struct.pack(">i", 90 << 20))
        try:
            for _ in range(64):
                client.send(bytes(1 << 20))
        except ConnectionError:
            return
        assert client.frame() is None


def test_requests_sent_with_the_login_are_answered_in_order(login_only: SandboxThread) -> None:
    token = f"\0admin\0{password_of(login_only)}".encode()
    with WireClient(login_only.bootstrap) as client:
        client.send(
            encode_request(ApiKey.SASL_HANDSHAKE, 0, 1, "test", SaslHandshakeRequest("PLAIN"))
            + struct.pack(">i", len(token))
            + token
            + encode_request(ApiKey.API_VERSIONS, 0, 3, "test", ApiVersionsRequest())
        )
        frames = [client.frame() for _ in range(3)]
        assert frames[0] is not None
        assert frames[1] == b""
        assert frames[2] is not None
        assert struct.unpack_from(">i", frames[2]) == (3,)


@pytest.fixture
def expiring() -> Iterator[SandboxThread]:
    with SandboxThread(
        sasl=("PLAIN", "SCRAM-SHA-256"), users=("admin", "alice"), config={"connections.max.reauth.ms": "60000"}
    ) as sandbox:
        yield sandbox


def test_a_session_is_renewed_by_the_same_user_alone(expiring: SandboxThread) -> None:
    admin, alice = (f"\0{user}\0{password_of(expiring, user)}".encode() for user in ("admin", "alice"))
    with WireClient(expiring.bootstrap) as client:
        assert client.shake_hands() is not None
        answer = client.authenticate(admin)
        assert answer is not None
        assert answer.session_lifetime_ms == 60_000
        assert client.shake_hands() is not None
        renewed = client.authenticate(admin)
        assert renewed is not None
        assert renewed.error_code == 0
        assert client.ask(ApiKey.METADATA, 12, MetadataRequest([], False)) is not None
    with WireClient(expiring.bootstrap) as client:
        assert client.shake_hands() is not None
        assert client.authenticate(admin) is not None
        assert client.shake_hands() is not None
        changed = client.authenticate(alice)
        assert changed is not None
        assert changed.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert client.frame() is None


def test_a_session_is_not_renewed_by_another_mechanism(expiring: SandboxThread) -> None:
    with WireClient(expiring.bootstrap) as client:
        assert client.shake_hands() is not None
        assert client.authenticate(f"\0admin\0{password_of(expiring)}".encode()) is not None
        chosen = client.shake_hands("SCRAM-SHA-256")
        assert chosen is not None
        assert chosen.error_code == 0
        assert client.authenticate(b"n,,n=admin,r=abc") is None


def test_a_session_is_renewed_at_most_once_a_second(expiring: SandboxThread) -> None:
    admin = f"\0admin\0{password_of(expiring)}".encode()
    with WireClient(expiring.bootstrap) as client:
        assert client.shake_hands() is not None
        assert client.authenticate(admin) is not None
        assert client.shake_hands() is not None
        assert client.authenticate(admin) is not None
        early = client.shake_hands()
        assert early is not None
        assert early.error_code == ErrorCode.ILLEGAL_SASL_STATE


@pytest.mark.parametrize("version", [0, 1])
def test_a_request_after_the_session_ends_the_connection(version: int, expiring: SandboxThread) -> None:
    with WireClient(expiring.bootstrap) as client:
        token = f"\0admin\0{password_of(expiring)}".encode()
        assert client.shake_hands(version=version) is not None
        if version:
            assert client.authenticate(token) is not None
        else:
            client.send(struct.pack(">i", len(token)) + token)
            assert client.frame() == b""
        assert client.ask(ApiKey.METADATA, 12, MetadataRequest([], False)) is not None
        expiring.advance(61_000)
        assert client.ask(ApiKey.METADATA, 12, MetadataRequest([], False)) is None
