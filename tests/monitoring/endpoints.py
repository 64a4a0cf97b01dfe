"""HTTP endpoints of metrics on loopback, for one test each."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Request(NamedTuple):
    """A received request."""

    path: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """What is answered."""

    body: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@contextmanager
def served(answer: Callable[[Request], Answer]) -> Iterator[str]:
    """Serve on a free port; yields ``http://HOST:PORT``."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            given = answer(Request(self.path, dict(self.headers), self.rfile.read(length)))
            self.send_response(given.status)
            for header in given.headers:
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(given.body.encode())

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            return None

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
