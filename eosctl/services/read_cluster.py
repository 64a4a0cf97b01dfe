"""Read from a cluster over a connection that cannot change it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from eosctl.client.client import connect
from eosctl.client.deadline import Deadline
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.reader import ReadOnly
from eosctl.services.callbacks import Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run

T = TypeVar("T")


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
    resolved = resolve_connection(connection, callbacks.remark)

    async def work() -> T:
        deadline = None if connection.timeout_ms is None else Deadline.after(connection.timeout_ms)
        async with connect(resolved.config, allowed_apis=READ_ONLY_APIS) as client:
            return await read(ReadOnly(client, deadline))

    return run(work)
