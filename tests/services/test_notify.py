"""Failing results go to a webhook, whose secret is not shown."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.errors import EosctlError, UsageError
from eosctl.findings.fleet import ClusterRow
from eosctl.services.notify import fleet_lines, resolve_address, send
from tests.checks.cases import build
from tests.commands.conftest import eosctl
from tests.commands.conftest import snapshot_file as snapshot_file

pytestmark = pytest.mark.usefixtures("own_home")

SECRET = "/services/T0AAAAAAA/B0BBBBBBB/cccccccccccccccccccccccc"


class Hook:
    """A webhook on the loopback, and what was posted to it."""

    def __init__(self) -> None:
        self.posted: list[Any] = []
        self.status = 200
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                hook.posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(hook.status)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def hook() -> Iterator[Hook]:
    found = Hook()
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


def test_a_failing_result_is_sent(hook: Hook, snapshot_file: Path) -> None:
    done = eosctl("doctor", "--snapshot", snapshot_file, "--notify", f"{hook.address}/hook")
    assert done.code == 3
    (message,) = hook.posted
    assert message["text"].startswith("eosctl doctor: cluster ")
    assert "CRITICAL EOS-" in message["text"]


def test_a_healthy_result_is_not_sent(hook: Hook, tmp_path: Path) -> None:
    save_snapshot(build({}), tmp_path / "well.json")
    assert eosctl("doctor", "--snapshot", tmp_path / "well.json", "--notify", f"{hook.address}/hook").code == 0
    assert hook.posted == []


def test_with_a_comparison_only_changes_are_sent(hook: Hook, snapshot_file: Path) -> None:
    command = ("doctor", "--snapshot", snapshot_file, "--since-last", "--notify", f"{hook.address}/hook")
    assert [eosctl(*command).code for _ in range(2)] == [3, 3]
    assert len(hook.posted) == 1


def test_an_address_with_a_secret_is_a_reference(tmp_path: Path) -> None:
    for address in (f"https://hooks.example.org{SECRET}", "https://user:word@h/x", "https://h/x?token=1"):
        with pytest.raises(UsageError) as refused:
            resolve_address(address)
        assert "cccc" not in str(refused.value) + refused.value.why
        assert resolve_address("${HOOK}", {"HOOK": address}) == address
    file = tmp_path / "hook"
    file.write_text(f"https://hooks.example.org{SECRET}\n", "utf-8")
    assert resolve_address(f"${{file:{file}}}", {}) == f"https://hooks.example.org{SECRET}"
    for wrong in ("ftp://h/x", "not an address", "https://"):
        with pytest.raises(UsageError):
            resolve_address(wrong)


def test_a_refused_message_is_reported_without_the_address(hook: Hook) -> None:
    hook.status = 500
    with pytest.raises(EosctlError) as failed:
        send(f"{hook.address}{SECRET}", ["text"])
    assert "127.0.0.1" in failed.value.what
    assert "cccc" not in f"{failed.value.what} {failed.value.why} {failed.value.next_step}"


def test_a_refused_message_keeps_the_exit_code_of_findings(hook: Hook, snapshot_file: Path) -> None:
    hook.status = 500
    done = eosctl("doctor", "--snapshot", snapshot_file, "--notify", f"{hook.address}/hook")
    assert (done.code, "did not accept the message" in done.err) == (3, True)


def test_markup_and_passwords_are_not_sent(hook: Hook) -> None:
    send(f"{hook.address}/hook", ["<!channel> a & b", "sasl.password=hunter2"])
    assert hook.posted[0]["text"].startswith("&lt;!channel&gt; a &amp; b")
    assert "hunter2" not in hook.posted[0]["text"]


def test_a_fleet_sends_the_clusters_that_fail() -> None:
    rows = (
        ClusterRow(profile="well", exit_code=0, grade="A"),
        ClusterRow(profile="ill", exit_code=3, grade="F", critical=1, first="EOS-TXN-001 Hanging: orders-2"),
        ClusterRow(profile="away", exit_code=1, failure="No answer."),
    )
    assert fleet_lines(rows) == [
        "ill: grade F, 1 critical, 0 error, 0 warning. EOS-TXN-001 Hanging: orders-2",
        "away: not read: No answer.",
    ]
