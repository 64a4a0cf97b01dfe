"""A connection to a broker: connect, negotiate versions, authenticate, and send requests."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final, cast

from msgspec import Struct

from eosctl import __version__
from eosctl.client.connection import Connection
from eosctl.client.deadline import Deadline
from eosctl.client.diagnosis import (
    explain_connect_error,
    explain_early_close,
    explain_failed_handshake,
    explain_foreign_bytes,
    explain_silent_refusal,
)
from eosctl.client.negotiation import BrokerVersions, ExpectedNode, choose_version, parse_broker_versions
from eosctl.client.outcome import error_for_code, known_error
from eosctl.client.ports import Connector, Transport
from eosctl.client.sasl import Exchange, authenticate
from eosctl.errors import AuthenticationFailed, ClusterUnreachable, EosctlError, RequestTimedOut
from eosctl.model.client_config import ClientConfig, Endpoint, SaslConfig
from eosctl.model.snapshot import ApiRange, Certificate
from eosctl.waiting_threads import started
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import AnyRequest, versions
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from eosctl.wire.messages.sasl_handshake import SaslHandshakeRequest
from eosctl.wire.request import Answer, Request

# A broker closes a session when its credentials expire (KIP-368); a new connection is opened before that.
_SHARE_OF_SESSION_LIFETIME: Final = 0.85
_SASL_HANDSHAKE_VERSION: Final = 1
_FIRST_BYTES: Final = 16
#: A timer that is later than this was delayed by other work of this program, or of the machine.
_BUSY_S: Final = 0.05
#: The most that is added at one time: a program that was stopped for hours reads what has arrived within one turn.
_READING_S: Final = 1.0


class RebootstrapRequired(ClusterUnreachable):
    """The address belongs to another broker or cluster than the metadata says (KIP-1242)."""


class Session:
    """Requests and responses over an open stream; several requests may be in flight.

    A request that times out closes the stream, since responses of later requests would wait behind its own.
    """

    def __init__(self, endpoint: Endpoint, config: ClientConfig) -> None:
        self.endpoint = endpoint
        self.versions = BrokerVersions({}, {})
        self._protocol = config.security_protocol
        self._connection = Connection(config.client_id, remembers=config.remembers_answers)
        self._greeted = False
        self._is_known = False
        self._waiting: dict[int, asyncio.Future[Struct]] = {}
        self._transport: Transport | None = None
        self._closed_by: EosctlError | None = None
        self._first_bytes = b""
        self._expires_at = float("inf")
        self._retired = False

    @classmethod
    async def open(
        cls,
        endpoint: Endpoint,
        config: ClientConfig,
        connector: Connector,
        tls: ssl.SSLContext | None,
        deadline: Deadline,
        *,
        expected: ExpectedNode | None = None,
        is_known: bool = False,
    ) -> Session:
        """Connect, negotiate versions, and authenticate before the deadline.

        Args:
            endpoint: The broker.
            config: The credentials and timeouts.
            connector: Opens the stream.
            tls: The TLS context, None for plaintext.
            deadline: Limit of the attempt.
            expected: The broker that the metadata names at this address; None for a bootstrap address.
            is_known: Whether this broker has served this client before, so that an early disconnect does not indicate a
                wrong security protocol.

        Raises:
            ClusterUnreachable: The connection failed, or the peer is not a Kafka broker.
            RebootstrapRequired: The peer is not the expected broker; only 4.4 and later check it.
            AuthenticationFailed: The certificate or credentials were rejected.
        """
        session = cls(endpoint, config)
        session._is_known = is_known
        await session._connect(connector, tls, deadline)
        try:
            await session._greet(config, connector, deadline, expected)
        except BaseException:
            session.close()
            raise
        return session

    @property
    def is_open(self) -> bool:
        """Return whether requests may be sent: the stream is open and the credentials have not expired."""
        return self._closed_by is None and asyncio.get_running_loop().time() < self._expires_at

    @property
    def is_known(self) -> bool:
        """Return whether the broker has responded to any request after the connection set-up."""
        return self._is_known

    @property
    def certificate(self) -> Certificate | None:
        """Return the validity of the broker's certificate; None without TLS."""
        return None if self._transport is None else self._transport.certificate()

    async def request(
        self, api_key: ApiKey, message: Request[Answer], deadline: Deadline, *, floor: int = 0, cap: int | None = None
    ) -> Answer:
        """Send a request in the highest common version between `floor` and `cap`, and return the response.

        Raises:
            UnsupportedByBroker: There is no common version.
            RequestTimedOut: The broker did not respond before the deadline.
            ClusterUnreachable: The stream broke.
        """
        version = choose_version(
            api_key, self.versions.apis.get(api_key), floor=floor, cap=cap, broker=str(self.endpoint)
        )
        return await self.call(api_key, version, message, deadline)

    async def call(self, api_key: ApiKey, version: int, message: Request[Answer], deadline: Deadline) -> Answer:
        """Send a request in exactly this version and return the response.

        Raises:
            EosctlError: As for `request`.
        """
        if self._closed_by is not None:
            raise self._closed_by
        correlation_id, frame = self._connection.send(api_key, version, message)
        answer: asyncio.Future[Struct] = asyncio.get_running_loop().create_future()
        self._waiting[correlation_id] = answer
        self._write(frame)
        try:
            return cast(Answer, await _patiently(answer, deadline.at))
        except TimeoutError:
            error = RequestTimedOut(
                f"{self.endpoint} did not answer {api_key.name} in time.",
                "The broker is overloaded, paused, or waits for something itself.",
                "Check the broker, or allow more time.",
            )
            self._end(error)
            raise error from None
        finally:
            self._waiting.pop(correlation_id, None)
            if self._retired and not self._waiting:
                self.close()

    def post(self, api_key: ApiKey, message: AnyRequest, cap: int | None) -> None:
        """Send a request that gets no response (Produce with acks=0), in the highest common version up to `cap`.

        Raises:
            UnsupportedByBroker: There is no common version.
            ClusterUnreachable: The stream is closed.
        """
        if self._closed_by is not None:
            raise self._closed_by
        version = choose_version(api_key, self.versions.apis.get(api_key), cap=cap, broker=str(self.endpoint))
        self._write(self._connection.send(api_key, version, message, answered=False)[1])

    def retire(self) -> None:
        """Close the stream once nothing is in flight."""
        self._retired = True
        if not self._waiting:
            self.close()

    def close(self) -> None:
        """Close the stream; requests in flight fail."""
        self._end(
            ClusterUnreachable(
                f"The connection to {self.endpoint} was closed by this client.",
                "It was no longer needed, or the whole client was closed, while a request was under way.",
                "Send the request again; whether the broker has carried it out is not known.",
            )
        )

    def data_received(self, data: bytes) -> None:
        """Receive bytes from the broker (called by the transport)."""
        if len(self._first_bytes) < _FIRST_BYTES:
            self._first_bytes = (self._first_bytes + data)[:_FIRST_BYTES]
        try:
            answers = self._connection.receive(data)
        except WireError as error:
            self._end(explain_foreign_bytes(self.endpoint, self._first_bytes, error))
            return
        self._is_known = self._is_known or self._greeted
        for correlation_id, message in answers:
            waiting = self._waiting.get(correlation_id)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)

    def connection_lost(self, error: Exception | None) -> None:
        """Fail what is in flight (called by the transport)."""
        if self._greeted and not self._is_known and not self._protocol.uses_sasl:
            self._end(explain_silent_refusal(self.endpoint, self._protocol))
        else:
            self._end(_HungUp(self.endpoint, error))

    def _write(self, frame: bytes) -> None:
        if self._transport is not None:
            self._transport.write(frame)

    def _end(self, error: EosctlError) -> None:
        if self._closed_by is not None:
            return
        self._closed_by = error
        if self._transport is not None:
            self._transport.close()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)

    async def _connect(self, connector: Connector, tls: ssl.SSLContext | None, deadline: Deadline) -> None:
        try:
            async with asyncio.timeout_at(deadline.at):
                self._transport = await connector.open(self.endpoint, self, tls)
        except (ssl.SSLError, ConnectionResetError, ConnectionAbortedError) as error:
            if tls is None:
                raise explain_connect_error(self.endpoint, error) from error
            raise await explain_failed_handshake(connector, self.endpoint, error) from error
        except OSError as error:
            raise explain_connect_error(self.endpoint, error) from error

    async def _greet(
        self, config: ClientConfig, connector: Connector, deadline: Deadline, expected: ExpectedNode | None
    ) -> None:
        try:
            await self._agree_on_versions(deadline, expected)
        except _HungUp as error:
            # A rejected client certificate surfaces only now: in TLS 1.3, the client's handshake completes before the
            # server's.
            if isinstance(error.cause, ssl.SSLError):
                raise explain_connect_error(self.endpoint, error.cause) from error
            raise await explain_early_close(connector, self.endpoint, self._protocol) from error
        if config.sasl is not None and self._protocol.uses_sasl:
            await self._authenticate(config.sasl, deadline)
        self._greeted = True

    async def _agree_on_versions(self, deadline: Deadline, expected: ExpectedNode | None) -> None:
        # Below version 5, the codec omits the expected node.
        cluster_id, node_id = expected if expected is not None else (None, -1)
        question = ApiVersionsRequest("eosctl", __version__, cluster_id, node_id)
        response = await self.call(ApiKey.API_VERSIONS, versions(ApiKey.API_VERSIONS)[-1], question, deadline)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            # KIP-511: the error response contains the versions that this broker serves.
            served = next((api for api in response.api_keys if api.api_key == ApiKey.API_VERSIONS), None)
            known = ApiRange(ApiKey.API_VERSIONS, served.min_version, served.max_version) if served else None
            version = choose_version(ApiKey.API_VERSIONS, known or ApiRange(ApiKey.API_VERSIONS, 0, 0))
            response = await self.call(ApiKey.API_VERSIONS, version, question, deadline)
        if response.error_code == ErrorCode.REBOOTSTRAP_REQUIRED:
            raise RebootstrapRequired(
                f"{self.endpoint} is not broker {node_id} of cluster {cluster_id} (REBOOTSTRAP_REQUIRED).",
                "The address now belongs to another broker or to another cluster.",
                "Check the bootstrap addresses and the advertised listeners.",
            )
        if response.error_code:
            raise error_for_code(response.error_code, f"ApiVersions on {self.endpoint}")
        self.versions = parse_broker_versions(response)

    async def _authenticate(self, sasl: SaslConfig, deadline: Deadline) -> None:
        mechanism = sasl.mechanism.value
        handshake = SaslHandshakeRequest(mechanism=mechanism)
        response = await self.call(ApiKey.SASL_HANDSHAKE, _SASL_HANDSHAKE_VERSION, handshake, deadline)
        match known_error(response.error_code):
            case ErrorCode.NONE:
                pass
            case ErrorCode.ILLEGAL_SASL_STATE:
                raise AuthenticationFailed(
                    f"{self.endpoint} does not authenticate through SASL.",
                    "The listener is PLAINTEXT or SSL (it answered ILLEGAL_SASL_STATE).",
                    "Set security.protocol to PLAINTEXT or SSL, or use the SASL listener's port.",
                )
            case ErrorCode.UNSUPPORTED_SASL_MECHANISM:
                raise AuthenticationFailed(
                    f"{self.endpoint} does not offer {mechanism} (UNSUPPORTED_SASL_MECHANISM).",
                    f"It offers: {', '.join(response.mechanisms) or 'nothing'}.",
                    "Set sasl.mechanism to one of these.",
                )
            case error:
                raise error_for_code(error, f"SaslHandshake on {self.endpoint}")
        exchange = authenticate(sasl, self.endpoint.host)
        lifetime_ms = 0
        message = await _advance(exchange, sasl, None, deadline)
        while message is not None:
            step = await self.request(ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(auth_bytes=message), deadline)
            if step.error_code:
                raise AuthenticationFailed(
                    f"{self.endpoint} refused the credentials ({known_error(step.error_code).name}).",
                    step.error_message or "",
                    "Check user and password (sasl.jaas.config) and that the user exists on this cluster.",
                )
            lifetime_ms = step.session_lifetime_ms
            message = await _advance(exchange, sasl, step.auth_bytes, deadline)
        if lifetime_ms > 0:
            loop = asyncio.get_running_loop()
            self._expires_at = loop.time() + lifetime_ms / 1000 * _SHARE_OF_SESSION_LIFETIME


async def _advance(exchange: Exchange, sasl: SaslConfig, received: bytes | None, deadline: Deadline) -> bytes | None:
    """Return the next token to send, None at the end of the exchange; steps that ask others run in a thread."""

    def advance() -> bytes | None:
        try:
            return next(exchange) if received is None else exchange.send(received)
        except StopIteration:
            return None

    if not sasl.asks_others:
        return advance()
    try:
        async with asyncio.timeout_at(deadline.at):
            return await started(advance)
    except TimeoutError:
        raise AuthenticationFailed(
            f"The login with {sasl.mechanism.value} did not end in time.",
            "The KDC or the issuer of tokens does not answer.",
            "Check that it can be reached from this machine: kinit, or the address of the issuer.",
        ) from None


class _HungUp(ClusterUnreachable):
    """The broker closed the stream."""

    def __init__(self, endpoint: Endpoint, error: Exception | None) -> None:
        self.cause = error
        super().__init__(
            f"{endpoint} closed the connection" + (f": {error}." if error is not None else "."),
            "The broker stopped, or refused what it was sent.",
            "Try again; look into the broker's log if it persists.",
        )


async def _patiently(answer: asyncio.Future[Struct], at: float) -> Struct:
    """Wait for an answer until a time of the loop's clock.

    Where this program is busy when the time has come, what has arrived may not be read yet: it waits for as long again
    as the loop was late, at most a second, until the loop is on time.

    Raises:
        TimeoutError: There is no answer.
    """
    loop = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []

    def expire(at: float) -> None:
        late_s = loop.time() - at
        if late_s >= _BUSY_S:
            again = loop.time() + min(late_s, _READING_S)
            timers.append(loop.call_at(again, expire, again))
        elif not answer.done():
            answer.set_exception(TimeoutError())

    timers.append(loop.call_at(at, expire, at))
    try:
        return await answer
    finally:
        timers[-1].cancel()
