"""A server that trickles any part of its response holds no client beyond the deadline."""

from __future__ import annotations

import http.client
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final

import pytest

from eosctl.errors import EosctlError
from eosctl.http_deadline import open_until

OK: Final = b"HTTP/1.1 200 OK\r\n"
CHUNKED: Final = OK + b"Transfer-Encoding: chunked\r\n\r\n"
#: What is sent first, and what is then sent for ever, a byte at a time.
TRICKLED: Final = {
    "status": (b"", b"H"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "name": (OK, b"a"),
    "value": (OK + b"X-A: ", b"a"),
    "fields": (OK, b"X: a\r\n"),
    "chunk-line": (CHUNKED + b"1;", b"a"),
    "chunk": (CHUNKED + b"fffff\r\n", b"a"),
    "chunks": (CHUNKED, b"1\r\na\r\n"),
    "trailer": (CHUNKED + b"0\r\nX: ", b"a"),
    "trailers": (CHUNKED + b"0\r\n", b"X: a\r\n"),
    "length": (OK + b"Content-Length: 9999999\r\n\r\n", b"a"),
    "no-length": (OK + b"\r\n", b"a"),
    "error": (b"HTTP/1.1 500 Oh\r\nX: ", b"a"),
    "silence": (OK, b""),
}


@contextmanager
def trickling(first: bytes, then: bytes) -> Iterator[tuple[int, Event]]:
    """Serve one client until it leaves; yield the port, and the event of its leaving."""
    left, ended = Event(), Event()

    def serve() -> None:
        client, _ = server.accept()
        with client, suppress(OSError):
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.recv(1 << 16)
            client.sendall(first)
            while then and not ended.is_set():
                for byte in then:
                    client.sendall(bytes([byte]))
                    ended.wait(0.002)
            while client.recv(1 << 16):
                pass
        left.set()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1], left
        finally:
            ended.set()
    thread.join(60)


@pytest.mark.parametrize("part", TRICKLED)
def test_no_part_of_a_response_outlasts_the_time(part: str) -> None:
    from eosctl.collect.metrics.endpoint_http import fetch

    with trickling(*TRICKLED[part]) as (port, left):
        with pytest.raises(EosctlError, match="does not answer"):
            fetch(f"http://127.0.0.1:{port}/metrics", 300)
        assert left.wait(60), "the connection is closed"


def test_a_handshake_that_never_ends_does_not_either() -> None:
    with trickling(b"", b"") as (port, _), pytest.raises(OSError, match="timed out"):
        open_until(urllib.request.Request(f"https://127.0.0.1:{port}/"), 0.3)


def test_a_whole_response_arrives() -> None:
    whole = CHUNKED + b"3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"
    with trickling(whole, b"") as (port, left):
        with open_until(urllib.request.Request(f"http://127.0.0.1:{port}/"), 60) as response:
            assert isinstance(response, http.client.HTTPResponse)
            assert response.read() == b"abcde"
        assert left.wait(60)
