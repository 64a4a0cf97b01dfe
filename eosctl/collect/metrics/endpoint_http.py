"""Requests to a metrics endpoint over HTTP, limited in time and size, without sending credentials to other hosts."""

from __future__ import annotations

import base64
import http.client
import io
import socket
import time
import urllib.error
import urllib.request
from typing import IO, Any, Final

from eosctl.errors import AuthenticationFailed, EosctlError
from eosctl.settings.endpoint_credentials import NO_CREDENTIALS, EndpointCredentials

MAX_BYTES: Final = 256 << 20
MAX_PAIRS: Final = 2_000_000
"""Of names and values in a JSON answer: a broker of 4,000 partitions has some 100,000."""
_CHUNK_BYTES: Final = 1 << 20
_REFUSED: Final = frozenset({401, 403})


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Rejects redirects, so that credentials are not sent to another host."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> None:
        return None


class _TimedReader(io.RawIOBase):
    """Reads a socket until a point in time: an answer that trickles ends there, wherever it stands."""

    def __init__(self, sock: socket.socket, ends_at: float) -> None:
        self._sock, self._ends_at = sock, ends_at
        self._reader = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left_s = self._ends_at - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the answer takes too long")
        self._sock.settimeout(left_s)
        return self._reader.readinto(buffer)

    def close(self) -> None:
        self._reader.close()
        super().close()


class _Handler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Opens connections whose answers, with status and headers, end at a point in time."""

    def __init__(self, ends_at: float) -> None:
        urllib.request.HTTPSHandler.__init__(self)

        class TimedResponse(http.client.HTTPResponse):
            def __init__(self, sock: socket.socket, *args: Any, **more: Any) -> None:
                super().__init__(sock, *args, **more)
                self.fp.close()
                self.fp = io.BufferedReader(_TimedReader(sock, ends_at))

        class Connection(http.client.HTTPConnection):
            response_class = TimedResponse

        class SecureConnection(http.client.HTTPSConnection):
            response_class = TimedResponse

        self._plain, self._secure = Connection, SecureConnection

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._plain, req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._secure, req)


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
    opener = urllib.request.build_opener(_NoRedirects, _Handler(time.monotonic() + timeout_ms / 1000))
    try:
        with opener.open(request, timeout=timeout_ms / 1000) as answer:
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
