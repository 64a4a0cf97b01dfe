"""A Prometheus endpoint for a cluster, which collects periodically and returns the last result."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import re
from collections.abc import Awaitable, Callable
from typing import Final

from eosctl.errors import EosctlError
from eosctl.model.metric_reading import Gauge
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.monitoring.cluster_gauges import measure_cluster, unreachable

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
MAX_HEAD_BYTES: Final = 16 << 10
REQUEST_TIMEOUT_S: Final = 10.0
_REFUSED: Final = re.compile(rb"q=0(\.0*)?")


class Exporter:
    """The last result of a cluster, in the text format of Prometheus.

    Args:
        look: Takes a snapshot; an `EosctlError` means that the cluster is unreachable.
        render: Renders gauges as text.
        report: Called when the cluster becomes unreachable or reachable again.
        measure: Returns the gauges of a snapshot.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[ClusterSnapshot]],
        render: Callable[[tuple[Gauge, ...]], str],
        report: Callable[[str], None],
        measure: Callable[[ClusterSnapshot], tuple[Gauge, ...]] = measure_cluster,
    ) -> None:
        self._look = look
        self._render = render
        self._report = report
        self._measure = measure
        self._failure: str | None = None
        self.page = render(unreachable())

    async def refresh(self) -> None:
        """Collect once. A failure is exported as `eosctl_up 0` and reported when it is new."""
        try:
            gauges, failure = self._measure(await self._look()), None
        except EosctlError as error:
            gauges, failure = unreachable(), str(error)
        if failure != self._failure:
            self._report(failure or "the cluster can be asked again")
        self._failure = failure
        self.page = self._render(gauges)

    async def keep_fresh(self, interval_ms: int) -> None:
        """Collect repeatedly, with a pause after each time."""
        while True:
            await asyncio.sleep(interval_ms / 1000)
            await self.refresh()

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """Serve `GET /metrics`; see `serve_page`."""
        return await serve_page(host, port, lambda: self.page)


async def serve_page(host: str, port: int, page: Callable[[], str]) -> asyncio.Server:
    """Serve `GET /metrics` with the current result of `page`.

    Raises:
        EosctlError: The address cannot be used.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A client that sends nothing, too much, or an invalid request is disconnected.
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), REQUEST_TIMEOUT_S)
            writer.write(respond(head, page()))
            await asyncio.wait_for(writer.drain(), REQUEST_TIMEOUT_S)
        writer.close()

    try:
        return await asyncio.start_server(answer, host, port, limit=MAX_HEAD_BYTES)
    except OSError as error:
        raise EosctlError(
            f"{host}:{port} cannot be listened on.",
            error.strerror or str(error),
            "Stop the program that listens there, or choose another --listen.",
        ) from error


def respond(head: bytes, page: str) -> bytes:
    """Respond to a request: the page for `GET` or `HEAD` of `/metrics` or `/`, a line for `/healthz`, else an error.

    `/healthz` means that this program serves; `eosctl_up` on the page means that the cluster answers. The page is
    compressed for clients that accept gzip.
    """
    words = head.split(b"\r\n", 1)[0].split()
    if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
        return _response("400 Bad Request", b"GET /metrics\n")
    method, target = words[0], words[1].split(b"?", 1)[0]
    if method not in (b"GET", b"HEAD"):
        return _response("405 Method Not Allowed", b"GET /metrics\n")
    if target == b"/healthz":
        return _response("200 OK", b"serving\n", with_body=method == b"GET")
    if target not in (b"/metrics", b"/"):
        return _response("404 Not Found", b"GET /metrics\n")
    body, fields = page.encode(), "Vary: Accept-Encoding\r\n"
    if _accepts_gzip(head):
        body, fields = gzip.compress(body, mtime=0), f"{fields}Content-Encoding: gzip\r\n"
    return _response("200 OK", body, with_body=method == b"GET", fields=fields)


def _accepts_gzip(head: bytes) -> bool:
    """Return whether the request accepts gzip; a quality of zero refuses it (RFC 9110)."""
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"accept-encoding":
            for coding in value.lower().split(b","):
                word, *parameters = (part.replace(b" ", b"") for part in coding.split(b";"))
                refused = any(_REFUSED.fullmatch(one) for one in parameters)
                if word == b"gzip" and not refused:
                    return True
    return False


def _response(status: str, body: bytes, *, with_body: bool = True, fields: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\n{fields}Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + (body if with_body else b"")
