"""SASL exchanges without I/O: generators that yield tokens to send and receive the broker's."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Final, TypeAlias

from eosctl.client.gssapi import kerberos_exchange
from eosctl.client.tokens import fetch_token
from eosctl.errors import AuthenticationFailed
from eosctl.model.client_config import KerberosLogin, SaslConfig, SaslMechanism

Exchange: TypeAlias = Generator[bytes, bytes, None]
MAX_ITERATIONS: Final = 1_000_000
"""Brokers of Kafka store at most 16,384. The largest number that a broker can send would take minutes."""
_ITERATIONS: Final = re.compile(r"(?:^|,)i=([0-9]+)")


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
    from scramp import ScramClient, ScramException  # Imported late: few connections use SCRAM.

    scram = ScramClient([sasl.mechanism.value], sasl.username, _password(sasl))
    try:
        server_first = (yield scram.get_client_first().encode()).decode()
        _check_iterations(sasl.mechanism, server_first)
        scram.set_server_first(server_first)
        scram.set_server_final((yield scram.get_client_final().encode()).decode())
    except (ScramException, UnicodeDecodeError) as error:
        raise AuthenticationFailed(
            f"{sasl.mechanism.value} failed: {error}",
            "The broker could not prove that it knows the password, or refused it.",
            "Check user and password, and that the address is the right cluster.",
        ) from error


def _check_iterations(mechanism: SaslMechanism, server_first: str) -> None:
    """Reject a broker's first message that would keep this client busy: the iterations cannot be interrupted."""
    for found in _ITERATIONS.finditer(server_first):
        digits = found[1].lstrip("0")
        if len(digits) > len(str(MAX_ITERATIONS)) or int(digits or "0") > MAX_ITERATIONS:
            raise AuthenticationFailed(
                f"{mechanism.value} failed: the broker asks for more than {MAX_ITERATIONS:,} iterations.",
                "Kafka stores at most 16,384: this is another program, or a host on the path changed its message.",
                "Check that the address is the right cluster, and use TLS.",
            )


def _oauth_bearer(sasl: SaslConfig) -> Exchange:
    token = sasl.token if sasl.token_source is None else fetch_token(sasl.token_source)
    refusal = yield f"n,,\x01auth=Bearer {token.reveal() if token is not None else ''}\x01\x01".encode()
    if refusal:
        # RFC 7628: the server sends its error as JSON, and fails the exchange only after this empty response.
        yield b"\x01"


def _password(sasl: SaslConfig) -> str:
    return sasl.password.reveal() if sasl.password is not None else ""
