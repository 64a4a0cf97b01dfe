"""The authentication of a connection: the states of Kafka's `SaslServerAuthenticator`.

- ApiVersions may come once, followed by SaslHandshake; any other request closes the connection without a response.
- After a handshake of version 0, tokens are bare frames; after version 1, SaslAuthenticate requests.
- A failure is sent after `connection.failed.authentication.delay.ms`, then the broker closes the connection.
- With `connections.max.reauth.ms`, a session expires, after a handshake of either version; before that, a client may
  authenticate again with the same mechanism (KIP-368).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any, Protocol, cast

from eosctl.model.secret import Secret
from eosctl.sandbox.api import api_versions
from eosctl.sandbox.api.registry import client_versions
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.login_session import LoginSession
from eosctl.sandbox.security.mechanisms import Mechanism, Refused, begin
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.frames import RequestHeader, decode_request_header, encode_response
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from eosctl.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

MAX_LOGIN_BYTES = 524_288  # sasl.server.max.receive.size
FIRST_SESSION_VERSION = 1
FIRST_SOFTWARE_VERSION = 3


class LoginConnection(Protocol):
    """The connection during authentication."""

    @property
    def broker(self) -> BrokerServices:
        """Return the broker of this connection."""

    @property
    def listener(self) -> str:
        """Return the listener that accepted it."""

    @property
    def client_host(self) -> str:
        """Return the client's address."""

    @property
    def principal(self) -> str:
        """Return the current principal, such as `User:ANONYMOUS`."""

    def abort(self) -> None:
        """Close it without a response."""

    def answer(self, frame: bytes) -> None:
        """Send a frame and read the next request."""

    def authenticated(self, principal: str, session: LoginSession, *, by_token: bool = False) -> None:
        """Set the authenticated principal, for a session."""

    def identify(self, software_name: str, software_version: str) -> None:
        """Record the software that the client names."""


class LoginState(Enum):
    """The state of the authentication."""

    HANDSHAKE_OR_VERSIONS = auto()
    HANDSHAKE = auto()
    AUTHENTICATE = auto()
    OTHER_MECHANISM = auto()
    FAILED = auto()


class Login:
    """Handles the frames of a connection until its client is authenticated."""

    def __init__(
        self, connection: LoginConnection, passwords: Mapping[str, Secret], renewed: LoginSession | None = None
    ) -> None:
        self._connection = connection
        self._broker = connection.broker
        self._passwords = passwords
        self._renewed = renewed
        self._state = LoginState.HANDSHAKE_OR_VERSIONS if renewed is None else LoginState.HANDSHAKE
        self._bare_tokens = False
        self._mechanism_name = ""
        self._mechanism: Mechanism | None = None

    def take(self, frame: bytes) -> None:
        """Handle a frame: respond, or close the connection."""
        if len(frame) > MAX_LOGIN_BYTES or self._state is LoginState.FAILED:
            self._connection.abort()
        elif self._state is LoginState.OTHER_MECHANISM:
            self._fail_silently()  # As Kafka, which has no response for this failure.
        elif self._state is LoginState.AUTHENTICATE and self._bare_tokens:
            self._handle_bare_token(frame)
        elif self._state is LoginState.AUTHENTICATE:
            self._handle_request(frame)
        else:
            self._handle_first_request(frame)

    # --- before a mechanism is chosen ---------------------------------------------------------------------------

    def _handle_first_request(self, frame: bytes) -> None:
        header = decode_request_header(frame)
        if header.api_key == ApiKey.API_VERSIONS and self._state is LoginState.HANDSHAKE_OR_VERSIONS:
            self._send_versions(header, frame)
        elif header.api_key == ApiKey.SASL_HANDSHAKE:
            self._handle_handshake(header, frame)
        else:
            self._connection.abort()

    def _send_versions(self, header: RequestHeader, frame: bytes) -> None:
        known = header.api_version in client_versions(header.api_key, self._broker.emulation)
        version = header.api_version if known else 0  # KIP-511
        form = codec(ApiKey.API_VERSIONS, version)
        request = ApiVersionsRequest()
        if known:
            request = cast(ApiVersionsRequest, form.decode_request(frame, header.body_position)[0])

        def reply(response: Any | None) -> None:
            if response.error_code == ErrorCode.NONE:  # type: ignore[union-attr]
                self._state = LoginState.HANDSHAKE
                if version >= FIRST_SOFTWARE_VERSION:
                    self._connection.identify(request.client_software_name, request.client_software_version)
            self._answer(header, response, version)

        api_versions.handle(self._broker, self._context(header, reply), request)

    def _context(self, header: RequestHeader, reply: Callable[[Any | None], None]) -> RequestContext:
        connection = self._connection
        return RequestContext(
            api_key=header.api_key,
            api_version=header.api_version,
            client_id=header.client_id or "",
            client_host=connection.client_host,
            principal=connection.principal,
            listener=connection.listener,
            from_broker=False,
            reply=reply,
        )

    def _handle_handshake(self, header: RequestHeader, frame: bytes) -> None:
        if header.api_version not in client_versions(header.api_key, self._broker.emulation):
            self._connection.abort()
            return
        form = codec(header.api_key, header.api_version)
        request = cast(SaslHandshakeRequest, form.decode_request(frame, header.body_position)[0])
        enabled = self._broker.config.get_str("sasl.enabled.mechanisms").split(",")
        if request.mechanism not in enabled:
            self._refuse(header, SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, enabled), delayed=False)
            return
        self._bare_tokens = header.api_version == 0
        self._mechanism_name = request.mechanism
        if self._renewed is not None and request.mechanism != self._renewed.mechanism:
            self._state = LoginState.OTHER_MECHANISM
            self._answer(header, SaslHandshakeResponse(ErrorCode.NONE, enabled))
            return
        nonce = self._broker.runtime.token_bytes(18).hex()
        self._mechanism = begin(
            request.mechanism,
            self._passwords,
            self._broker.scram_credential,
            self._broker.token_credential,
            nonce,
            is_3_9=self._broker.emulation.is_3_9,
        )
        self._state = LoginState.AUTHENTICATE
        self._answer(header, SaslHandshakeResponse(ErrorCode.NONE, enabled))

    # --- tokens -------------------------------------------------------------------------------------------------

    def _handle_bare_token(self, token: bytes) -> None:
        try:
            answer, over = self._step(token)
        except Refused:
            self._fail_silently()
            return
        self._connection.answer(struct.pack(">i", len(answer)) + answer)
        if over:
            self._finish()

    def _handle_request(self, frame: bytes) -> None:
        header = decode_request_header(frame)
        if header.api_key != ApiKey.SASL_AUTHENTICATE:
            self._connection.abort()
            return
        if header.api_version not in client_versions(header.api_key, self._broker.emulation):
            self._connection.abort()
            return
        form = codec(header.api_key, header.api_version)
        request = cast(SaslAuthenticateRequest, form.decode_request(frame, header.body_position)[0])
        try:
            answer, over = self._step(request.auth_bytes)
        except Refused as refused:
            failure = SaslAuthenticateResponse(ErrorCode.SASL_AUTHENTICATION_FAILED, str(refused))
            self._refuse(header, failure, delayed=True)
            return
        lifetime_ms = self._lifetime_ms if over and header.api_version >= FIRST_SESSION_VERSION else 0
        self._answer(header, SaslAuthenticateResponse(ErrorCode.NONE, None, answer, lifetime_ms))
        if over:
            self._finish()

    def _step(self, token: bytes) -> tuple[bytes, bool]:
        if self._mechanism is None:
            raise Refused("no mechanism was chosen")
        answer = self._mechanism.step(token)
        user = self._mechanism.user
        if user is not None and self._renewed is not None and f"User:{user}" != self._connection.principal:
            raise Refused(f"Cannot change principals during re-authentication from {self._connection.principal}")
        return answer, user is not None

    def _finish(self) -> None:
        if self._mechanism is not None and self._mechanism.user is not None:
            by_token = self._mechanism.token_expires_ms is not None
            began_ms = None if self._renewed is None else self._renewed.renewal_began_ms
            ends_ms = self._broker.runtime.now_ms() + self._lifetime_ms if self._lifetime_ms else None
            session = LoginSession(self._mechanism_name, ends_ms, began_ms)
            self._connection.authenticated(f"User:{self._mechanism.user}", session, by_token=by_token)

    def _fail_silently(self) -> None:
        self._state = LoginState.FAILED
        self._broker.runtime.call_later(self._delay_ms, self._connection.abort)

    # --- answers ------------------------------------------------------------------------------------------------

    @property
    def _lifetime_ms(self) -> int:
        """Return the time until the client must authenticate again, at most that until its token expires; 0: never."""
        longest_ms = self._broker.config.get_int("connections.max.reauth.ms")
        expires_ms = None if self._mechanism is None else self._mechanism.token_expires_ms
        if expires_ms is None:
            return longest_ms
        left_ms = max(0, expires_ms - self._broker.runtime.now_ms())
        return min(left_ms, longest_ms) if longest_ms else left_ms

    @property
    def _delay_ms(self) -> int:
        return self._broker.config.get_int("connection.failed.authentication.delay.ms")

    def _answer(self, header: RequestHeader, response: Any, version: int | None = None) -> None:
        version = header.api_version if version is None else version
        self._connection.answer(encode_response(header.api_key, version, header.correlation_id, response))

    def _refuse(self, header: RequestHeader, response: Any, *, delayed: bool) -> None:
        self._state = LoginState.FAILED

        def respond() -> None:
            self._answer(header, response)
            self._connection.abort()

        if delayed and self._delay_ms:
            self._broker.runtime.call_later(self._delay_ms, respond)
        else:
            respond()
