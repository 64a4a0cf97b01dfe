"""Messages that the protocol does not know, and clients that stop reading, over the wire of ``eosctl mcp``."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.servers.wire import read_lines
from tests.servers.conftest import program

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
CALL = b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":%s}'
REFUSED = [
    (b"hello", -32700, None),
    (b"\xff\xfe{}", -32700, None),
    (b"[" * 200_000, -32700, None),
    (b'{"id":%s}' % (b"9" * 5_000), -32700, None),
    (b"[]", -32600, None),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
    (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', -32600, None),
    (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a"),
    (CALL % b'"x"', -32600, 9),
    (CALL % b'{"name":"explain","arguments":{"question":"\\ud800 x"}}', -32600, 9),
    (CALL % b'{"name":"explain","arguments":[1]}', -32602, 9),
]


@contextmanager
def server() -> Iterator[subprocess.Popen[bytes]]:
    """Start the server and its session."""
    command, arguments, environment = program("mcp")
    with subprocess.Popen(
        [command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as process:  # fmt: skip
        assert answer(process, json.dumps(INITIALIZE).encode())["id"] == 1
        send(process, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield process


def send(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[bytes], line: bytes) -> Any:
    send(process, line)
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_each_line_that_is_not_a_message_is_answered() -> None:
    with server() as process:
        for line, code, request in REFUSED:
            found = answer(process, line)
            assert (found["error"]["code"], found["id"]) == (code, request), line[:80]
        send(process, b"  \r")
        assert answer(process, b'{"jsonrpc":"2.0","id":2,"method":"ping"}') == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize("line", [b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}', b"hello"])
def test_the_server_ends_when_its_client_stops_reading(line: bytes) -> None:
    with server() as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        send(process, line)
        assert (process.wait(), process.stderr.read()) == (0, b"")


def test_a_call_that_runs_does_not_hold_up_the_end() -> None:
    with server() as process:
        assert process.stdin is not None
        send(process, CALL % json.dumps({"name": "lint", "arguments": {"paths": ["/"]}}).encode())
        process.stdin.close()
        assert process.wait() == 0


@given(st.lists(st.binary(max_size=5), max_size=8), st.binary(max_size=5))
def test_lines_are_whole_however_they_arrive(chunks: list[bytes], last: bytes) -> None:
    reading, writing = os.pipe()
    got: list[bytes | None] = []
    reader = threading.Thread(target=read_lines, args=(reading, got.append))
    reader.start()
    for chunk in (*chunks, last):
        os.write(writing, chunk)
    os.close(writing)
    reader.join()
    os.close(reading)
    lines = b"".join((*chunks, last)).split(b"\n")
    assert got == [*lines[:-1], *filter(None, lines[-1:]), None]
