"""How a session of the language server ends, and what messages outside of the protocol do to it."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.servers.conftest import program

INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
SHUTDOWN = b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}'
EXIT = b'{"jsonrpc":"2.0","method":"exit"}'
HOVER = {"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover"}
PARAMS: list[object] = [
    None,
    [],
    "x",
    {"textDocument": 3},
    {"textDocument": {"uri": "file:///a"}, "position": -1},
]
PASSWORD = "hunter2-Xk29"


def session(*messages: bytes) -> subprocess.CompletedProcess[bytes]:
    command, arguments, environment = program("lsp")
    text = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(one), one) for one in messages)
    return subprocess.run(
        [command, *arguments], input=text, capture_output=True, env={**os.environ, **environment}, check=False
    )


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ((INITIALIZE, SHUTDOWN, EXIT), 0),
        ((INITIALIZE, SHUTDOWN), 0),
        ((INITIALIZE, EXIT), 1),
        ((EXIT,), 1),
    ],
)
def test_exit_without_shutdown_has_status_1(messages: tuple[bytes, ...], code: int) -> None:
    done = session(*messages)
    assert done.returncode == code
    assert done.stderr.splitlines()[:1] == ([b"error: The editor ended the server without a shutdown request."] * code)


def test_hostile_messages_leave_lines_and_a_server() -> None:
    hostile = [
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b'{"a":"\xff"}',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"jsonrpc":"2.0","id":NaN,"method":"x"}',
        b'{"jsonrpc":"2.0","id":5,"method":"x/\\u001b[31m password=%s"}' % PASSWORD.encode(),
        *(json.dumps({**HOVER, "params": params}).encode() for params in PARAMS),
    ]
    done = session(INITIALIZE, *hostile, SHUTDOWN, EXIT)
    assert done.returncode == 0
    assert b'"id": 2' in done.stdout
    assert b"Unable to handle message" in done.stderr
    assert not [word for word in (b"Traceback", b"\x1b", PASSWORD.encode()) if word in done.stderr]


def test_each_request_of_a_wrong_form_is_answered() -> None:
    places = [{"line": 0, "character": -5}, {"line": -1, "character": 0}, {"line": 0, "character": "x"}, {}, 3]
    whole = [{"textDocument": {"uri": "file:///a"}, "position": place} for place in places]
    hovers = [{**HOVER, "id": 10 + at, "params": params} for at, params in enumerate([*whole, {}, *PARAMS])]
    named = {**HOVER, "id": "h", "params": {}}
    unanswered = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {}}
    sent = [json.dumps(one).encode() for one in (*hovers, named, unanswered)]
    done = session(INITIALIZE, *sent, SHUTDOWN, EXIT)
    bodies = [part.partition(b"Content-Length")[0] for part in done.stdout.split(b"\r\n\r\n")[1:]]
    answers = {one["id"]: one["error"]["code"] for one in map(json.loads, bodies) if "error" in one}
    assert answers == {one["id"]: -32602 for one in (*hovers, named)}
    assert done.returncode == 0


def test_a_length_of_many_digits_is_ignored() -> None:
    command, arguments, environment = program("lsp")
    header = b"Content-Length: %s\r\n\r\n{}" % (b"9" * 5_000)
    done = subprocess.run(
        [command, *arguments], input=header, capture_output=True, env={**os.environ, **environment}, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_work_that_the_end_cancels_leaves_no_trace() -> None:
    document = {"uri": "file:///a.properties", "languageId": "x", "version": 1, "text": "acks=1\ntransactional.id=a\n"}
    opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}
    done = session(INITIALIZE, json.dumps(opened).encode())
    assert (done.returncode, done.stderr) == (0, b"")
