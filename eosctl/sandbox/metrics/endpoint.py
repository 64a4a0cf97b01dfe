"""An HTTP endpoint per node on loopback: `GET /metrics` responds as jmx_exporter does, to users of the sandbox only."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hmac
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from eosctl.errors import EosctlError
from eosctl.model.loopback import may_name_loopback
from eosctl.model.secret import Secret
from eosctl.sandbox.core import ClusterCore
from eosctl.sandbox.descriptors import is_scarce
from eosctl.sandbox.metrics.node_samples import node_samples
from eosctl.sandbox.metrics.samples import CONTENT_TYPE, render_samples
from eosctl.sandbox.node import Node

HOST: Final = "127.0.0.1"
MAX_HEAD_BYTES: Final = 16 << 10
REQUEST_TIMEOUT_S: Final = 10.0
_CHALLENGE: Final = 'WWW-Authenticate: Basic realm="eosctl sandbox", charset="UTF-8"\r\n'


class MetricsEndpoints:
    """The endpoints of all nodes.

    Broker N listens on the first port + N - 1, separate controllers on the ports after the brokers. Connections to a
    stopped node are closed, as for a stopped process.
    """

    def __init__(self, core: ClusterCore, first_port: int) -> None:
        self._core = core
        self._first_port = first_port
        self._servers: list[asyncio.Server] = []

    async def open(self) -> None:
        """Start to listen.

        Raises:
            EosctlError: A port is in use.
        """
        others = [node_id for node_id in self._core.controller_ids if node_id not in self._core.broker_ids]
        hosted = self._core.hosted_ids
        for port, node_id in enumerate([*self._core.broker_ids, *others], self._first_port):
            if node_id not in hosted:
                continue
            try:
                server = await asyncio.start_server(self._answerer(node_id), HOST, port, limit=MAX_HEAD_BYTES)
            except OSError as error:
                self.close()
                raise EosctlError(
                    f"Port {port} of {HOST} cannot be used for the metrics of node {node_id}.",
                    error.strerror or str(error),
                    "Stop the program that listens there, or choose another --metrics-port.",
                ) from error
            self._servers.append(server)
        self._core.count_errors()

    def close(self) -> None:
        """Stop listening."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    def _answerer(self, node_id: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # A client that sends nothing, too much, or an invalid request is disconnected and cannot delay the brokers.
            with (
                contextlib.closing(writer),
                contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError),
            ):
                if is_scarce(writer.get_extra_info("socket").fileno()):
                    return
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), REQUEST_TIMEOUT_S)
                node = self._core.nodes.get(node_id)
                if node is not None:
                    writer.write(respond(head, node, self._core.passwords))
                    await asyncio.wait_for(writer.drain(), REQUEST_TIMEOUT_S)

        return answer


def respond(head: bytes, node: Node, passwords: Mapping[str, Secret] = MappingProxyType({})) -> bytes:
    """Respond to a request: metrics for `GET` (or `HEAD`) of `/metrics` or `/`, else an error.

    The Host field must be that of a loopback listener, so that pages of other sites in a browser cannot read metrics.

    Args:
        head: The request up to its empty line.
        node: The node.
        passwords: The users of a sandbox with SASL; one of them must log in by basic authentication (RFC 7617).
    """
    first, *lines = head.split(b"\r\n")
    words = first.split()
    if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
        return _response("400 Bad Request", b"This is an HTTP endpoint: GET /metrics\n")
    method, target = words[0], words[1].split(b"?", 1)[0]
    if method not in (b"GET", b"HEAD"):
        return _response("405 Method Not Allowed", b"GET /metrics\n")
    if not all(may_name_loopback(host) for host in _values(lines, b"host")):
        return _response("403 Forbidden", b"only for localhost: the Host field names another machine\n")
    if passwords and not _is_authentic(_values(lines, b"authorization"), passwords):
        return _response("401 Unauthorized", b"a user of the sandbox and the password are needed\n", fields=_CHALLENGE)
    if target not in (b"/metrics", b"/"):
        return _response("404 Not Found", b"GET /metrics\n")
    body = render_samples(node_samples(node)).encode()
    return _response("200 OK", body, with_body=method == b"GET")


def _values(lines: Iterable[bytes], field: bytes) -> Iterator[str]:
    for line in lines:
        name, _, value = line.partition(b":")
        if name.strip().lower() == field:
            yield value.strip().decode("latin-1")


def _is_authentic(values: Iterable[str], passwords: Mapping[str, Secret]) -> bool:
    """Return whether the only Authorization field has a user and the password."""
    first, *others = [*values, ""]
    scheme, _, given = first.partition(" ")
    if scheme.lower() != "basic" or others != [""]:
        return False
    try:
        user, _, password = base64.b64decode(given.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return False
    expected = passwords.get(user)
    return expected is not None and hmac.compare_digest(password.encode(), expected.reveal().encode())


def _response(status: str, body: bytes, *, with_body: bool = True, fields: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\n{fields}Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + (body if with_body else b"")
