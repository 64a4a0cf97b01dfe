"""The raw client: any request to any broker of a cluster."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeVar

from eosctl.client.deadline import Deadline
from eosctl.client.destinations import FORWARDED, CoordinatorKind, Destination, Role, moved_codes
from eosctl.client.diagnosis import TlsHandshakeFailed
from eosctl.client.metadata import ClusterMetadata
from eosctl.client.negotiation import BrokerVersions
from eosctl.client.opening import opened_in_turn
from eosctl.client.outcome import Failure, Outcome, error_of, failure_for_code, failure_for_error, may_appear
from eosctl.client.pool import Pace, Pool
from eosctl.client.ports import Connector
from eosctl.client.routing import Router
from eosctl.client.session import RebootstrapRequired, Session
from eosctl.client.sockets import SocketConnector
from eosctl.client.tls import tls_context
from eosctl.errors import BrokerError, ClusterUnreachable, EosctlError, RequestTimedOut, UsageError
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.model.snapshot import Certificate
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import AnyRequest
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.request import Answer, Request

Asked = TypeVar("Asked", bound=Destination)
_MAX_BACKOFF_MS: Final = 1_000
# Another attempt is made only if time remains for its response; cut off, it would hide the broker's error.
_TIME_FOR_ATTEMPT: Final = 2
_ALWAYS_ALLOWED: Final = frozenset({ApiKey.METADATA, ApiKey.FIND_COORDINATOR})


@asynccontextmanager
async def connect(
    config: ClientConfig,
    *,
    connector: Connector | None = None,
    chance: random.Random | None = None,
    allowed_apis: Collection[ApiKey] | None = None,
) -> AsyncIterator[Client]:
    """Open a client, fetch the cluster's brokers, and close every connection at the end.

    Args:
        config: Where to connect, and the credentials.
        connector: Opens the streams; sockets if None.
        chance: Orders the addresses and spreads retries; seeded by the system if None.
        allowed_apis: Rejects all other requests before they are sent (Metadata, FindCoordinator, and connection set-up
            are always allowed), so that a read-only client cannot write.

    Raises:
        ClusterUnreachable: No bootstrap address responded.
        AuthenticationFailed: The certificate or credentials were rejected.
        ConfigFileError: Key or certificate files cannot be used.
    """
    client = Client(config, connector=connector, chance=chance, allowed_apis=allowed_apis)
    try:
        await client.refresh_metadata([])
        yield client
    finally:
        client.close()


class Client:
    """Sends requests to the brokers of a cluster over pooled connections.

    Every wait is bounded: `config.request_timeout_ms` limits a request, `config.timeout_ms` an operation with its
    retries. Requests to a broker share a connection and are answered in order, except `FORWARDED` ones, so use a
    separate client for requests that wait at the broker (a long Fetch, JoinGroup).
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        connector: Connector | None = None,
        chance: random.Random | None = None,
        allowed_apis: Collection[ApiKey] | None = None,
    ) -> None:
        self.config = config
        self._chance = chance if chance is not None else random.Random()
        self._allowed_apis = allowed_apis
        connector, tls = connector if connector is not None else SocketConnector(), tls_context(config)
        self._pool = Pool(config, connector, tls)
        # A broker answers a connection's requests in order: those that wait for the controller have their own.
        self._forwarding = Pool(config, connector, tls)
        self._pace = Pace(config.requests_per_second)
        self._router = Router(self._ask_any)
        # Brokers that did not answer when they were last asked; others go before them.
        self._silent: set[Endpoint] = set()

    @property
    def cluster(self) -> ClusterMetadata:
        """Return the cluster of the last metadata response, with the topics of that response."""
        return self._router.cluster

    def close(self) -> None:
        """Close every connection; requests in flight fail."""
        self._pool.close()
        self._forwarding.close()

    async def refresh_metadata(self, topics: Sequence[str] | None = None) -> ClusterMetadata:
        """Fetch brokers and topics (all if None, none if empty) without creating topics."""
        return await self._router.refresh(topics, self._deadline())

    async def versions(self, node_id: int) -> BrokerVersions:
        """Return the APIs and features that a broker listed when its connection was opened."""
        return (await self._session(node_id, self._deadline())).versions

    def certificate(self, endpoint: Endpoint) -> Certificate | None:
        """Return the validity of a broker's certificate; None without TLS, or without a connection."""
        return self._pool.certificate(endpoint)

    async def node_id(self, destination: Destination) -> int:
        """Return the id of the broker for a destination."""
        return await self._router.node_id(destination, self._deadline())

    async def topic_ids(self, names: Sequence[str]) -> dict[str, bytes]:
        """Return the ids of those topics that have one, cached until `forget_topics`."""
        return await self._router.topic_ids(names, self._deadline())

    def forget_topics(self, names: Sequence[str]) -> None:
        """Look the ids of these topics up again when they are needed next."""
        self._router.forget_topics(names)

    async def request(
        self,
        destination: Destination,
        api_key: ApiKey,
        message: Request[Answer],
        *,
        floor: int = 0,
        cap: int | None = None,
        timeout_ms: float | None = None,
        retry_on: Collection[ErrorCode] = (),
        error_of: Callable[[Answer], ErrorCode] = error_of,
    ) -> Answer:
        """Send a request and return its response, including error responses.

        If a leader, coordinator, or controller has moved, the new one is looked up and the request is retried until the
        timeout. The last response is returned even if it is an error.

        Args:
            destination: A node id, a partition (its leader), a coordinator, or a role.
            api_key: The API.
            message: The request.
            floor: The lowest version to use.
            cap: The highest version to use; None for the highest common one.
            timeout_ms: Limit of the operation with its retries; `config.timeout_ms` if None.
            retry_on: Additional error codes to retry. NETWORK_EXCEPTION is a broken connection, REQUEST_TIMED_OUT a
                missing response: use them only for requests that may be executed twice.
            error_of: Returns the error code of a response; by default the top-level one.

        Raises:
            ClusterUnreachable: The broker is not in the cluster or cannot be reached.
            RequestTimedOut: The broker did not respond in time.
            UnsupportedByBroker: There is no common version.
            AuthenticationFailed: The broker rejected this client.
            BrokerError: No broker had the role of `destination` before the timeout.
            ClusterChanged: The addresses lead to another cluster now.
        """
        self._check_allowed(api_key)
        deadline = self._deadline(timeout_ms)
        repeatable = moved_codes(destination) | frozenset(retry_on)
        backoff_ms = float(self.config.retry_backoff_ms)
        while True:
            answer = await self._attempt(destination, api_key, message, floor, cap, deadline)
            code = answer.error_code if isinstance(answer, Failure) else error_of(answer)
            if code in moved_codes(destination) or isinstance(answer, Failure):
                self._router.forget(destination)
            if code not in repeatable or deadline.remaining_ms() <= _TIME_FOR_ATTEMPT * backoff_ms:
                break
            backoff_ms = await self._back_off(backoff_ms)
        if isinstance(answer, Failure):
            raise answer.error
        return answer

    async def post(self, destination: Destination, api_key: ApiKey, message: AnyRequest, *, cap: int | None) -> None:
        """Send a request that gets no response (Produce with acks=0), in a version of at most `cap`.

        Raises:
            EosctlError: It could not be sent; as for `request`.
        """
        self._check_allowed(api_key)
        deadline = self._deadline()
        node_id = await self._router.node_id(destination, deadline)
        await self._pace.turn(await self._router.endpoint(node_id, deadline))
        if not self._pool.is_open(await self._router.endpoint(node_id, deadline)):
            self._router.forget(destination)  # The broker may have closed the connection since it is not the leader.
            node_id = await self._router.node_id(destination, deadline)
        (await self._session(node_id, deadline)).post(api_key, message, cap)

    async def request_any(
        self, api_key: ApiKey, message: Request[Answer], *, floor: int = 0, cap: int | None = None
    ) -> Answer:
        """Send a request to the first broker that responds.

        Raises:
            EosctlError: As for `request`.
        """
        return await self.request(Role.ANY, api_key, message, floor=floor, cap=cap)

    async def fan_out(
        self,
        destinations: Iterable[Asked],
        api_key: ApiKey,
        message_for: Callable[[Asked], Request[Answer]],
        *,
        floor: int = 0,
        cap: int | None = None,
        timeout_ms: float | None = None,
        retry_on: Collection[ErrorCode] = (),
    ) -> dict[Asked, Outcome[Answer]]:
        """Send a request to several brokers concurrently. A failed request is a `Failure` in the result.

        A response with a top-level error code is a `Failure`, too; nested codes are left to the caller.

        Args:
            destinations: Usually node ids; they are the keys of the result.
            api_key: The API.
            message_for: Returns the request for a destination.
            floor: The lowest version to use.
            cap: The highest version to use.
            timeout_ms: Limit of each operation.
            retry_on: As in `request`.
        """

        async def ask(destination: Asked) -> Outcome[Answer]:
            message = message_for(destination)
            try:
                response = await self.request(
                    destination, api_key, message, floor=floor, cap=cap, timeout_ms=timeout_ms, retry_on=retry_on
                )
            except EosctlError as error:
                return failure_for_error(error)
            code = error_of(response)
            if code is ErrorCode.NONE:
                return response
            who = f"broker {destination}" if isinstance(destination, int) else str(destination)
            return failure_for_code(code, f"{api_key.name} on {who}", getattr(response, "error_message", ""), api_key)

        self._check_allowed(api_key)
        asked = tuple(dict.fromkeys(destinations))
        return dict(zip(asked, await asyncio.gather(*map(ask, asked)), strict=True))

    async def find_coordinators(self, kind: CoordinatorKind, keys: Sequence[str]) -> dict[str, Outcome[int]]:
        """Return the node id of each key's coordinator, or the reason why it is unknown.

        Waits up to `config.timeout_ms` for coordinators that are not available yet (e.g. while their topic is being
        created).
        """
        deadline = self._deadline()
        backoff_ms = float(self.config.retry_backoff_ms)
        found: dict[str, Outcome[int]] = {}
        missing = list(dict.fromkeys(keys))
        while missing:
            found |= await self._router.ask_coordinators(kind, missing, deadline)
            missing = [key for key in missing if may_appear(found[key])]
            if deadline.remaining_ms() <= _TIME_FOR_ATTEMPT * backoff_ms:
                break
            if missing:
                backoff_ms = await self._back_off(backoff_ms)
        return found

    async def _attempt(
        self,
        destination: Destination,
        api_key: ApiKey,
        message: Request[Answer],
        floor: int,
        cap: int | None,
        deadline: Deadline,
    ) -> Outcome[Answer]:
        try:
            if destination is Role.ANY:
                return await self._ask_any(api_key, message, floor, deadline, cap)
            endpoint = await self._router.endpoint(await self._router.node_id(destination, deadline), deadline)
        except (ClusterUnreachable, RequestTimedOut) as error:
            return Failure(failure_for_error(error).reason, error, ErrorCode.BROKER_NOT_AVAILABLE)
        except BrokerError as error:
            return failure_for_error(error)
        pool = self._forwarding if api_key in FORWARDED else self._pool
        try:
            session = await pool.session(endpoint, deadline, self._router.expected(endpoint))
        except RebootstrapRequired as error:
            self._rebootstrap()
            return Failure(failure_for_error(error).reason, error, ErrorCode.REBOOTSTRAP_REQUIRED)
        except (ClusterUnreachable, RequestTimedOut) as error:
            self._silent.add(endpoint)
            # Nothing was sent: a broker that accepts connections without responding counts as down.
            return Failure(failure_for_error(error).reason, error, ErrorCode.BROKER_NOT_AVAILABLE)
        except BrokerError as error:
            return failure_for_error(error)
        try:
            await self._pace.turn(endpoint)
            answer = await session.request(api_key, message, self._for_one_request(deadline), floor=floor, cap=cap)
        except RequestTimedOut as error:
            self._silent.add(endpoint)
            return Failure(failure_for_error(error).reason, error, ErrorCode.REQUEST_TIMED_OUT)
        except ClusterUnreachable as error:
            return Failure(failure_for_error(error).reason, error, ErrorCode.NETWORK_EXCEPTION)
        self._silent.discard(endpoint)
        return answer

    async def _ask_any(
        self, api_key: ApiKey, message: Request[Answer], floor: int, deadline: Deadline, cap: int | None = None
    ) -> Answer:
        if self._router.is_bootstrapping and api_key is not ApiKey.METADATA:
            # The bootstrap addresses may lead to another cluster now: its metadata shows it.
            await self._router.refresh([], deadline)
        problems: list[EosctlError] = []
        async with opened_in_turn(self._endpoints(), partial(self._open_any, deadline)) as opened:
            async for endpoint, session in opened:
                try:
                    if isinstance(session, EosctlError):
                        raise session
                    await self._pace.turn(endpoint)
                    answer = await session.request(
                        api_key, message, self._for_one_request(deadline), floor=floor, cap=cap
                    )
                except RebootstrapRequired:
                    # Without brokers in the metadata, no address has an expected node: this happens once.
                    self._rebootstrap()
                    return await self._ask_any(api_key, message, floor, deadline, cap)
                except (ClusterUnreachable, RequestTimedOut, TlsHandshakeFailed) as error:
                    self._silent.add(endpoint)
                    problems.append(error)
                else:
                    self._silent.discard(endpoint)
                    return answer
                if not deadline.remaining_ms():
                    break
        raise _no_broker_answered(problems)

    async def _open_any(self, deadline: Deadline, endpoint: Endpoint) -> Session:
        # It counts as silent until it answers, since another broker may answer first.
        self._silent.add(endpoint)
        return await self._pool.session(endpoint, deadline, self._router.expected(endpoint))

    async def _session(self, node_id: int, deadline: Deadline) -> Session:
        endpoint = await self._router.endpoint(node_id, deadline)
        try:
            return await self._pool.session(endpoint, deadline, self._router.expected(endpoint))
        except RebootstrapRequired:
            self._rebootstrap()
            return await self._pool.session(await self._router.endpoint(node_id, deadline), deadline)

    def _rebootstrap(self) -> None:
        self._router.rebootstrap()
        self._pool.retire()
        self._forwarding.retire()

    def _endpoints(self) -> list[Endpoint]:
        """Return the known brokers in random order, open connections first, followed by the bootstrap addresses.

        Brokers that did not answer their last request come last.
        """
        brokers = [broker.endpoint for broker in self.cluster.brokers]
        bootstrap = list(self.config.bootstrap)
        self._chance.shuffle(brokers)
        self._chance.shuffle(bootstrap)
        brokers.sort(key=lambda endpoint: not self._pool.is_open(endpoint))
        found = list(dict.fromkeys(brokers + bootstrap))
        return sorted(found, key=lambda endpoint: endpoint in self._silent)

    def _deadline(self, timeout_ms: float | None = None) -> Deadline:
        return Deadline.after(self.config.timeout_ms if timeout_ms is None else timeout_ms)

    def _for_one_request(self, deadline: Deadline) -> Deadline:
        return deadline.earliest(self.config.request_timeout_ms)

    def _check_allowed(self, api_key: ApiKey) -> None:
        if self._allowed_apis is not None and api_key not in self._allowed_apis and api_key not in _ALWAYS_ALLOWED:
            raise UsageError(
                f"{api_key.name} is not among the requests that this client may send.",
                "It was opened to read only, or for a few requests alone.",
                "Open a client whose allowed_apis have it, if this caller may change the cluster.",
            )

    async def _back_off(self, backoff_ms: float) -> float:
        await asyncio.sleep(backoff_ms / 1000 * self._chance.uniform(0.8, 1.2))
        return min(backoff_ms * 2, _MAX_BACKOFF_MS)


def _no_broker_answered(problems: Sequence[EosctlError]) -> EosctlError:
    if len(problems) == 1:
        return problems[0]
    texts = zip(*((one.what, one.why, one.next_step) for one in problems), strict=True)
    what, why, next_step = (" ".join(filter(None, dict.fromkeys(each))) for each in texts)
    kind = TlsHandshakeFailed if all(isinstance(one, TlsHandshakeFailed) for one in problems) else ClusterUnreachable
    return kind(f"No broker answered: {what}", why, next_step)
