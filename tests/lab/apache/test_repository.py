"""Jars from a Maven repository without Maven: complete, unchanged, and with credentials for that host only."""

from __future__ import annotations

import base64
import hashlib
import http.server
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import socket

import pytest

from eosctl.errors import UsageError
from eosctl.lab.apache import repository
from eosctl.lab.apache.jars import resolve_jars, source_of_jars
from eosctl.lab.apache.releases import RELEASES, KafkaRelease
from eosctl.lab.apache.repository import SETTING, parse_repository
from eosctl.lab.engine import EngineError

JARS = {f"org/apache/kafka/part-{n}/4.3.1/part-{n}-4.3.1.jar": b"jar %d " % n * (10_000 + n) for n in range(9)}
FIRST = next(iter(JARS))
LOGIN = "Basic " + base64.b64encode(b"kim:geheim+1").decode()


class Served:
    """The files of a repository, its received requests, and its injected errors."""

    def __init__(self) -> None:
        self.jars = {f"/maven2/{place}": data for place, data in JARS.items()}
        self.asked: Counter[str] = Counter()
        self.logins: set[str | None] = set()
        self.failures: dict[str, list[int]] = {}  # statuses to answer with first, by path
        self.cut: set[str] = set()
        self.elsewhere = ""  # where everything is to be had
        self.wants: str | None = None
        self.url = ""


@pytest.fixture
def served() -> Iterator[Served]:
    with serve() as one:
        yield one


class serve:  # noqa: N801 - a context manager that reads as a verb
    """Run a repository on loopback."""

    def __enter__(self) -> Served:
        served = Served()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                served.asked[self.path] += 1
                login = self.headers["Authorization"]
                served.logins.add(login)
                failures = served.failures.get(self.path)
                data = served.jars.get(self.path)
                if served.wants is not None and login != served.wants:
                    self.send_error(401)
                elif failures:
                    self.send_error(failures.pop(0))
                elif served.elsewhere:
                    self.send_response(302)
                    self.send_header("Location", served.elsewhere + self.path)
                    self.end_headers()
                elif data is None:
                    self.send_error(404)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data[: len(data) // 2] if self.path in served.cut else data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        served.url = f"http://127.0.0.1:{self._server.server_port}"
        return served

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KafkaRelease:
    """A release of nine jars, on a machine without Maven."""
    lock = tmp_path / "lock"
    lock.write_text("".join(f"{hashlib.sha256(data).hexdigest()}  {place}\n" for place, data in JARS.items()), "utf-8")

    class Small(KafkaRelease):
        @property
        def lock(self) -> Path:
            return lock

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(repository, "_PAUSE_S", 0.0)
    return Small("4.3.1", "", "", (), 17)


def fetch(release: KafkaRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> dict[str, bytes]:
    monkeypatch.setenv(SETTING, url)
    found = resolve_jars(release, tmp_path / "cache")
    return {path.name: path.read_bytes() for path in found.iterdir()}


def assert_nothing_is_left(tmp_path: Path) -> None:
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["4.3.1.guard"]


def test_every_jar_is_fetched_once_and_kept(
    release: KafkaRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    expected = {place.rpartition("/")[2]: data for place, data in JARS.items()}
    for _ in range(2):
        assert fetch(release, tmp_path, monkeypatch, f"{served.url}/maven2/") == expected
    assert served.asked == dict.fromkeys(served.jars, 1)
    assert served.logins == {None}


def test_progress_is_reported(
    release: KafkaRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    heard: list[str] = []
    monkeypatch.setenv(SETTING, f"{served.url}/maven2")
    resolve_jars(release, tmp_path / "cache", heard.append)
    assert heard[0].startswith("1 of 9 jars") and heard[-1] == "9 of 9 jars, 1 MiB"


def test_a_server_that_fails_for_a_moment_is_asked_again(
    release: KafkaRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    served.failures[f"/maven2/{FIRST}"] = [503, 429]
    assert len(fetch(release, tmp_path, monkeypatch, f"{served.url}/maven2")) == len(JARS)
    assert served.asked[f"/maven2/{FIRST}"] == 3


def test_credentials_are_not_sent_to_redirect_targets(
    release: KafkaRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    with serve() as other:
        served.wants, served.elsewhere = LOGIN, other.url
        address = served.url.replace("//", "//kim:geheim%2B1@")
        assert len(fetch(release, tmp_path, monkeypatch, f"{address}/maven2")) == len(JARS)
        assert (served.logins, other.logins) == ({LOGIN}, {None})


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda served: served.jars.pop(f"/maven2/{FIRST}"), rf"(?s)There is no http.*{FIRST}\..*404.*root"),
        (lambda served: served.jars.update({f"/maven2/{FIRST}": b"other"}), r"(?s)not the jar.*SHA-256.*must not"),
        (lambda served: served.cut.add(f"/maven2/{FIRST}"), r"(?s)could not be fetched.*bytes early"),
        (lambda served: served.failures.update({f"/maven2/{FIRST}": [500] * 9}), r"(?s)could not be .*500.*later"),
        (lambda served: setattr(served, "wants", "another"), r"(?s)does not give out.*refuses these cred.*PASSWORD@"),
    ],
    ids=["lacking", "changed", "cut", "failing", "refused"],
)
def test_what_is_wrong_is_said_and_nothing_is_kept(
    release: KafkaRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Served, break_it, words: str
) -> None:
    break_it(served)
    with pytest.raises(EngineError, match=words) as caught:
        fetch(release, tmp_path, monkeypatch, served.url.replace("//", "//kim:geheim@") + "/maven2")
    assert "geheim" not in str(caught.value)
    assert_nothing_is_left(tmp_path)


def test_required_and_rejected_credentials_are_distinguished(
    release: KafkaRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    served.wants = LOGIN
    with pytest.raises(EngineError, match="It wants credentials"):
        fetch(release, tmp_path, monkeypatch, f"{served.url}/maven2")


def test_a_closed_port(release: KafkaRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket()) as bound:  # it does not listen
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(EngineError, match=r"(?s)could not be fetched.*refused.*EOSCTL_MAVEN_REPOSITORY"):
            fetch(release, tmp_path, monkeypatch, f"http://127.0.0.1:{bound.getsockname()[1]}")
    assert_nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "http://kim:geheim@repository.example/maven2",
        "ftp://kim:geheim@repository.example",
        "kim:geheim@repository.example",
        "https://kim:geheim@",
        "https://kim:geheim@host:port",
        "https://[kim:geheim@",
    ],
)
def test_an_invalid_address_is_refused_without_showing_it(
    text: str, release: KafkaRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="https://HOST/PATH") as caught:
        fetch(release, tmp_path, monkeypatch, text)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (" https://repository.example/maven2/ ", "https://repository.example/maven2"),
        ("https://kim:geheim@repository.example:8443", "https://repository.example:8443"),
        ("http://[::1]:8081/repository/central", "http://[::1]:8081/repository/central"),
        ("http://localhost", "http://localhost"),
    ],
)
def test_addresses_are_taken_and_shown_without_credentials(text: str, url: str) -> None:
    read = parse_repository(text)
    assert read.url == url
    assert "geheim" not in repr(read)
    assert source_of_jars({SETTING: text}) == f"from {url}"


def test_without_the_setting_maven_is_the_source(tmp_path: Path) -> None:
    assert source_of_jars({SETTING: " ", "PATH": str(tmp_path)}) == ""
    (tmp_path / "mvn").touch(0o755)
    assert source_of_jars({"PATH": str(tmp_path)}) == "with Maven"


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.version)
def test_the_places_of_a_release_are_a_repositorys(release: KafkaRelease) -> None:
    for line in release.lock.read_text("utf-8").splitlines():
        _, place = line.split()
        *group, artifact, version, name = place.split("/")
        assert group and name.startswith(f"{artifact}-{version}") and name.endswith(".jar")
