"""Requests over HTTP that end at one deadline: connecting, TLS, the head, the lines of chunks, the body, and trailers.

The timeout of a socket is that of a single read. A server that sends one byte in each would hold the client forever.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
import urllib.request
from typing import IO, Any, Final

_BUFFER_BYTES: Final = 64 << 10


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Rejects redirects, so that credentials are not sent to another host."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> None:
        return None


def open_until(request: urllib.request.Request, timeout_s: float) -> http.client.HTTPResponse:
    """Send a request, and return the response, which is read until the same deadline; redirects are errors.

    Args:
        request: An HTTP or HTTPS request.
        timeout_s: Time for the whole exchange, reading the response included, in seconds.

    Raises:
        TimeoutError: The time is over, also in each method of the response that reads.
        OSError: There is no connection, or an error status (`urllib.error.HTTPError`).
    """
    opener = urllib.request.build_opener(_NoRedirects, _Plain, _Tls)
    response: http.client.HTTPResponse = opener.open(request, timeout=timeout_s)
    return response


class _Timed:
    """Sets what is left of the time before each wait for the other side."""

    def __init__(self, ends_at: float) -> None:
        self._ends_at = ends_at

    def limit(self, connected: socket.socket) -> None:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        connected.settimeout(left)

    def connect(self, address: tuple[str, int], _timeout: object = None, _source: object = None) -> socket.socket:
        """Connect as `socket.create_connection`, which gives each address of a name the whole time."""
        failed: OSError | None = None
        for family, kind, protocol, _, place in socket.getaddrinfo(*address, 0, socket.SOCK_STREAM):
            made = socket.socket(family, kind, protocol)
            try:
                self.limit(made)
                made.connect(place)
                self.limit(made)
            except OSError as error:
                made.close()
                failed = error
            else:
                return made
        raise failed or OSError(f"{address[0]} has no address")

    def response(self, connected: socket.socket, *args: Any, **named: Any) -> http.client.HTTPResponse:
        answer = http.client.HTTPResponse(connected, *args, **named)
        answer.fp = io.BufferedReader(_Reads(answer.fp.detach(), connected, self), _BUFFER_BYTES)
        return answer


class _Reads(io.RawIOBase):
    """The bytes of a socket, until the deadline."""

    def __init__(self, raw: io.RawIOBase, connected: socket.socket, timed: _Timed) -> None:
        self._raw, self._connected, self._timed = raw, connected, timed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._timed.limit(self._connected)
        read: int | None = self._raw.readinto(buffer)
        return read

    def close(self) -> None:
        self._raw.close()
        super().close()


def _until_deadline(connection: http.client.HTTPConnection) -> http.client.HTTPConnection:
    timed = _Timed(time.monotonic() + float(connection.timeout or 0))
    connection.response_class = timed.response  # type: ignore[assignment]
    connection._create_connection = timed.connect  # type: ignore[attr-defined]
    return connection


class _Plain(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(lambda host, **named: _until_deadline(http.client.HTTPConnection(host, **named)), req)


class _Tls(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(lambda host, **named: _until_deadline(http.client.HTTPSConnection(host, **named)), req)
