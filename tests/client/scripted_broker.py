"""A broker made of prepared answers, behind the client's real frames."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from eosctl.client import Client, connect
from eosctl.client.memory import MemoryNetwork
from eosctl.client.ports import Receiver, Transport
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec, versions
from eosctl.wire.frames import FrameSplitter, RequestHeader, decode_request_header, encode_response
from eosctl.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from eosctl.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from eosctl.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


class Silence:
    """No answer, ever; as the broker answers a connection's requests in order, none to later ones either."""


class HangUp:
    """The broker closes the connection instead of answering."""


@dataclass(frozen=True)
class RawAnswer:
    """Bytes that are sent as they are, and perhaps the end of the connection after them."""

    data: bytes
    then_close: bool = False


Handler = Callable[[Any], Any]


@dataclass
class ScriptedBroker:
    """Answers requests by API; ``requests`` holds (api, version, message) of all that arrived."""

    endpoint: Endpoint = field(default_factory=lambda: Endpoint("broker", 9092))
    ranges: dict[ApiKey, tuple[int, int]] = field(default_factory=dict)
    handlers: dict[ApiKey, Handler] = field(default_factory=dict)
    requests: list[tuple[ApiKey, int, Any]] = field(default_factory=list)
    connection_count: int = 0
    greeting: RawAnswer | None = None
    transports: list[Transport] = field(default_factory=list)

    def on(self, api_key: ApiKey, handler: Handler) -> None:
        self.handlers[api_key] = handler

    def answers_in_turn(self, api_key: ApiKey, *answers: Any) -> None:
        """Return the responses one after another; repeat the last one."""
        remaining = list(answers)
        self.on(api_key, lambda _: remaining.pop(0) if len(remaining) > 1 else remaining[0])

    def messages(self, api_key: ApiKey) -> list[Any]:
        return [message for key, _, message in self.requests if key == api_key]

    def accept(self, transport: Transport) -> Receiver:
        self.connection_count += 1
        self.transports.append(transport)
        return _Conversation(self, transport)

    def listen(self, network: MemoryNetwork) -> None:
        network.listen(self.endpoint, self.accept)

    def served(self, api_key: ApiKey) -> tuple[int, int]:
        spoken = versions(api_key)
        return self.ranges.get(api_key, (spoken[0], spoken[-1]))

    def api_versions(self) -> ApiVersionsResponse:
        keys = [key for key in ApiKey if key in self.ranges or _is_encodable(key)]
        return ApiVersionsResponse(api_keys=[ApiVersion(key, *self.served(key)) for key in keys])


def cluster_metadata(*brokers: ScriptedBroker, leaders: dict[str, list[int]] | None = None) -> MetadataResponse:
    """Return a Metadata response with broker ids from 1; `leaders` has each topic's leaders."""
    return MetadataResponse(
        cluster_id="scripted",
        controller_id=1,
        brokers=[
            MetadataResponseBroker(node_id, broker.endpoint.host, broker.endpoint.port)
            for node_id, broker in enumerate(brokers, start=1)
        ],
        topics=[
            MetadataResponseTopic(
                name=topic,
                partitions=[
                    MetadataResponsePartition(
                        error_code=0 if leader >= 0 else 5,
                        partition_index=index,
                        leader_id=leader,
                        leader_epoch=0,
                        replica_nodes=[leader],
                        isr_nodes=[leader],
                    )
                    for index, leader in enumerate(leader_ids)
                ],
            )
            for topic, leader_ids in (leaders or {}).items()
        ],
    )


def scripted_cluster(network: MemoryNetwork, count: int, **leaders: list[int]) -> list[ScriptedBroker]:
    """Start brokers 1 to ``count`` that know each other."""
    brokers = [ScriptedBroker(Endpoint(f"broker-{number}", 9092)) for number in range(1, count + 1)]
    for broker in brokers:
        broker.on(ApiKey.METADATA, lambda _: cluster_metadata(*brokers, leaders=leaders))
        broker.listen(network)
    return brokers


CONFIG = ClientConfig(bootstrap=(Endpoint("broker-1", 9092), Endpoint("broker-2", 9092)))


def client_of(network: MemoryNetwork, **options: Any) -> AbstractAsyncContextManager[Client]:
    """Open a client of a scripted cluster."""
    return connect(CONFIG, connector=network, chance=random.Random(1), **options)


def found(message: FindCoordinatorRequest, node_id: int) -> FindCoordinatorResponse:
    """Return the answer that one broker coordinates everything."""
    return FindCoordinatorResponse(coordinators=[Coordinator(key, node_id, "x", 1) for key in message.coordinator_keys])


def _is_encodable(key: ApiKey) -> bool:
    try:
        return bool(versions(key))
    except KeyError:
        return False


class _Conversation:
    """One connection; requests are answered in their order."""

    def __init__(self, broker: ScriptedBroker, transport: Transport) -> None:
        self._broker = broker
        self._transport = transport
        self._splitter = FrameSplitter()
        self._is_mute = False

    def data_received(self, data: bytes) -> None:
        if self._is_mute:
            return
        if self._broker.greeting is not None:
            self._send(self._broker.greeting)
            return
        for frame in self._splitter.feed(data):
            if self._is_mute:
                return
            self._answer(frame, decode_request_header(frame))

    def connection_lost(self, error: Exception | None) -> None:
        pass

    def _answer(self, frame: bytes, header: RequestHeader) -> None:
        api_key, version = ApiKey(header.api_key), header.api_version
        first, last = self._broker.served(api_key)
        if not first <= version <= last:
            if api_key is not ApiKey.API_VERSIONS:
                self._transport.close()
                return
            refusal = ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(api_key, first, last)])
            self._transport.write(encode_response(api_key, 0, header.correlation_id, refusal))
            return
        message, _ = codec(api_key, version).decode_request(frame, header.body_position)
        self._broker.requests.append((api_key, version, message))
        handler = self._broker.handlers.get(api_key)
        if handler is not None:
            answer = handler(message)
        elif api_key is ApiKey.API_VERSIONS:
            answer = self._broker.api_versions()
        else:
            answer = HangUp()
        match answer:
            case Silence():
                self._is_mute = True
            case HangUp():
                self._transport.close()
            case RawAnswer():
                self._send(answer)
            case _:
                self._transport.write(encode_response(api_key, version, header.correlation_id, answer))

    def _send(self, answer: RawAnswer) -> None:
        self._transport.write(answer.data)
        if answer.then_close:
            self._transport.close()


class _SocketSide(asyncio.Protocol):
    """Puts a scripted broker behind a listening socket."""

    def __init__(self, broker: ScriptedBroker) -> None:
        self._broker = broker

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._receiver = self._broker.accept(transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._receiver.data_received(data)
        except ValueError:
            self._broker.transports[-1].close()  # as Kafka does with what is not its protocol


@asynccontextmanager
async def listening(broker: ScriptedBroker, tls: ssl.SSLContext | None = None) -> AsyncIterator[Endpoint]:
    """Serve a scripted broker on loopback."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _SocketSide(broker), "127.0.0.1", 0, ssl=tls)
    try:
        host, port = server.sockets[0].getsockname()[:2]
        broker.endpoint = Endpoint(host, port)
        yield broker.endpoint
    finally:
        server.close()
        for transport in broker.transports:
            transport.close()
        await server.wait_closed()
