"""A proxy in front of every broker that writes down each request, and can answer some in the broker's place."""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple, Self

from msgspec.structs import replace

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import FrameSplitter, decode_request, decode_response, encode_response, response_correlation_id

HOST = "127.0.0.1"
SIZE = struct.Struct(">i")


class Recorded(NamedTuple):
    """One request, as it stood on the wire."""

    broker_port: int
    api_key: ApiKey
    api_version: int
    message: Any


class Promised(NamedTuple):
    """A request whose answer is still to come from the broker."""

    api_key: int
    api_version: int
    refuse: Callable[[Any], Any] | None


Refusals = Mapping[ApiKey, Callable[[Any], Any]]


class RecordingProxy:
    """``with RecordingProxy(cluster.bootstrap) as proxy``: clients of ``proxy.bootstrap`` stay behind the proxy.

    Metadata and DescribeCluster answers name the proxy's ports, so that no connection goes past it.

    Args:
        bootstrap: Every broker of the cluster.
        refusals: By API, what to make of the broker's answer, e.g. the same with AUTHORIZATION_FAILED codes.
    """

    def __init__(self, bootstrap: str, refusals: Refusals | None = None) -> None:
        self._upstream = [int(address.rpartition(":")[2]) for address in bootstrap.split(",")]
        self._refusals = dict(refusals or {})
        self._ports: dict[int, int] = {}
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="recording-proxy", daemon=True)
        self.requests: list[Recorded] = []

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.result(10)
        return self

    def __exit__(self, *_: object) -> None:
        loop, stopped = self._started.result()
        loop.call_soon_threadsafe(stopped.set)
        self._thread.join()

    @property
    def bootstrap(self) -> str:
        return ",".join(f"{HOST}:{self._ports[port]}" for port in self._upstream)

    @property
    def apis(self) -> set[ApiKey]:
        return {request.api_key for request in self.requests}

    def messages(self, api_key: ApiKey) -> list[Any]:
        return [request.message for request in self.requests if request.api_key is api_key]

    def per_broker(self) -> dict[int, int]:
        """Count the requests that each broker got."""
        return {port: sum(r.broker_port == port for r in self.requests) for port in self._upstream}

    async def _serve(self) -> None:
        stopped = asyncio.Event()
        pipes: set[asyncio.Task[None]] = set()

        async def accept(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            pipes.add(task)
            upstream_reader, upstream_writer = await asyncio.open_connection(HOST, port)
            promised: dict[int, Promised] = {}
            try:
                await asyncio.wait(
                    [
                        asyncio.ensure_future(self._up(port, reader, upstream_writer, promised)),
                        asyncio.ensure_future(self._down(upstream_reader, writer, promised)),
                    ],
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                writer.close()
                upstream_writer.close()
                pipes.discard(task)

        servers = []
        for port in self._upstream:
            server = await asyncio.start_server(lambda r, w, port=port: accept(port, r, w), HOST, 0)  # type: ignore[misc]
            self._ports[port] = server.sockets[0].getsockname()[1]
            servers.append(server)
        self._started.set_result((asyncio.get_running_loop(), stopped))
        await stopped.wait()
        for server in servers:
            server.close()
        await asyncio.gather(*pipes, return_exceptions=True)

    async def _up(
        self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, promised: dict[int, Promised]
    ) -> None:
        splitter = FrameSplitter()
        while data := await reader.read(65_536):
            for frame in splitter.feed(data):
                header, message = decode_request(frame)
                api_key = ApiKey(header.api_key)
                self.requests.append(Recorded(port, api_key, header.api_version, message))
                refuse = self._refusals.get(api_key)
                promised[header.correlation_id] = Promised(api_key, header.api_version, refuse)
            writer.write(data)

    async def _down(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, promised: dict[int, Promised]
    ) -> None:
        splitter = FrameSplitter()
        while data := await reader.read(65_536):
            for frame in splitter.feed(data):
                correlation_id = response_correlation_id(frame)
                api_key, version, refuse = promised.pop(correlation_id)
                if refuse is None and api_key not in (ApiKey.METADATA, ApiKey.DESCRIBE_CLUSTER):
                    writer.write(SIZE.pack(len(frame)) + frame)
                    continue
                _, answer = decode_response(api_key, version, frame)
                if refuse is not None:
                    answer = refuse(answer)
                else:
                    brokers = [replace(broker, port=self._ports[broker.port]) for broker in answer.brokers]
                    answer = replace(answer, brokers=brokers)
                writer.write(encode_response(api_key, version, correlation_id, answer))
