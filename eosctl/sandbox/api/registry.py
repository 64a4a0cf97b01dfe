"""The modules and the versions of all APIs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from eosctl.sandbox.broker.routes import Handler, Route
from eosctl.sandbox.ports import Emulation
from eosctl.sandbox.security.access import Guard
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec, served_versions
from eosctl.wire.generated.index import APIS

#: Served between nodes only; a client listener closes the connection.
INTER_BROKER_APIS: Final = frozenset(
    {
        ApiKey.ALTER_PARTITION,
        ApiKey.ALLOCATE_PRODUCER_IDS,
        ApiKey.ASSIGN_REPLICAS_TO_DIRS,
        ApiKey.BROKER_REGISTRATION,
        ApiKey.BROKER_HEARTBEAT,
        ApiKey.VOTE,
        ApiKey.BEGIN_QUORUM_EPOCH,
        ApiKey.END_QUORUM_EPOCH,
        ApiKey.FETCH_SNAPSHOT,
    }
)

#: Served only by brokers that receive the metrics of clients.
TELEMETRY_APIS: Final = frozenset({ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY})

#: Last version of each API that 4.3 serves only with `unstable.api.versions.enable`.
UNSTABLE: Final[Mapping[int, int]] = {ApiKey.INIT_PRODUCER_ID: 6}


@cache
def handler(api_key: int) -> Handler:
    """Load the handler of an API.

    Raises:
        KeyError: The sandbox does not have this API.
    """
    if module := _module(api_key):
        found: Handler = module.handle
        return found
    refused: Handler = _table("HANDLERS", api_key)[api_key]
    return refused


@cache
def guard(api_key: int) -> Guard | None:
    """Load the guard of an API; None if every client may send it, or its handler checks the authorization."""
    if module := _module(api_key):
        return getattr(module, "guard", None)
    found: Guard | None = _table("GUARDS", api_key).get(api_key)
    return found


def _module(api_key: int) -> ModuleType | None:
    """Return the module named after an API, or None."""
    if api_key not in APIS:
        raise KeyError(api_key)
    name = f"eosctl.sandbox.api.{ApiKey(api_key).name.lower()}"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


def _table(table: str, api_key: int) -> Mapping[int, Any]:
    """Return the module table that contains an API without a module of its own."""
    from eosctl.sandbox.api import delegation_tokens, forwarded, share_state, unsupported

    module = next(
        (known for known in (forwarded, share_state, delegation_tokens) if api_key in known.HANDLERS), unsupported
    )
    found: Mapping[int, Any] = getattr(module, table)
    return found


@cache
def client_versions(api_key: int, emulation: Emulation) -> range:
    """Return the versions of an API that a client of this emulation may use; empty if unsupported."""
    if api_key in INTER_BROKER_APIS or api_key not in APIS:
        return range(0)
    if api_key in TELEMETRY_APIS and not emulation.client_telemetry:
        return range(0)
    served = served_versions(api_key, emulation.release)
    if emulation.unstable_api_versions and api_key in UNSTABLE and not emulation.is_3_9:
        return range(served.start, UNSTABLE[api_key] + 1)
    if api_key == ApiKey.PRODUCE and not emulation.is_3_9:
        return range(3, served.stop)  # 0 to 2 are announced for old librdkafka versions, but not served (KAFKA-18659).
    return served


@cache
def client_route(api_key: int, version: int, emulation: Emulation) -> Route | None:
    """Return the route of a client's request; None if the connection must be closed."""
    if version not in client_versions(api_key, emulation):
        return None
    try:
        return Route(codec(api_key, version), handler(api_key), guard(api_key))
    except KeyError:
        return None


@cache
def peer_route(api_key: int, version: int) -> Route:
    """Return the route of another node's request."""
    return Route(codec(api_key, version), handler(api_key))
