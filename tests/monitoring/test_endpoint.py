"""The endpoint answers as HTTP and Prometheus want, to real clients over loopback."""

from __future__ import annotations

import asyncio
import base64
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
import trustme

from eosctl.model.metric_reading import Gauge, GaugeSample
from eosctl.model.secret import Secret
from eosctl.monitoring.endpoint import OPEN, PLAIN_TEXT, Access, Page, Present, plain_page, respond, serve
from eosctl.settings.clusters.endpoint_access import server_context
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.monitoring.prometheus import serving_port

READER = Access(username="prom", password=Secret("p:ä"))
PLAIN = plain_page(lambda: "page\n")


@contextmanager
def serving(present: Present, access: Access = OPEN) -> Iterator[int]:
    """Serve in a thread, and yield the port."""
    ready, ended = Event(), Event()
    ports: list[int] = []

    async def run() -> None:
        async with await serve("127.0.0.1", 0, present, access) as server:
            ports.append(server.sockets[0].getsockname()[1])
            ready.set()
            await asyncio.to_thread(ended.wait)

    thread = Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert ready.wait(60)
    try:
        yield ports[0]
    finally:
        ended.set()
        thread.join()


def test_the_connection_ends_when_a_page_fails() -> None:
    def fails(_: object) -> Page:
        raise ZeroDivisionError

    async def run() -> bytes:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        async with await serve("127.0.0.1", 0, fails) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            read = await reader.read()
            writer.close()
            return read

    assert asyncio.run(run()) == b""


def get(
    port: int, path: str = "/metrics", tls: ssl.SSLContext | None = None, **fields: str
) -> tuple[int, dict[str, str], bytes]:
    if tls is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    else:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=tls)
    try:
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def basic(username: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /metrics HTTP/1.1\r\n\r\n", b"200"),
        (b"GET /metrics?x=1 HTTP/1.1\r\n\r\n", b"200"),
        (b"HEAD / HTTP/1.0\r\n\r\n", b"200"),
        (b"GET /secrets HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", b"405"),
        (b"\x16\x03\x01\r\n\r\n", b"400"),
    ],
)
def test_requests_are_answered_as_http_wants(head: bytes, status: bytes) -> None:
    answer = respond(head, PLAIN)
    assert answer.split()[1] == status
    body = answer.partition(b"\r\n\r\n")[2]
    assert (body == b"page\n") == (status == b"200" and head.startswith(b"GET"))


@pytest.mark.parametrize(
    ("host", "access", "status"),
    [
        ("127.0.0.1:9308", OPEN, 200),
        ("[::1]:9308", OPEN, 200),
        ("LOCALHOST.", OPEN, 200),
        ("exporter.localhost:9308", OPEN, 200),
        ("rebound.example:9308", OPEN, 403),
        ("localhost.rebound.example", OPEN, 403),
        ("127.0.0.1, rebound.example", OPEN, 403),
        ("", OPEN, 403),
        ("rebound.example", READER, 401),  # A page of another site does not have the password.
    ],
)
def test_pages_of_other_sites_cannot_read_loopback(host: str, access: Access, status: int) -> None:
    with serving(PLAIN, access) as port:
        assert get(port, Host=host)[0] == status
        assert get(port, "/healthz", Host=host)[0] == 200


def test_a_network_listener_has_any_name() -> None:
    assert respond(b"GET / HTTP/1.1\r\nHost: exporter.example\r\n\r\n", PLAIN).split()[1] == b"200"


def test_a_page_is_served_as_plain_text() -> None:
    with serving(PLAIN) as port:
        status, fields, body = get(port, Accept="application/openmetrics-text", Accept_Encoding="gzip")
    assert (status, fields["content-type"], body) == (200, PLAIN_TEXT, b"page\n")
    assert "content-encoding" not in fields


def test_health_is_that_of_the_exporter() -> None:
    def fails(_: object) -> Page:
        raise AssertionError("the page is not needed")

    with serving(fails, READER) as port:
        assert get(port, "/healthz")[::2] == (200, b"serving\n")
    assert not respond(b"HEAD /healthz HTTP/1.1\r\n\r\n", fails).endswith(b"serving\n")


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (basic("prom", "p:ä"), 200),
        (basic("prom", "p:ä").replace("Basic", "bASIC"), 200),
        (basic("prom", "p"), 401),
        (basic("prom:p", "ä"), 200),  # The same bytes: a user has no colon.
        (basic("other", "p:ä"), 401),
        (basic("", ""), 401),
        ("Basic", 401),
        ("Basic ???", 401),
        ("Bearer " + basic("prom", "p:ä").split()[1], 401),
        ("", 401),
    ],
)
@pytest.mark.parametrize("path", ["/metrics", "/", "/other"])
def test_readers_need_the_password(given: str, status: int, path: str) -> None:
    with serving(PLAIN, READER) as port:
        answered, fields, body = get(port, path, **({"Authorization": given} if given else {}))
    expected = 404 if (status, path) == (200, "/other") else status
    assert answered == expected
    assert (body == b"page\n") == (expected == 200)
    assert ("www-authenticate" in fields) == (expected == 401)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def pem(authority: trustme.CA, folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "exporter.crt", folder / "exporter.key"
    issued = authority.issue_cert("127.0.0.1")
    certificate.write_bytes(b"".join(one.bytes() for one in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return certificate, key


def test_pages_travel_over_tls(authority: trustme.CA, tmp_path: Path) -> None:
    trusting, strict = ssl.create_default_context(), ssl.create_default_context()
    authority.configure_trust(trusting)
    with serving(PLAIN, Access(tls=server_context(*pem(authority, tmp_path)))) as port:
        assert get(port, tls=trusting)[2] == b"page\n"
        with pytest.raises(ssl.SSLCertVerificationError):
            get(port, tls=strict)
        with pytest.raises((http.client.HTTPException, OSError)):
            get(port)
        old = ssl.create_default_context()
        authority.configure_trust(old)
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        assert get(port, tls=old)[0] == 200


def test_a_silent_client_does_not_hold_up_others(authority: trustme.CA, tmp_path: Path) -> None:
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with (
        serving(PLAIN, Access(tls=server_context(*pem(authority, tmp_path)))) as port,
        socket.create_connection(("127.0.0.1", port)),
    ):
        assert get(port, tls=trusting)[2] == b"page\n"


def encrypted(certificate: Path, key: Path) -> None:
    from cryptography.hazmat.primitives import serialization

    loaded = serialization.load_pem_private_key(key.read_bytes(), None)
    form = serialization.PrivateFormat.PKCS8
    locked = serialization.BestAvailableEncryption(b"canary-key")
    key.write_bytes(loaded.private_bytes(serialization.Encoding.PEM, form, locked))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda certificate, key: certificate.unlink(),
        lambda certificate, key: key.write_text("not a key"),
        lambda certificate, key: certificate.write_bytes(key.read_bytes()),
        lambda certificate, key: key.write_bytes(trustme.CA().issue_cert("x").private_key_pem.bytes()),
        encrypted,
    ],
    ids=["missing", "no-key", "no-certificate", "another-key", "encrypted"],
)
def test_files_that_make_no_server_are_reported(
    spoil: Callable[[Path, Path], object], authority: trustme.CA, tmp_path: Path
) -> None:
    certificate, key = pem(authority, tmp_path)
    spoil(certificate, key)
    done = eosctl("exporter", "-b", "127.0.0.1:1", "--tls-cert", certificate, "--tls-key", key)
    assert done.code == 2
    assert "cannot be used for TLS" in done.err
    assert "canary" not in done.err


@pytest.mark.parametrize(
    ("text", "environment", "words"),
    [
        ("username=prom", {}, "One of them is missing"),
        ("token=canary-token", {}, "has no password"),
        ("username=prom\npassword=", {}, "not usable"),
        ("username=a:b\npassword=canary-word", {}, "not usable"),
        ("username=prom\npassword=${env:NOWHERE}", {}, "NOWHERE"),
        ("", {"EOSCTL_EXPORTER_USERNAME": "prom"}, "go together"),
        ("", {"EOSCTL_EXPORTER_PASSWORD": "canary-word"}, "go together"),
        ("", {"EOSCTL_EXPORTER_USERNAME": "prom", "EOSCTL_EXPORTER_PASSWORD": ""}, "not usable"),
    ],
)
def test_credentials_that_protect_nothing_are_refused(
    text: str, environment: dict[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "readers.properties"
    path.write_text(text)
    done = eosctl("exporter", "-b", "127.0.0.1:1", *(("--credentials", path) if text else ()))
    assert done.code == 2
    assert words in done.err
    assert "canary" not in done.err


def test_a_certificate_needs_its_key(tmp_path: Path) -> None:
    done = eosctl("exporter", "-b", "127.0.0.1:1", "--tls-cert", tmp_path / "a.crt")
    assert (done.code, "--tls-cert and --tls-key go together" in done.err) == (2, True)


def test_the_command_serves_over_tls_to_readers(authority: trustme.CA, tmp_path: Path) -> None:
    certificate, key = pem(authority, tmp_path)
    credentials = tmp_path / "readers.properties"
    credentials.write_text("username=prom\npassword=${env:READER_PASSWORD}\n")
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with SandboxThread() as cluster:
        command = [sys.executable, "-m", "eosctl", "exporter", "-b", cluster.bootstrap]
        # A port that a test chooses may be another program's by the time that the server starts.
        command += ["--listen", "127.0.0.1:0", "--tls-cert", str(certificate), "--tls-key", str(key)]
        environment = os.environ | {"READER_PASSWORD": "word"}
        with subprocess.Popen(
            [*command, "--credentials", str(credentials)], stderr=subprocess.PIPE, text=True, env=environment
        ) as process:
            assert process.stderr is not None
            try:
                port = serving_port(process.stderr)
                assert get(port, tls=trusting)[0] == 401
                assert get(port, "/healthz", tls=trusting)[0] == 200
                status, _, body = get(port, tls=trusting, Authorization=basic("prom", "word"))
                assert (status, b"eosctl_up " in body) == (200, True)
            finally:
                process.send_signal(signal.SIGINT)
            assert "word" not in process.stderr.read()


class TestNegotiation:
    """The formats of prometheus_client."""

    GAUGES = (
        Gauge("eosctl_up", "Whether it is up.", (GaugeSample((), 1),)),
        Gauge("eosctl_empty", "Nothing.", ()),
        Gauge(
            "eosctl_ended_total",
            "Ends.",
            (GaugeSample((("outcome", 'a"b\\c\nd'),), 3), GaugeSample((("outcome", "x"),), 0)),
            is_counter=True,
        ),
    )

    @pytest.fixture(autouse=True)
    def present(self) -> Present:
        pytest.importorskip("prometheus_client", reason="the exporter extra is not installed")
        from eosctl.monitoring.exposition import negotiated_page

        return negotiated_page(lambda: self.GAUGES)

    def test_prometheus_receives_openmetrics(self, present: Present) -> None:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families

        with serving(present) as port:
            _, fields, body = get(port, Accept="application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5")
        assert fields["content-type"].startswith("application/openmetrics-text; version=1.0.0")
        assert body.endswith(b"# EOF\n")
        found = {family.name: family for family in text_string_to_metric_families(body.decode())}
        assert found.keys() == {"eosctl_up", "eosctl_ended"}
        assert [(s.name, s.labels, s.value) for s in found["eosctl_ended"].samples] == [
            ("eosctl_ended_total", {"outcome": 'a"b\\c\nd'}, 3),
            ("eosctl_ended_total", {"outcome": "x"}, 0),
        ]

    def test_others_receive_the_text_format(self, present: Present) -> None:
        with serving(present) as port:
            _, fields, body = get(port)
        assert fields["content-type"].startswith("text/plain; version=0.0.4")
        assert b"# TYPE eosctl_ended_total counter\n" in body
        assert b'eosctl_ended_total{outcome="a\\"b\\\\c\\nd"} 3.0\n' in body
        assert b"eosctl_empty" not in body
        assert b"_created" not in body

    @pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is missing (Debian: prometheus)")
    def test_the_page_is_what_prometheus_reads(self, present: Present) -> None:
        page = present({})
        done = subprocess.run(["promtool", "check", "metrics"], input=page.body, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    @pytest.mark.parametrize("kind", ["text/plain", "application/openmetrics-text"])
    @pytest.mark.parametrize("version", ["abc", "", "\u00b2", "1.x", "9" * 5_000, "1.0.0;escaping=none"])
    def test_any_accepted_version_gets_a_page(self, kind: str, version: str, present: Present) -> None:
        assert b"eosctl_up 1.0\n" in present({"accept": f"{kind};version={version}"}).body

    @pytest.mark.parametrize(
        ("accepted", "compressed"),
        [
            ("", False),
            ("gzip", True),
            ("br;q=1, GZIP ; q=0.5", True),
            ("gzip;q=0", False),
            ("gzip; q=0.0, br", False),
            ("identity", False),
        ],
    )
    def test_pages_are_compressed_on_request(self, accepted: str, compressed: bool, present: Present) -> None:
        import gzip

        with serving(present) as port:
            _, fields, body = get(port, Accept_Encoding=accepted)
        assert (fields.get("content-encoding") == "gzip") is compressed
        assert b"eosctl_up 1.0\n" in (gzip.decompress(body) if compressed else body)
        assert fields["vary"] == "Accept, Accept-Encoding"

    def test_both_writers_agree(self, present: Present) -> None:
        from eosctl.collect.metrics.prometheus_text import parse_samples
        from eosctl.render.prometheus import render_gauges

        def values(text: str) -> list[tuple[str, tuple[tuple[str, str], ...], float]]:
            return sorted((one.name, tuple(one.labels.items()), one.value) for one in parse_samples(text))

        assert values(present({}).body.decode()) == values(render_gauges(self.GAUGES))


def test_curl_reads_the_page() -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is missing")
    with serving(PLAIN, READER) as port:
        command = ["curl", "--silent", "--show-error", "--fail", "--compressed", "--user", "prom:p:ä"]
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        done = subprocess.run(
            [*command, f"http://127.0.0.1:{port}/metrics"], capture_output=True, check=False, env=environment
        )
    assert (done.returncode, done.stdout) == (0, b"page\n"), done.stderr
