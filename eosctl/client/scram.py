"""The client's side of SCRAM (RFC 5802) as Kafka has it: names and passwords are not prepared (`ScramFormatter`).

A library that prepares them (SASLprep) logs in with another password where they have letters that it maps, such as
``²``, and refuses those that are newer than it, such as emoji. Kafka's clients and librdkafka take them as they are.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Generator
from typing import Final

LEAST_ITERATIONS: Final = 4096
"""The least that clients accept (`ScramMechanism.minIterations`)."""
MOST_ITERATIONS: Final = 1_000_000
"""Brokers of Kafka store at most 16,384. The largest number that a broker can send would take minutes."""
_NO_BINDING: Final = "n,,"
_SERVER_FIRST: Final = re.compile(
    r"r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+),s=(?P<salt>[A-Za-z0-9+/=]+),i=(?P<iterations>[0-9]+)(?:,.*)?"
)
_SERVER_FINAL: Final = re.compile(r"(?:v=(?P<signature>[A-Za-z0-9+/=]+)|e=(?P<error>[^,]*))(?:,.*)?")
_HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


class ScramError(Exception):
    """The broker's message is not valid, or does not prove that it knows the password."""


def scram_exchange(mechanism: str, user: str, password: str, nonce: str | None = None) -> Generator[bytes, bytes, None]:
    """Yield the client's messages, and take the broker's.

    Args:
        mechanism: ``SCRAM-SHA-256`` or ``SCRAM-SHA-512``.
        user: The user, with any characters.
        password: The password, with any characters.
        nonce: Printable ASCII without commas; a random one by default.

    Raises:
        ScramError: The broker refuses, or does not know the password.
    """
    algorithm = _HASHES[mechanism]
    own_nonce = secrets.token_urlsafe(24) if nonce is None else nonce
    first = f"n={sasl_name(user)},r={own_nonce}"
    server_first = _text((yield f"{_NO_BINDING}{first}".encode()))
    found = _SERVER_FIRST.fullmatch(server_first)
    if found is None:
        raise ScramError("its first message is not that of SCRAM")
    if not found["nonce"].startswith(own_nonce) or found["nonce"] == own_nonce:
        raise ScramError("its nonce does not begin with that of this client")
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), _bytes(found["salt"]), _iterations(found["iterations"]))
    without_proof = f"c={base64.b64encode(_NO_BINDING.encode()).decode()},r={found['nonce']}"
    signed = ",".join((first, server_first, without_proof)).encode()
    client_key = hmac.digest(salted, b"Client Key", algorithm)
    signature = hmac.digest(hashlib.new(algorithm, client_key).digest(), signed, algorithm)
    proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    server_final = _text((yield f"{without_proof},p={base64.b64encode(proof).decode()}".encode()))
    ended = _SERVER_FINAL.fullmatch(server_final)
    if ended is None:
        raise ScramError("its last message is not that of SCRAM")
    if ended["error"] is not None:
        raise ScramError(f"it answered {ended['error']}")
    expected = hmac.digest(hmac.digest(salted, b"Server Key", algorithm), signed, algorithm)
    if not hmac.compare_digest(expected, _bytes(ended["signature"])):
        raise ScramError("its signature is not that of the password")


def sasl_name(user: str) -> str:
    """Return a user's name as a message has it.

    >>> sasl_name("a=b,c")
    'a=3Db=2Cc'
    """
    return user.replace("=", "=3D").replace(",", "=2C")


def _iterations(digits: str) -> int:
    """Return the number of iterations; they cannot be interrupted, so they must not keep this client busy."""
    number = digits.lstrip("0")
    if len(number) > len(str(MOST_ITERATIONS)) or int(number or "0") > MOST_ITERATIONS:
        raise ScramError(
            f"the broker asks for more than {MOST_ITERATIONS:,} iterations: Kafka stores at most 16,384, so this is "
            "another program, or a host on the path changed its message"
        )
    if int(number or "0") < LEAST_ITERATIONS:
        raise ScramError(f"the broker asks for fewer than {LEAST_ITERATIONS:,} iterations, which no Kafka stores")
    return int(number)


def _text(message: bytes) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise ScramError("its message is not text") from None


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ScramError("its message is not valid base64") from None
