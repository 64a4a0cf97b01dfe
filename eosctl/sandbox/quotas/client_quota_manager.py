"""Quotas of clients by user and client id (`ClientQuotaManager`): which one applies, and how long it throttles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from eosctl.sandbox.metadata.image import ClusterImage, QuotaEntity
from eosctl.sandbox.quotas.rate import WindowedRate

PRODUCER_BYTE_RATE = "producer_byte_rate"
CONSUMER_BYTE_RATE = "consumer_byte_rate"
CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
REQUEST_PERCENTAGE = "request_percentage"
_USER, _CLIENT_ID = "user", "client-id"
_PRINCIPAL_PREFIX = "User:"
Quotas: TypeAlias = Mapping[QuotaEntity, float]


class Client(NamedTuple):
    """The clients that share a rate; a part is empty if the quota does not distinguish it."""

    user: str
    client_id: str


class ClientLimits:
    """The quotas of one key, with the limit of each client."""

    def __init__(self, key: str, image: ClusterImage) -> None:
        self._key = key
        self._image = image
        self._quotas: Quotas = {}
        self._generation = -1

    def find(self, principal: str, client_id: str) -> tuple[Client, float | None] | None:
        """Return the clients that share a rate with this one, and their limit; None if no client has a quota."""
        quotas = self.current()
        if not quotas:
            return None
        client = sharing(quotas, principal.removeprefix(_PRINCIPAL_PREFIX), client_id)
        return client, limit_of(quotas, client)

    def current(self) -> Quotas:
        """Return the quotas of all entities."""
        image = self._image
        if image.quota_generation != self._generation:
            self._generation = image.quota_generation
            self._quotas = {entity: values[self._key] for entity, values in image.quotas.items() if self._key in values}
        return self._quotas


class ClientQuotaManager:
    """The rates of one quota key on one broker; each broker enforces the whole quota.

    A `bounded` throttle time is at most one window.
    """

    def __init__(
        self, key: str, image: ClusterImage, window_count: int, window_seconds: int, *, bounded: bool = False
    ) -> None:
        self._limits = ClientLimits(key, image)
        self._windows = window_count, window_seconds * 1000
        self._bounded = bounded
        self._rates: dict[Client, WindowedRate] = {}

    @property
    def is_active(self) -> bool:
        """Return whether any client has a quota."""
        return bool(self._limits.current())

    def record(self, principal: str, client_id: str, value: float, now_ms: int) -> int:
        """Add a value to a client's rate; return the milliseconds for which the client must be throttled."""
        found = self._limits.find(principal, client_id)
        if found is None:
            return 0
        client, limit = found
        rate = self._rates.get(client)
        if rate is None:
            rate = self._rates[client] = WindowedRate(*self._windows)
        rate.record(value, now_ms)
        throttle_ms = 0 if limit is None else rate.throttle_ms(limit, now_ms)
        return min(throttle_ms, self._windows[1]) if self._bounded else throttle_ms

    def limit_bytes(self, principal: str, client_id: str, asked: int) -> int:
        """Return at most what a client may fetch in all windows but the last; more would always be throttled."""
        found = self._limits.find(principal, client_id)
        if found is None or found[1] is None:
            return asked
        count, window_ms = self._windows
        return int(min(asked, found[1] * (count - 1) * window_ms // 1000))


def sharing(quotas: Quotas, user: str, client_id: str) -> Client:
    """Return which clients share a rate with this one: those with the same quota, by user, by client id, or by both."""
    kinds = {frozenset(kind for kind, _ in entity) for entity in quotas}
    if len(kinds) <= 1:
        kind = next(iter(kinds), frozenset({_CLIENT_ID}))
        return Client(user if _USER in kind else "", client_id if _CLIENT_ID in kind else "")
    for named in (user, None):
        if _entity(named, client_id) in quotas or _entity(named, None) in quotas:
            return Client(user, client_id)
        if frozenset({(_USER, named)}) in quotas:
            return Client(user, "")
    return Client("", client_id)


def limit_of(quotas: Quotas, client: Client) -> float | None:
    """Return the most specific quota of clients that share a rate; None without a quota."""
    user, client_id = client
    if user and client_id:
        entities = [_entity(user, client_id), _entity(user, None), _entity(None, client_id), _entity(None, None)]
    elif user:
        entities = [frozenset({(_USER, user)}), frozenset({(_USER, None)})]
    else:
        entities = [frozenset({(_CLIENT_ID, client_id)}), frozenset({(_CLIENT_ID, None)})] if client_id else []
    return next((quotas[entity] for entity in entities if entity in quotas), None)


def _entity(user: str | None, client_id: str | None) -> QuotaEntity:
    return frozenset({(_USER, user), (_CLIENT_ID, client_id)})
