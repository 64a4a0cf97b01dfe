"""An HTTP endpoint for Prometheus: one page, a health check, TLS, and basic authentication."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hmac
from collections.abc import Callable, Mapping
from ssl import SSLContext
from typing import Final, NamedTuple, TypeAlias

import msgspec

from eosctl.errors import EosctlError
from eosctl.model.loopback import is_loopback, may_name_loopback
from eosctl.model.secret import Secret

PLAIN_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
MAX_HEAD_BYTES: Final = 16 << 10
REQUEST_TIMEOUT_S: Final = 10.0
_CHALLENGE: Final = 'WWW-Authenticate: Basic realm="eosctl", charset="UTF-8"\r\n'


class Page(NamedTuple):
    """A page, with its header fields except for its length."""

    body: bytes
    fields: tuple[tuple[str, str], ...] = (("Content-Type", PLAIN_TEXT),)


Fields: TypeAlias = Mapping[str, str]
"""The header fields of a request, by names in lower case."""
Present: TypeAlias = Callable[[Fields], Page]
"""Returns the page in a form that the fields of the request accept."""


class Access(msgspec.Struct, frozen=True):
    """Who may read the page, and how it is transported.

    Attributes:
        tls: The server's certificate and key; None for plain HTTP.
        username: The user of basic authentication.
        password: The user's password; None for no authentication.
    """

    tls: SSLContext | None = None
    username: str = ""
    password: Secret | None = None


OPEN: Final = Access()


def plain_page(page: Callable[[], str]) -> Present:
    """Return what presents a page in the text format of Prometheus, for any client."""
    return lambda _: Page(page().encode())


async def serve(host: str, port: int, present: Present, access: Access = OPEN) -> asyncio.Server:
    """Serve `GET /metrics`; see `respond`.

    On loopback and without a password, requests with the name of another machine in their Host field are refused.

    Raises:
        EosctlError: The address cannot be used.
    """
    local_only = access.password is None and is_loopback(host)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A client that sends nothing, too much, or an invalid request is disconnected.
        with (
            contextlib.closing(writer),
            contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError),
        ):
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), REQUEST_TIMEOUT_S)
            writer.write(respond(head, present, access, local_only=local_only))
            await asyncio.wait_for(writer.drain(), REQUEST_TIMEOUT_S)

    handshake_s = None if access.tls is None else REQUEST_TIMEOUT_S
    try:
        return await asyncio.start_server(
            answer, host, port, limit=MAX_HEAD_BYTES, ssl=access.tls, ssl_handshake_timeout=handshake_s
        )
    except OSError as error:
        raise EosctlError(
            f"{host}:{port} cannot be listened on.",
            error.strerror or str(error),
            "Stop the program that listens there, or choose another --listen.",
        ) from error


def url_of(server: asyncio.Server, host: str, access: Access = OPEN) -> str:
    """Return the address of the page of a server that listens on a host."""
    scheme = "http" if access.tls is None else "https"
    port = server.sockets[0].getsockname()[1]
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/metrics"


def respond(head: bytes, present: Present, access: Access = OPEN, *, local_only: bool = False) -> bytes:
    """Respond to a request: the page for `GET` or `HEAD` of `/metrics` or `/`, a line for `/healthz`, else an error.

    `/healthz` means that this program serves; `eosctl_up` on the page means that the cluster answers. It needs no
    authentication, because probes have no password. With `local_only`, the Host field must be that of a loopback
    listener, so that pages of other sites in a browser on this machine cannot read the page.
    """
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split()
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return _message("400 Bad Request", "GET /metrics\n")
    method, target = words[0], words[1].partition("?")[0]
    if method not in ("GET", "HEAD"):
        return _message("405 Method Not Allowed", "GET /metrics\n", fields="Allow: GET, HEAD\r\n")
    with_body = method == "GET"
    if target == "/healthz":
        return _message("200 OK", "serving\n", with_body=with_body)
    fields = _fields(lines)
    if local_only and not may_name_loopback(fields.get("host", "localhost")):
        return _message("403 Forbidden", "only for localhost: the Host field names another machine\n")
    if access.password is not None and not _is_authentic(fields.get("authorization", ""), access):
        return _message("401 Unauthorized", "a user and a password are needed\n", fields=_CHALLENGE)
    if target not in ("/metrics", "/"):
        return _message("404 Not Found", "GET /metrics\n")
    page = present(fields)
    text = "".join(f"{name}: {value}\r\n" for name, value in page.fields)
    return _response("200 OK", text, page.body, with_body=with_body)


def _fields(lines: list[str]) -> dict[str, str]:
    """Return the fields; the values of a repeated one are a list (RFC 9110)."""
    found: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            key = name.strip().lower()
            found[key] = f"{found[key]}, {value.strip()}" if key in found else value.strip()
    return found


def _is_authentic(authorization: str, access: Access) -> bool:
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "basic" or access.password is None:
        return False
    try:
        credentials = base64.b64decode(given.strip(), validate=True)
    except (binascii.Error, ValueError):
        return False
    expected = f"{access.username}:{access.password.reveal()}".encode()
    return hmac.compare_digest(credentials, expected)


def _message(status: str, text: str, *, fields: str = "", with_body: bool = True) -> bytes:
    return _response(status, f"Content-Type: {PLAIN_TEXT}\r\n{fields}", text.encode(), with_body=with_body)


def _response(status: str, fields: str, body: bytes, *, with_body: bool) -> bytes:
    head = f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + (body if with_body else b"")
