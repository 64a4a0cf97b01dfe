"""What one broker is asked for: how it is served, and how often that was."""

from __future__ import annotations

from eosctl.sandbox.api.registry import Route, client_route, peer_route
from eosctl.sandbox.ports import Emulation


class _Served:
    """A route and its requests so far."""

    __slots__ = ("request_count", "route")

    def __init__(self, route: Route) -> None:
        self.route = route
        self.request_count = 0


class ServedRequests:
    """The routes of the requests that came to a broker, counted for its metrics."""

    def __init__(self, emulation: Emulation) -> None:
        self._emulation = emulation
        self._served: dict[tuple[int, int, bool], _Served] = {}

    def route(self, api_key: int, version: int, *, from_broker: bool) -> Route | None:
        """Return how to serve a request, and count it; None when a client's connection must be closed.

        Raises:
            KeyError: The sandbox has no such API or version; only for a request of another broker.
        """
        key = (api_key, version, from_broker)
        served = self._served.get(key)
        if served is None:
            route = peer_route(api_key, version) if from_broker else client_route(api_key, version, self._emulation)
            if route is None:
                return None
            served = self._served[key] = _Served(route)
        served.request_count += 1
        return served.route

    def counts(self) -> dict[tuple[int, int, bool], int]:
        """Return how many requests came so far, by API key, version and whether a broker asked."""
        return {key: served.request_count for key, served in self._served.items()}
