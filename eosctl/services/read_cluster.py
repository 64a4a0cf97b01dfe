"""Read from a cluster over a connection that cannot change it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from eosctl.client.client import Client, connect
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.services.callbacks import Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run

T = TypeVar("T")


def read_cluster(connection: Connection, read: Callable[[Client], Coroutine[Any, Any, T]], callbacks: Callbacks) -> T:
    """Return what a function reads over a connection of its own; only requests that change nothing are sent.

    Raises:
        EosctlError: No broker answered, or the function raised it.
    """
    resolved = resolve_connection(connection, callbacks.remark)

    async def work() -> T:
        async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            return await read(client)

    return run(work)
