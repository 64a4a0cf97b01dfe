"""The routes of a broker's requests, with request counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import Emulation, RequestContext
from eosctl.wire.codec import Codec

#: Handles a request and responds through `RequestContext.reply`; the message is the struct of the API's request.
Handler: TypeAlias = "Callable[[BrokerServices, RequestContext, Any], None]"


@dataclass(frozen=True)
class Route:
    """The decoder, handler, and encoder of one version of an API.

    `guard` receives the access of a request (`sandbox.security.access.Access`) and the request if an authorizer is
    configured. None for an API that every client may send, or whose handler queries the authorizer itself.
    """

    codec: Codec
    handle: Handler
    guard: Callable[[Any, Any], None] | None = None


ClientRoute: TypeAlias = "Callable[[int, int, Emulation], Route | None]"
PeerRoute: TypeAlias = "Callable[[int, int], Route]"


class _Served:
    """A route and its request count."""

    __slots__ = ("request_count", "route")

    def __init__(self, route: Route) -> None:
        self.route = route
        self.request_count = 0


class ServedRequests:
    """The routes of a broker, with request counts for its metrics."""

    def __init__(self, emulation: Emulation, client_route: ClientRoute, peer_route: PeerRoute) -> None:
        self._emulation = emulation
        self._client_route = client_route
        self._peer_route = peer_route
        self._served: dict[tuple[int, int, bool], _Served] = {}

    def route(self, api_key: int, version: int, *, from_broker: bool) -> Route | None:
        """Return the route of a request and count it; None closes a client's connection.

        Raises:
            KeyError: The sandbox does not have the API or version; only for requests of other brokers.
        """
        key = (api_key, version, from_broker)
        served = self._served.get(key)
        if served is None:
            if from_broker:
                route: Route | None = self._peer_route(api_key, version)
            else:
                route = self._client_route(api_key, version, self._emulation)
            if route is None:
                return None
            served = self._served[key] = _Served(route)
        served.request_count += 1
        return served.route

    def count_peer(self, api_key: int, version: int) -> None:
        """Count a request of another broker that was handled without encoding."""
        self.route(api_key, version, from_broker=True)

    def counts(self) -> dict[tuple[int, int, bool], int]:
        """Return the number of requests by API key, version, and whether a broker sent them."""
        return {key: served.request_count for key, served in self._served.items()}
