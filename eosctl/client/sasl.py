"""SASL exchanges without I/O: generators that yield tokens to send and receive the broker's."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias

from eosctl.client.gssapi import kerberos_exchange
from eosctl.client.scram import ScramError, scram_exchange
from eosctl.client.tokens import fetch_token
from eosctl.errors import AuthenticationFailed
from eosctl.model.client_config import KerberosLogin, SaslConfig, SaslMechanism

Exchange: TypeAlias = Generator[bytes, bytes, None]


def authenticate(sasl: SaslConfig, host: str) -> Exchange:
    """Return the exchange of the configured mechanism with a broker at a host."""
    match sasl.mechanism:
        case SaslMechanism.PLAIN:
            return _plain(sasl)
        case SaslMechanism.SCRAM_SHA_256 | SaslMechanism.SCRAM_SHA_512:
            return _scram(sasl)
        case SaslMechanism.OAUTHBEARER:
            return _oauth_bearer(sasl)
        case SaslMechanism.GSSAPI:
            return kerberos_exchange(sasl.kerberos or KerberosLogin("kafka"), host)


def _plain(sasl: SaslConfig) -> Exchange:
    yield f"\0{sasl.username}\0{_password(sasl)}".encode()


def _scram(sasl: SaslConfig) -> Exchange:
    try:
        yield from scram_exchange(sasl.mechanism.value, sasl.username, _password(sasl))
    except ScramError as error:
        raise AuthenticationFailed(
            f"{sasl.mechanism.value} failed: {error}.",
            "The broker could not prove that it knows the password, or refused it.",
            "Check user and password, and that the address is the right cluster; use TLS.",
        ) from error


def _oauth_bearer(sasl: SaslConfig) -> Exchange:
    token = sasl.token if sasl.token_source is None else fetch_token(sasl.token_source)
    refusal = yield f"n,,\x01auth=Bearer {token.reveal() if token is not None else ''}\x01\x01".encode()
    if refusal:
        # RFC 7628: the server sends its error as JSON, and fails the exchange only after this empty response.
        yield b"\x01"


def _password(sasl: SaslConfig) -> str:
    return sasl.password.reveal() if sasl.password is not None else ""
