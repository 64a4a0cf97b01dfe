"""Open connections, one for each endpoint, shared by all requests to it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from eosctl.client.deadline import Deadline
from eosctl.client.diagnosis import explain_connect_error
from eosctl.client.ports import Connector
from eosctl.client.session import Session
from eosctl.model.client_config import ClientConfig, Endpoint


class Pool:
    """Hands out an open session for an endpoint and replaces the ones that broke or expired."""

    def __init__(self, config: ClientConfig, connector: Connector, tls: ssl.SSLContext | None) -> None:
        self._config = config
        self._connector = connector
        self._tls = tls
        self._sessions: dict[Endpoint, Session] = {}
        self._opening: dict[Endpoint, asyncio.Lock] = {}

    async def session(self, endpoint: Endpoint, deadline: Deadline) -> Session:
        """Return an open session, opening it when there is none; callers at the same time share one attempt.

        Args:
            endpoint: The broker.
            deadline: To give up, unless `config.connect_timeout_ms` ends first.

        Raises:
            ClusterUnreachable: The endpoint cannot be reached.
            AuthenticationFailed: It refused this client.
        """
        deadline = deadline.earliest(self._config.connect_timeout_ms)
        async with self._turn(endpoint, deadline):
            session = self._sessions.get(endpoint)
            if session is None or not session.is_open:
                is_known = session is not None and session.is_known
                if session is not None:
                    session.retire()
                session = await Session.open(
                    endpoint, self._config, self._connector, self._tls, deadline, is_known=is_known
                )
                self._sessions[endpoint] = session
            return session

    @asynccontextmanager
    async def _turn(self, endpoint: Endpoint, deadline: Deadline) -> AsyncIterator[None]:
        """Wait while another request opens a connection to the same endpoint."""
        lock = self._opening.setdefault(endpoint, asyncio.Lock())
        try:
            async with asyncio.timeout_at(deadline.at):
                await lock.acquire()
        except TimeoutError as error:
            raise explain_connect_error(endpoint, error) from error
        try:
            yield
        finally:
            lock.release()

    def is_open(self, endpoint: Endpoint) -> bool:
        """Return whether a connection to the endpoint stands."""
        session = self._sessions.get(endpoint)
        return session is not None and session.is_open

    def close(self) -> None:
        """Close every connection."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
