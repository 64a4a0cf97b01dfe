"""The part of Toxiproxy's API that sarama's tests need to start: proxies that exist, without any faults.

The brokers have the addresses of the proxies. Faults are refused, so the tests that inject them fail on every engine.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_RESET = "/reset"


class Handler(BaseHTTPRequestHandler):
    """Answers that a proxy exists, and refuses to change one."""

    def do_GET(self) -> None:
        """Return a proxy."""
        self._answer(200, b"{}")

    def do_POST(self) -> None:
        """Accept a new proxy and a reset; refuse toxics and disabled proxies."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == _RESET:
            self._answer(204, b"")
        elif self.path.endswith("/toxics") or b'"enabled":false' in body:
            self._answer(501, b"faults are not available")
        else:
            self._answer(200, body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving_proxies() -> Iterator[str]:
    """Serve the API on a free port for the duration of the block; yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
