"""Read from a cluster over a connection that cannot change it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from eosctl.client.client import connect
from eosctl.client.deadline import Deadline
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.reader import ReadOnly
from eosctl.errors import RequestTimedOut
from eosctl.services.callbacks import Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.text import duration_text

T = TypeVar("T")


def time_limit(connection: Connection, callbacks: Callbacks) -> Deadline | None:
    """Return the end of the connection's timeout, in the running event loop; None without one.

    Raises:
        RequestTimedOut: What the caller did before took all of it.
    """
    if connection.timeout_ms is None:
        return None
    spent_ms = callbacks.spent_ms()
    if spent_ms >= connection.timeout_ms:
        raise RequestTimedOut(
            "The time for the whole command was over before the first request.",
            f"The timeout is {duration_text(connection.timeout_ms)}; {duration_text(spent_ms)} have passed since the "
            "program began.",
            "Allow more time with --timeout.",
        )
    return Deadline.after(connection.timeout_ms - spent_ms)


def read_cluster(connection: Connection, read: Callable[[ReadOnly], Coroutine[Any, Any, T]], callbacks: Callbacks) -> T:
    """Return what a function reads over a connection of its own; only requests that change nothing are sent.

    The timeout of the connection bounds all of it: requests that are not answered by then fail.

    Args:
        connection: The cluster.
        read: Reads with as many requests as it needs. A broker that does not answer costs one timeout in total.
        callbacks: Called with warnings and the cluster's address.

    Raises:
        EosctlError: No broker answered, or the function raised it.
    """
    resolved = resolve_connection(connection, callbacks.remark, spent_ms=callbacks.spent_ms())

    async def work() -> T:
        deadline = time_limit(connection, callbacks)
        async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            return await read(ReadOnly(client, deadline))

    return run(work)
