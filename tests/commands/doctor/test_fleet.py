"""``doctor --profile`` with a pattern: a row for each cluster."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from eosctl.whole_file import _GENERATOR
from tests.commands.conftest import eosctl

TEMPLATES = Path(__file__).parents[3] / "eosctl" / "render" / "templates"


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


@pytest.mark.usefixtures("closed_port")
def test_a_later_page_replaces_an_earlier_one(tmp_path: Path) -> None:
    page = tmp_path / "fleet.html"
    for _ in range(2):
        done = eosctl("doctor", "--profile", "prod-*", "-o", "html", "--output-file", page)
        assert (done.code, page.read_text()) == (1, done.out), done.err


def test_every_page_is_known_as_a_result_of_eosctl() -> None:
    pages = [path.read_bytes() for path in TEMPLATES.glob("*.html.j2")]
    written = [page for page in pages if b'name="generator"' in page]
    assert written
    assert all(_GENERATOR in page for page in written)
