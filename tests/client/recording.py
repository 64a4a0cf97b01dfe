"""A connector that keeps the requests that a client sends, and may lead an address elsewhere."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple

from eosctl.client.ports import Receiver, Transport
from eosctl.client.sockets import SocketConnector
from eosctl.model.client_config import Endpoint
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import FrameSplitter, decode_request


class Sent(NamedTuple):
    """A request with its version."""

    api_key: ApiKey
    version: int
    message: Any


class RecordingConnector:
    """Sockets with a record of all requests; `detours` leads endpoints to others, as a changed address does."""

    def __init__(self) -> None:
        self._sockets = SocketConnector()
        self.sent: list[Sent] = []
        self.detours: Mapping[Endpoint, Endpoint] = {}
        self._streams: list[tuple[Transport, Receiver]] = []

    async def open(self, endpoint: Endpoint, receiver: Receiver, tls: ssl.SSLContext | None) -> Transport:
        stream = await self._sockets.open(self.detours.get(endpoint, endpoint), receiver, tls)
        self._streams.append((stream, receiver))
        return _Recorded(stream, self.sent)

    def drop(self) -> None:
        """End every connection, as a broker does that stops."""
        for stream, receiver in self._streams:
            stream.close()
            receiver.connection_lost(None)
        self._streams.clear()

    def of(self, api_key: ApiKey) -> list[Sent]:
        """Return the requests of an API, in order."""
        return [sent for sent in self.sent if sent.api_key is api_key]


class _Recorded:
    def __init__(self, stream: Transport, sent: list[Sent]) -> None:
        self._stream = stream
        self._sent = sent
        self._splitter = FrameSplitter()

    def write(self, data: bytes) -> None:
        for frame in self._splitter.feed(data):
            header, message = decode_request(frame)
            self._sent.append(Sent(ApiKey(header.api_key), header.api_version, message))
        self._stream.write(data)

    def close(self) -> None:
        self._stream.close()

    def certificate(self) -> None:
        pass
