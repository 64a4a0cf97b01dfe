"""Open a connection to any one of several brokers, without waiting for a silent one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final

from eosctl.client.session import Session
from eosctl.errors import EosctlError
from eosctl.model.client_config import Endpoint

# Longer than a connection takes on a slow network. No request is sent yet, so a second attempt costs one connection.
HEAD_START_S: Final = 0.5

Opened = tuple[Endpoint, Session | EosctlError]
Open = Callable[[Endpoint], Awaitable[Session]]


@asynccontextmanager
async def opened_in_turn(endpoints: Iterable[Endpoint], open_session: Open) -> AsyncIterator[AsyncIterator[Opened]]:
    """Yield an iterator over the endpoints with their session, or the error, as soon as each is known.

    The next connection starts when the one before has failed, or has been pending for `HEAD_START_S`, and only if the
    caller still iterates. At the end, pending attempts are canceled.

    Args:
        endpoints: The endpoints in order of preference.
        open_session: Opens a session, or returns the open one; may raise `EosctlError`.
    """
    pending: dict[asyncio.Task[Session], Endpoint] = {}
    try:
        yield _opened(endpoints, open_session, pending)
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


async def _opened(
    endpoints: Iterable[Endpoint], open_session: Open, pending: dict[asyncio.Task[Session], Endpoint]
) -> AsyncIterator[Opened]:
    waiting = list(endpoints)
    while waiting or pending:
        if waiting:
            endpoint = waiting.pop(0)
            pending[asyncio.ensure_future(open_session(endpoint))] = endpoint
        done, _ = await asyncio.wait(
            pending, timeout=HEAD_START_S if waiting else None, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            endpoint = pending.pop(task)
            try:
                yield endpoint, task.result()
            except EosctlError as error:
                yield endpoint, error
