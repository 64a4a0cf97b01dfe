"""``doctor --profile`` with a pattern: a row for each cluster."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl


@pytest.fixture
def closed_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return a port of two profiles that no process listens on."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    for name in ("prod-ams", "prod-fra", "dev"):
        assert eosctl("profile", "add", name, "-b", f"127.0.0.1:{port}").code == 0
    return port


def test_unread_clusters_are_rows_and_fail_the_run(closed_port: int) -> None:
    done = eosctl("doctor", "--profile", "prod-*", "-o", "json")
    assert done.code == 1
    assert [(item["profile"], item["grade"], item["score"]) for item in done.json["items"]] == [
        ("prod-ams", "-", None),
        ("prod-fra", "-", None),
    ]
    assert all(str(closed_port) in item["failure"] for item in done.json["items"])
    assert done.err.count("not read") == 2
    table = eosctl("doctor", "--profile", "prod-*").out
    assert table.count("not read: Cannot connect") == 2


@pytest.mark.usefixtures("closed_port")
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("-b", "h:1"), "-b were both given"),
        (("--watch",), "--watch were both given"),
        (("--save-snapshot", "s.json"), "--save-snapshot were both given"),
        (("-o", "sarif"), "shows one cluster"),
    ],
)
def test_what_is_about_one_cluster_is_refused(options: tuple[str, ...], reason: str) -> None:
    done = eosctl("doctor", "--profile", "prod-*", *options)
    assert done.code == 2
    assert reason in done.err
