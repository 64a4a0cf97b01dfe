"""Explain why a connection to a broker failed: which side uses which protocol."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from eosctl.client.deadline import Deadline
from eosctl.client.ports import Connector
from eosctl.errors import AuthenticationFailed, ClusterUnreachable, EosctlError
from eosctl.model.client_config import Endpoint, SecurityProtocol
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.errors import WireError
from eosctl.wire.frames import encode_request
from eosctl.wire.messages.api_versions import ApiVersionsRequest

_PROBE_TIMEOUT_MS = 2_000
_FOREIGN_GREETINGS = {b"HTTP/": "HTTP", b"SSH-": "SSH", b"220 ": "SMTP or FTP", b"-ERR": "Redis", b"<html": "HTTP"}


class WrongSecurityProtocol(ClusterUnreachable):
    """The listener uses another security protocol than the client."""


class TlsHandshakeFailed(AuthenticationFailed):
    """The TLS handshake with one broker failed; those with other brokers may succeed."""


def looks_like_tls(data: bytes) -> bool:
    """Return whether bytes start with a TLS record (alert or handshake)."""
    return len(data) >= 2 and data[0] in (0x15, 0x16) and data[1] == 0x03


_UNKNOWN_AUTHORITY: Final = (
    "It is signed by an authority that this client does not know.",
    "Set ssl.truststore.location to the authority's certificate.",
)
_OTHER_NAME: Final = (
    "It is made out to other names.",
    "Connect by a name in the certificate, or add this one to it.",
)
#: What OpenSSL found (X509_V_ERR), with the cause and the remedy.
_DISTRUST: Final[Mapping[int, tuple[str, str]]] = {
    9: ("Its validity has not begun, or the clock of this machine is slow.", "Check the clock and the certificate."),
    10: ("Its validity has ended, or the clock of this machine is fast.", "Renew the broker's certificate."),
    62: _OTHER_NAME,
    64: _OTHER_NAME,
}
#: What the operating system found before a connection was open, in words, with the cause and the remedy.
_NO_CONNECTION: Final[Mapping[type[OSError], tuple[str, str, str]]] = {
    socket.gaierror: (
        "unknown host",
        "The name does not resolve on this machine.",
        "Check its spelling, and the DNS, VPN, or hosts file of this machine.",
    ),
    ConnectionRefusedError: (
        "connection refused",
        "The host answers, but nothing listens on this port: the broker is down or starts, or the port is wrong.",
        "Check the port, and that the broker's listener is up.",
    ),
    TimeoutError: (
        "no answer within the connection timeout",
        "The host is down, the address is wrong, or a firewall drops the packets.",
        "Check the address, the network between this machine and the broker, and that the broker runs.",
    ),
}
_PLAIN_TEXT: Final = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST")


def explain_connect_error(endpoint: Endpoint, error: OSError) -> EosctlError:
    """Return the exception for a stream that could not be opened."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why, next_step = _DISTRUST.get(error.verify_code, _UNKNOWN_AUTHORITY)
        what = f"The certificate of {endpoint} is not to be trusted: {error.verify_message.rstrip('.')}."
        return TlsHandshakeFailed(what, why, next_step)
    if isinstance(error, ssl.SSLError) and error.reason in _PLAIN_TEXT:
        return TlsHandshakeFailed(
            f"{endpoint} does not answer in TLS.",
            "Its listener is in plain text, or the port is that of another program.",
            "Check the port, and security.protocol of both sides.",
        )
    if isinstance(error, ssl.SSLError):
        return TlsHandshakeFailed(
            f"The TLS handshake with {endpoint} failed: {error.reason or error}.",
            "The broker may ask for a client certificate, or share no protocol version with this client.",
            "Check ssl.keystore.location and the broker's ssl.client.auth and ssl.enabled.protocols.",
        )
    for kind, (reason, why, next_step) in _NO_CONNECTION.items():
        if isinstance(error, kind):
            return ClusterUnreachable(f"Cannot connect to {endpoint}: {reason}.", why, next_step)
    return ClusterUnreachable(
        f"Cannot connect to {endpoint}: {error.strerror or str(error) or type(error).__name__}.",
        "The address is wrong, no route leads to it, or the broker is down.",
        "Check the bootstrap address, and the network between this machine and the broker.",
    )


def explain_foreign_bytes(endpoint: Endpoint, first_bytes: bytes, error: WireError) -> EosctlError:
    """Return the exception for a response that is not Kafka's protocol."""
    if looks_like_tls(first_bytes):
        return _expects_tls(endpoint)
    for greeting, protocol in _FOREIGN_GREETINGS.items():
        if first_bytes.startswith(greeting):
            return ClusterUnreachable(
                f"{endpoint} speaks {protocol}, not Kafka's protocol.",
                "The address is another service's.",
                "Check host and port of the bootstrap address.",
            )
    return ClusterUnreachable(
        f"{endpoint} answered bytes that are not Kafka's protocol: {error}.",
        "The address is another service's, or something between rewrites the stream.",
        "Check host and port of the bootstrap address.",
    )


def explain_silent_refusal(endpoint: Endpoint, protocol: SecurityProtocol) -> EosctlError:
    """Return the exception for a broker that responded to ApiVersions and closed the connection at the next request."""
    return WrongSecurityProtocol(
        f"{endpoint} closed the connection at the first request over {protocol.value}.",
        "A listener that asks for authentication answers ApiVersions and nothing else.",
        "If it is a SASL listener, set security.protocol to SASL_PLAINTEXT or SASL_SSL, with sasl.mechanism.",
    )


async def explain_early_close(connector: Connector, endpoint: Endpoint, protocol: SecurityProtocol) -> EosctlError:
    """Find out why a broker closed the connection without a response; a plaintext client tries TLS once."""
    if not protocol.uses_tls and looks_like_tls(await _first_answer(connector, endpoint, _client_hello())):
        return _expects_tls(endpoint)
    certificate = "asks for a client certificate that it trusts, " if protocol.uses_tls else ""
    return ClusterUnreachable(
        f"{endpoint} closed the connection before it answered.",
        f"The broker {certificate}is starting or stopping, refuses this address, or is not a Kafka broker.",
        "Look into the broker's log for this client's address.",
    )


async def explain_failed_handshake(connector: Connector, endpoint: Endpoint, error: OSError) -> EosctlError:
    """Find out why a TLS handshake failed, by one attempt in plaintext."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return explain_connect_error(endpoint, error)
    question = encode_request(ApiKey.API_VERSIONS, 0, 0, "eosctl", ApiVersionsRequest())
    answer = await _first_answer(connector, endpoint, question)
    if answer[:1] == b"\0" and len(answer) >= 8 and answer[4:8] == b"\0\0\0\0":
        return WrongSecurityProtocol(
            f"{endpoint} is a plaintext listener, and this client speaks TLS.",
            "It answered a plaintext ApiVersions request.",
            "Set security.protocol to PLAINTEXT or SASL_PLAINTEXT, or use the TLS listener's port.",
        )
    return explain_connect_error(endpoint, error)


def _expects_tls(endpoint: Endpoint) -> EosctlError:
    return WrongSecurityProtocol(
        f"{endpoint} is a TLS listener, and this client speaks plaintext.",
        "It answered with a TLS record.",
        "Set security.protocol to SSL or SASL_SSL, or use the plaintext listener's port.",
    )


class _FirstAnswer:
    """Receives the first bytes of a peer."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        if not self.answer.done():
            self.answer.set_result(data)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.answer.done():
            self.answer.set_result(b"")


async def _first_answer(connector: Connector, endpoint: Endpoint, question: bytes) -> bytes:
    receiver = _FirstAnswer()
    try:
        async with asyncio.timeout_at(Deadline.after(_PROBE_TIMEOUT_MS).at):
            transport = await connector.open(endpoint, receiver, None)
            try:
                transport.write(question)
                return await receiver.answer
            finally:
                transport.close()
    except OSError:
        return b""


def _client_hello() -> bytes:
    outgoing = ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    greeting = context.wrap_bio(ssl.MemoryBIO(), outgoing)
    with suppress(ssl.SSLWantReadError):
        greeting.do_handshake()
    return outgoing.read()
