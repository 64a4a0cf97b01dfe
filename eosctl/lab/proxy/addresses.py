"""Replace the brokers' addresses in responses by the proxy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from eosctl.model.client_config import Endpoint
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_response, encode_response

Addresses = Mapping[int, Endpoint]


def rewrite_answer(frame: bytes, api_key: int, version: int, addresses: Addresses) -> bytes:
    """Return a response (with its size bytes) in which every broker has its address of the proxy.

    Only responses of the APIs in `REWRITTEN` are decoded; a broker unknown to the proxy keeps its own address.

    Raises:
        WireError: The response is malformed.
    """
    rewrite = REWRITTEN.get(api_key)
    if rewrite is None:
        return frame
    correlation_id, message = decode_response(api_key, version, frame[4:])
    return encode_response(api_key, version, correlation_id, rewrite(message, addresses))


def _metadata(message: Any, addresses: Addresses) -> Any:
    return replace(message, brokers=[_at(broker, broker.node_id, addresses) for broker in message.brokers])


def _find_coordinator(message: Any, addresses: Addresses) -> Any:
    coordinators = [_at(found, found.node_id, addresses) for found in message.coordinators]
    return replace(_at(message, message.node_id, addresses), coordinators=coordinators)


def _describe_cluster(message: Any, addresses: Addresses) -> Any:
    return replace(message, brokers=[_at(broker, broker.broker_id, addresses) for broker in message.brokers])


def _node_endpoints(message: Any, addresses: Addresses) -> Any:
    """Rewrite new leaders, which Produce 10 and Fetch 16 return with their addresses (KIP-951)."""
    if not message.node_endpoints:
        return message
    return replace(message, node_endpoints=[_at(end, end.node_id, addresses) for end in message.node_endpoints])


def _at(named: Any, node_id: int, addresses: Addresses) -> Any:
    endpoint = addresses.get(node_id)
    return named if endpoint is None else replace(named, host=endpoint.host, port=endpoint.port)


REWRITTEN: Final[Mapping[int, Callable[[Any, Addresses], Any]]] = {
    ApiKey.METADATA: _metadata,
    ApiKey.FIND_COORDINATOR: _find_coordinator,
    ApiKey.DESCRIBE_CLUSTER: _describe_cluster,
    ApiKey.PRODUCE: _node_endpoints,
    ApiKey.FETCH: _node_endpoints,
}
