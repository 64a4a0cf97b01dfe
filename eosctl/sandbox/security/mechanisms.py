"""The server side of SASL PLAIN (RFC 4616) and SCRAM (RFC 5802), without I/O."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from eosctl.model.secret import Secret
from eosctl.sandbox.security.protocol import PLAIN, SCRAM_SHA_256, SCRAM_SHA_512

#: Mechanism numbers of UserScramCredentialRecord and its requests (ScramMechanism.type).
SCRAM_TYPES: Mapping[int, str] = {1: SCRAM_SHA_256, 2: SCRAM_SHA_512}
#: Minimum iterations that brokers accept (ScramMechanism.minIterations, the same for both), and the tools' default.
MIN_ITERATIONS = 4096
MAX_ITERATIONS = 16384
BY_DELEGATION = "tokenauth"
_SASL_NAME = re.compile(r"(?:[^=,\x00\x80-\U0010ffff]|=2C|=3D)+")


class ScramCredential(NamedTuple):
    """A broker's stored credential of a user."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class TokenCredential(NamedTuple):
    """The credential of a delegation token, with its owner and the time at which it expires."""

    scram: ScramCredential
    owner: str
    expires_ms: int


FindCredential = Callable[[str, str], ScramCredential | None]
FindToken = Callable[[str, str], TokenCredential | None]


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

    @property
    def token_expires_ms(self) -> int | None:
        """Return when the delegation token of this login expires; None for a login without one."""


def begin(
    mechanism: str,
    passwords: Mapping[str, Secret],
    find: FindCredential,
    find_token: FindToken,
    nonce: str,
    *,
    is_3_9: bool,
) -> Mechanism:
    """Start an authentication with one of the enabled mechanisms."""
    if mechanism == PLAIN:
        return PlainServer(passwords)
    return ScramServer(mechanism, find, find_token, nonce, is_3_9=is_3_9)


class PlainServer:
    """PLAIN: authorization id, user, and password in one token (`PlainSaslServer`)."""

    def __init__(self, passwords: Mapping[str, Secret]) -> None:
        self._passwords = passwords
        self.user: str | None = None
        self.token_expires_ms: int | None = None

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
    """SCRAM: both sides prove knowledge of the password in two rounds (`ScramSaslServer`).

    With the extension `tokenauth=true`, the user is the id of a delegation token. Other extensions are ignored; they
    invalidate the client's signature on 3.9.
    """

    def __init__(
        self, mechanism: str, find: FindCredential, find_token: FindToken, nonce: str, *, is_3_9: bool
    ) -> None:
        from scramp import ScramMechanism

        self._mechanism = mechanism
        self._find = find
        self._find_token = find_token
        self._is_3_9 = is_3_9
        self._has_token = False
        self._expires_ms: int | None = None
        self._claimed = self._name = ""
        self._first = True
        self._exchange = ScramMechanism(mechanism).make_server(self._keys, s_nonce=nonce)
        self.user: str | None = None
        self.token_expires_ms: int | None = None

    def step(self, token: bytes) -> bytes:
        """Respond to the client's first or final message."""
        from scramp import ScramException

        try:
            text = token.decode()
            if self._first:
                self._first = False
                plain, bare, self._name, extensions = split_first(text)
                self._has_token = extensions.get(BY_DELEGATION) == "true"
                if self._is_3_9 and set(extensions) - {BY_DELEGATION}:
                    raise ValueError(f"unknown extensions: {', '.join(extensions)}")
                self._exchange.set_client_first(plain)
                self._exchange.client_first_bare = bare  # Both sides sign the extensions, too.
                answer = self._exchange.get_server_first()
            else:
                self._exchange.set_client_final(text)
                answer = self._exchange.get_server_final()
                self.user, self.token_expires_ms = self._claimed, self._expires_ms
        except (ScramException, ValueError, KeyError, IndexError):
            # Kafka returns the same error for an unknown user and a wrong password.
            raise Refused(
                "Authentication failed during authentication due to invalid credentials with SASL mechanism "
                + self._mechanism
            ) from None
        return str(answer).encode()

    def _keys(self, _: str) -> tuple[bytes, bytes, bytes, int]:
        user = self._name
        if self._has_token:
            token = self._find_token(self._mechanism, user)
            if token is None:
                raise KeyError(user)
            self._claimed, self._expires_ms = token.owner, token.expires_ms
            return token.scram
        found = self._find(self._mechanism, user)
        if found is None:
            raise KeyError(user)
        self._claimed = user
        return found


def split_first(text: str) -> tuple[str, str, str, dict[str, str]]:
    """Return a client's first message without extensions and name, its signed part, the name, and the extensions.

    A name is not prepared (SASLprep), as it is by the library, and consists of ASCII (`ScramMessages`).

    Raises:
        ValueError: It has no signed part, or no valid name.
    """
    header, channel, bare = text.split(",", 2)
    parts = bare.split(",")
    attributes = [part for part in parts if len(part.partition("=")[0]) == 1]
    extensions = dict(part.split("=", 1) for part in parts if part not in attributes)
    names = [part.removeprefix("n=") for part in attributes if part.startswith("n=")]
    if len(names) != 1 or not _SASL_NAME.fullmatch(names[0]):
        raise ValueError(f"no valid name: {names}")
    plain = ["n=user" if part.startswith("n=") else part for part in attributes]
    return ",".join((header, channel, *plain)), bare, names[0].replace("=2C", ",").replace("=3D", "="), extensions


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
