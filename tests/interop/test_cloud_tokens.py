"""The clouds' packages issue tokens: Amazon's signs offline, the others query a stand-in for the machine's identity."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from eosctl.client import tokens
from eosctl.client.tokens import fetch_token
from eosctl.model.client_config import CloudLogin, CloudProvider

LIFETIME_S = 3_000


def reply_to(path: str) -> dict[str, object] | str:
    """Return what Google's metadata server and Azure's identity endpoint answer."""
    if path.endswith("/token") or "/token?" in path:
        return {"access_token": "ya29.real", "expires_in": LIFETIME_S, "token_type": "Bearer"}
    if "service-accounts" in path:
        return {"email": "sa@project", "scopes": ["x"], "aliases": ["default"]}
    if "resource=" in path:
        resource = parse_qs(urlsplit(path).query)["resource"][0]
        return {"access_token": resource, "expires_on": str(int(time.time()) + LIFETIME_S), "token_type": "Bearer"}
    return "project"


@pytest.fixture(autouse=True)
def identity_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reply = reply_to(self.path)
            body = reply.encode() if isinstance(reply, str) else json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Metadata-Flavor", "Google")
            self.send_header("Content-Type", "application/text" if isinstance(reply, str) else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    monkeypatch.setattr(tokens, "_kept", {})
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        address = f"127.0.0.1:{server.server_port}"
        for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP"):
            monkeypatch.setenv(name, address)
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://{address}/msi")
        monkeypatch.setenv("IDENTITY_HEADER", "any")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_amazons_package_signs_for_the_region() -> None:
    token = decoded(fetch_token(CloudLogin(CloudProvider.AWS, "b", "eu-central-1")).reveal())
    assert token.startswith(b"https://kafka.eu-central-1.amazonaws.com/?Action=kafka-cluster%3AConnect&")
    assert b"AKIAEXAMPLE" in token
    assert b"hunter2" not in token


def test_azures_package_asks_for_the_namespace() -> None:
    token = fetch_token(CloudLogin(CloudProvider.AZURE, "ns.servicebus.windows.net"))
    assert token.reveal() == "https://ns.servicebus.windows.net"


def test_googles_package_asks_the_metadata_server() -> None:
    _, claims, wrapped = map(decoded, fetch_token(CloudLogin(CloudProvider.GOOGLE, "b")).reveal().split("."))
    assert wrapped == b"ya29.real"
    assert json.loads(claims)["sub"] == "sa@project"
    assert json.loads(claims)["exp"] > time.time()
