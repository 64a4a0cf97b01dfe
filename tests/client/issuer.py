"""An issuer of OAuth 2 tokens on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

#: `ops` and `word`, as HTTP's basic authentication sends them.
GOOD_LOGIN: Final = "Basic b3BzOndvcmQ="


class Issuer:
    """What the issuer answers, and what it was sent."""

    def __init__(self, url: str, reply: Mapping[str, object] | bytes) -> None:
        self.url = url
        self.reply = reply
        self.status = 200
        self.location = ""
        self.forms: list[str] = []


@contextmanager
def issuer(reply: Mapping[str, object] | bytes) -> Iterator[Issuer]:
    """Run an issuer that gives `reply` to the client `ops` with the secret `word`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            known.forms.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            status, reply = known.status, known.reply
            if self.headers["Authorization"] != GOOD_LOGIN:
                status, reply = 401, {"error": "invalid_client", "error_description": "Bad secret"}
            body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(status)
            if known.location:
                self.send_header("Location", known.location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # noqa: N815 - the name that the base class calls

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        known = Issuer(f"http://127.0.0.1:{server.server_port}/token", reply)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield known
        finally:
            server.shutdown()
            thread.join()
