"""An endpoint whose answer trickles is given up in time, wherever it is; labels are read in linear time."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest

from eosctl.collect.metrics.endpoint_http import fetch
from eosctl.collect.metrics.prometheus_text import parse_samples
from eosctl.errors import EosctlError

#: What stands before the part that trickles.
BEGINNINGS = {
    "status": b"HTTP/1.1 ",
    "header": b"HTTP/1.1 200 OK\r\nX-A: ",
    "body": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
    "line of a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
    "trailer": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
    "refusal": b"HTTP/1.1 500 ",
}


@contextmanager
def trickling(beginning: bytes) -> Iterator[int]:
    """Serve an answer of single bytes that never ends, and yield the port."""
    ended = Event()

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            try:
                connection.sendall(beginning)
                while not ended.wait(0.05):
                    connection.sendall(b"1")
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=answer)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            ended.set()
            thread.join()


@pytest.mark.parametrize("part", BEGINNINGS)
def test_an_answer_that_trickles_is_given_up(part: str) -> None:
    """Without a limit for all of it, the test never ends."""
    with trickling(BEGINNINGS[part]) as port, pytest.raises(EosctlError, match="does not answer"):
        fetch(f"http://127.0.0.1:{port}/metrics", 500)


@pytest.mark.parametrize("end", ["", " "])
def test_many_labels_are_read_in_linear_time(end: str) -> None:
    def copied(count: int) -> int:
        """Count the characters that are stripped."""
        size = 0

        def profile(_frame: object, event: str, function: object) -> None:
            nonlocal size
            if event == "c_call" and getattr(function, "__name__", "") == "rstrip":
                size += len(getattr(function, "__self__", ""))

        text = "kafka_x{" + 'a="",' * count + end + "} 1\n"
        sys.setprofile(profile)
        try:
            assert len(list(parse_samples(text))) == 1
        finally:
            sys.setprofile(None)
        return size

    assert copied(2_000) <= 3 * copied(1_000)
