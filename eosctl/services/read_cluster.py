"""Read from a cluster over a connection that cannot change it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from eosctl.client.client import Client, connect
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.errors import RequestTimedOut
from eosctl.services.callbacks import Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.text import duration_text

T = TypeVar("T")


def read_cluster(
    connection: Connection,
    read: Callable[[Client], Coroutine[Any, Any, T]],
    callbacks: Callbacks,
    *,
    is_endless: bool = False,
) -> T:
    """Return what a function reads over a connection of its own; only requests that change nothing are sent.

    The timeout of the connection bounds all of it, unless it is endless.

    Raises:
        EosctlError: No broker answered, or the function raised it.
    """
    resolved = resolve_connection(connection, callbacks.remark)

    timeout_ms = None if is_endless else connection.timeout_ms

    async def work() -> T:
        try:
            async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
                async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
                    return await read(client)
        except TimeoutError:
            raise RequestTimedOut(
                f"The cluster was not read within {duration_text(timeout_ms or 0)}.",
                "A broker is slow or paused, or there is much to read.",
                "Allow more time with --timeout.",
            ) from None

    return run(work)
