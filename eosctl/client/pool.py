"""Open connections, one per endpoint, shared by all requests, and the pace of requests to each."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from eosctl.client.deadline import Deadline
from eosctl.client.diagnosis import explain_connect_error
from eosctl.client.negotiation import ExpectedNode
from eosctl.client.ports import Connector
from eosctl.client.session import Session
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.model.snapshot import Certificate


class Pool:
    """Returns an open session for an endpoint, and replaces broken or expired ones."""

    def __init__(self, config: ClientConfig, connector: Connector, tls: ssl.SSLContext | None) -> None:
        self._config = config
        self._connector = connector
        self._tls = tls
        self._sessions: dict[Endpoint, Session] = {}
        self._opening: dict[Endpoint, asyncio.Lock] = {}

    async def session(self, endpoint: Endpoint, deadline: Deadline, expected: ExpectedNode | None = None) -> Session:
        """Return an open session and open it if necessary; concurrent callers share an attempt.

        Args:
            endpoint: The broker.
            deadline: Limit of the attempt, in addition to `config.connect_timeout_ms`.
            expected: The broker that the metadata names at this endpoint; a new connection verifies it.

        Raises:
            ClusterUnreachable: The endpoint cannot be reached.
            RebootstrapRequired: Another broker than the expected one is there.
            AuthenticationFailed: It rejected this client.
        """
        deadline = deadline.earliest(self._config.connect_timeout_ms)
        async with self._turn(endpoint, deadline):
            session = self._sessions.get(endpoint)
            if session is None or not session.is_open:
                is_known = session is not None and session.is_known
                if session is not None:
                    session.retire()
                session = await Session.open(
                    endpoint,
                    self._config,
                    self._connector,
                    self._tls,
                    deadline,
                    expected=expected,
                    is_known=is_known,
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
        """Return whether a connection to the endpoint is open."""
        session = self._sessions.get(endpoint)
        return session is not None and session.is_open

    def certificate(self, endpoint: Endpoint) -> Certificate | None:
        """Return the validity of the certificate of an endpoint; None without TLS, or without a connection."""
        session = self._sessions.get(endpoint)
        return None if session is None else session.certificate

    def retire(self) -> None:
        """Close every connection once nothing is in flight on it; the next request opens a new one."""
        for session in self._sessions.values():
            session.retire()
        self._sessions.clear()

    def close(self) -> None:
        """Close every connection."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()


class Pace:
    """Gives each request to a broker its turn, at equal intervals.

    Args:
        requests_per_second: The limit for each broker; None for no limit.
    """

    def __init__(self, requests_per_second: float | None) -> None:
        self._interval_s = 0.0 if requests_per_second is None else 1 / requests_per_second
        self._free_at: dict[Endpoint, float] = {}

    async def turn(self, endpoint: Endpoint) -> None:
        """Wait until the broker may get another request."""
        if not self._interval_s:
            return
        now = asyncio.get_running_loop().time()
        begins_at = max(now, self._free_at.get(endpoint, now))
        self._free_at[endpoint] = begins_at + self._interval_s
        if begins_at > now:
            await asyncio.sleep(begins_at - now)
