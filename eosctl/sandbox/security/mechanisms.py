"""The server side of SASL PLAIN (RFC 4616) and SCRAM (RFC 5802), without I/O."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from eosctl.model.secret import Secret
from eosctl.sandbox.security.protocol import PLAIN, SCRAM_SHA_256, SCRAM_SHA_512

#: Mechanism numbers of UserScramCredentialRecord and its requests (ScramMechanism.type).
SCRAM_TYPES: Mapping[int, str] = {1: SCRAM_SHA_256, 2: SCRAM_SHA_512}
#: Minimum iterations that brokers accept (ScramMechanism.minIterations, the same for both), and the tools' default.
MIN_ITERATIONS = 4096
MAX_ITERATIONS = 16384


class ScramCredential(NamedTuple):
    """A broker's stored credential of a user."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


FindCredential = Callable[[str, str], ScramCredential | None]


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """The authentication failed; the message is the broker's to the client."""


class Mechanism(Protocol):
    """An authentication in progress."""

    def step(self, token: bytes) -> bytes:
        """Handle the client's next token and return the response.

        Raises:
            Refused: The authentication failed.
        """

    @property
    def user(self) -> str | None:
        """Return the authenticated user; None before the last step."""


def begin(mechanism: str, passwords: Mapping[str, Secret], find: FindCredential, nonce: str) -> Mechanism:
    """Start an authentication with one of the enabled mechanisms."""
    if mechanism == PLAIN:
        return PlainServer(passwords)
    return ScramServer(mechanism, find, nonce)


class PlainServer:
    """PLAIN: authorization id, user, and password in one token (`PlainSaslServer`)."""

    def __init__(self, passwords: Mapping[str, Secret]) -> None:
        self._passwords = passwords
        self.user: str | None = None

    def step(self, token: bytes) -> bytes:
        """Check the password."""
        try:
            authorization_id, user, password = token.decode().split("\0")
        except ValueError:  # Invalid UTF-8, or not three parts.
            raise Refused("Invalid SASL/PLAIN response: expected 3 tokens") from None
        if not user:
            raise Refused("Authentication failed: username not specified")
        if not password:
            raise Refused("Authentication failed: password not specified")
        known = self._passwords.get(user)
        if known is None or not hmac.compare_digest(known.reveal().encode(), password.encode()):
            raise Refused("Authentication failed: Invalid username or password")
        if authorization_id and authorization_id != user:
            raise Refused("Authentication failed: Client requested an authorization id that is different from username")
        self.user = user
        return b""


class ScramServer:
    """SCRAM: both sides prove knowledge of the password in two rounds (`ScramSaslServer`)."""

    def __init__(self, mechanism: str, find: FindCredential, nonce: str) -> None:
        from scramp import ScramMechanism

        self._mechanism = mechanism
        self._find = find
        self._claimed = ""
        self._first = True
        self._exchange = ScramMechanism(mechanism).make_server(self._keys, s_nonce=nonce)
        self.user: str | None = None

    def step(self, token: bytes) -> bytes:
        """Respond to the client's first or final message."""
        from scramp import ScramException

        try:
            text = token.decode()
            if self._first:
                self._first = False
                self._exchange.set_client_first(text)
                answer = self._exchange.get_server_first()
            else:
                self._exchange.set_client_final(text)
                answer = self._exchange.get_server_final()
                self.user = self._claimed
        except (ScramException, ValueError, KeyError, IndexError):
            # Kafka returns the same error for an unknown user and a wrong password.
            raise Refused(
                "Authentication failed during authentication due to invalid credentials with SASL mechanism "
                + self._mechanism
            ) from None
        return str(answer).encode()

    def _keys(self, user: str) -> tuple[bytes, bytes, bytes, int]:
        found = self._find(self._mechanism, user)
        if found is None:
            raise KeyError(user)
        self._claimed = user
        return found


def scram_credential(mechanism: str, password: bytes, salt: bytes, iterations: int) -> ScramCredential:
    """Derive the stored credential from a password (`ScramFormatter`)."""
    import hashlib

    name = "sha256" if mechanism == SCRAM_SHA_256 else "sha512"
    return of_salted_password(mechanism, hashlib.pbkdf2_hmac(name, password, salt, iterations), salt, iterations)


def of_salted_password(mechanism: str, salted_password: bytes, salt: bytes, iterations: int) -> ScramCredential:
    """Derive it from the salted password, which AlterUserScramCredentials carries."""
    import hashlib

    name = "sha256" if mechanism == SCRAM_SHA_256 else "sha512"
    client_key = hmac.digest(salted_password, b"Client Key", name)
    server_key = hmac.digest(salted_password, b"Server Key", name)
    return ScramCredential(salt, hashlib.new(name, client_key).digest(), server_key, iterations)
