"""Requests to a metrics endpoint over HTTP, limited in time and size, without sending credentials to other hosts."""

from __future__ import annotations

import base64
import http.client
import urllib.error
import urllib.request
from typing import Final

from eosctl.errors import AuthenticationFailed, EosctlError
from eosctl.http_deadline import open_until
from eosctl.settings.clusters.endpoint_credentials import NO_CREDENTIALS, EndpointCredentials

MAX_BYTES: Final = 256 << 20
MAX_PAIRS: Final = 2_000_000
"""Of names and values in a JSON answer: a broker of 4,000 partitions has some 100,000."""
_CHUNK_BYTES: Final = 1 << 20
_REFUSED: Final = frozenset({401, 403})


def fetch(
    url: str, timeout_ms: int, credentials: EndpointCredentials = NO_CREDENTIALS, body: bytes | None = None,
    content_type: str = "application/json",
) -> bytes:  # fmt: skip
    """Get a page, or post a body and return the response.

    Raises:
        AuthenticationFailed: The endpoint rejects the credentials, or requires some.
        EosctlError: It does not respond in time, or returns an error.
    """
    headers = {} if body is None else {"Content-Type": content_type}
    if credentials.token is not None:
        headers["Authorization"] = f"Bearer {credentials.token.reveal()}"
    elif credentials.password is not None:
        pair = f"{credentials.username}:{credentials.password.reveal()}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    request = urllib.request.Request(url, body, headers)
    try:
        with open_until(request, timeout_ms / 1000) as answer:
            return _read(answer)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in _REFUSED:
            raise AuthenticationFailed(
                f"{url} refuses to answer ({error.code} {error.reason}).",
                "It refuses these credentials." if "Authorization" in headers else "It wants credentials.",
                "Give --credentials FILE with username= and password=, or token=.",
            ) from error
        raise _no_answer(url, f"HTTP status {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _no_answer(url, str(getattr(error, "reason", None) or error)) from error


def refuse_endless(body: bytes) -> None:
    """Refuse JSON whose objects would take gigabytes of memory.

    Raises:
        ValueError: It has more than `MAX_PAIRS` names and values.
    """
    if body.count(b":") > MAX_PAIRS:
        raise ValueError(f"the answer has more than {MAX_PAIRS:,} values")


def _read(answer: http.client.HTTPResponse) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while chunk := answer.read1(_CHUNK_BYTES):
        size += len(chunk)
        if size > MAX_BYTES:
            raise OSError(f"the answer is larger than {MAX_BYTES >> 20} MiB")
        chunks.append(chunk)
    return b"".join(chunks)


def _no_answer(url: str, reason: str) -> EosctlError:
    return EosctlError(f"{url} does not answer.", reason, "Check the address and the program behind it.")
