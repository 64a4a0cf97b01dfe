"""A client connection without I/O. It handles one request at a time, as Kafka's muted channels do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from eosctl.sandbox.api.registry import handler
from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.broker.client_stream import END, ClientStream
from eosctl.sandbox.broker.exchange import ClientConnection, Exchange
from eosctl.sandbox.broker.fetch_exchange import FETCH, FetchExchange, equal_part
from eosctl.sandbox.broker.routes import Route
from eosctl.sandbox.broker.sliced_requests import SlicedRequest, has_many_entries
from eosctl.sandbox.ports import RequestContext, Timer
from eosctl.sandbox.replies import Reply
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.security.login_session import LoginSession
from eosctl.sandbox.security.sasl_server_authenticator import MAX_LOGIN_BYTES, Login
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec
from eosctl.wire.errors import WireError
from eosctl.wire.frames import FrameSplitter, RequestHeader, request_header_fields
from eosctl.wire.messages.api_versions import ApiVersionsRequest

UNKNOWN_SOFTWARE: Final = ("unknown", "unknown")
SLICED_FROM_BYTES: Final = 1_000  # Shorter requests have few entries.
NANOSECONDS_PER_PERCENT: Final = 10_000_000  # Of a second of one thread.
OUTPUT_LIMIT_BYTES: Final = 1 << 20  # With more unsent bytes than this, the next request waits.


class Connection(ClientConnection):
    """A client's connection to a broker.

    `on_output` is called when there are bytes to send (see `take_output`), `on_close` when the broker closes the
    connection. `principal` changes when the client authenticates.
    """

    def __init__(
        self,
        broker: Broker,
        listener: str,
        client_host: str,
        on_output: Callable[[], None],
        on_close: Callable[[], None],
        client_port: int = 0,
    ) -> None:
        self.broker = broker
        self.listener = listener
        self.client_host = client_host
        self.client_port = client_port
        self.software = UNKNOWN_SOFTWARE
        self.by_token = False
        self.principal = "User:ANONYMOUS"
        self.closed = False
        self.close_listeners: dict[object, Callable[[], None]] = {}
        self.kept: dict[bytes, Callable[[int], bool]] = {}
        self._on_output = on_output
        self._on_close = on_close
        self._splitter = FrameSplitter(broker.config.get_int("socket.request.max.bytes"))
        self._frames: deque[bytes] = deque()
        self._muted = False
        self._throttle_ms = 0
        self._pumping = False
        self._held = False
        self._output: list[bytes] = []
        self._output_bytes = 0
        self.on_drained: Callable[[], None] | None = None  # Called once no request is queued any more.
        self._login = Login(self, broker.passwords) if broker.needs_login(listener) else None
        self._session = LoginSession("")
        self._began_ns: int | None = None  # When the handler of the present request was called; None once it returned.
        self._took_ns = 0
        self._stream: ClientStream | None = None
        self._active_ms = broker.runtime.elapsed_ms()  # When bytes were last received or sent.
        self._max_idle_ms = broker.config.get_int("connections.max.idle.ms")
        self._idle_timer: Timer | None = None if self._max_idle_ms < 0 else self._await_idleness(self._max_idle_ms)

    def _await_idleness(self, delay_ms: int) -> Timer:
        return self.broker.runtime.call_later(delay_ms + 1, self._close_if_idle)

    def _close_if_idle(self) -> None:
        """Disconnect a client that was idle for longer than `connections.max.idle.ms`, also within a request."""
        idle_ms = self.broker.runtime.elapsed_ms() - self._active_ms
        if idle_ms > self._max_idle_ms:
            self.abort()
        else:
            self._idle_timer = self._await_idleness(self._max_idle_ms - idle_ms)

    def disturbed_stream(self) -> ClientStream | None:
        """Return the faults on this connection; None if there was never one."""
        if self._stream is None and self.broker.client_faults.faults:
            self._stream = ClientStream(self.broker.node_id, self.broker.runtime, self.broker.client_faults, self)
        return self._stream

    def feed(self, data: bytes) -> None:
        """Add received bytes and handle every complete request that is not queued behind another."""
        if self.closed:
            return
        self._active_ms = self.broker.runtime.elapsed_ms()
        try:
            frames: Sequence[bytes] = self._splitter.feed(data)
        except WireError:
            self.abort()
            return
        stream = self.disturbed_stream()
        if stream is not None and self._login is None:
            frames = stream.arrive(frames)
        self._frames.extend(frames)
        if self._login is not None and self._splitter.buffered_bytes > MAX_LOGIN_BYTES:
            self.abort()  # Limit the memory of unauthenticated clients.
            return
        self._pump()

    def take(self, frames: Sequence[bytes]) -> None:
        """Handle requests that a fault held back."""
        self._frames.extend(frames)
        self._pump()

    def emit(self, frame: bytes) -> None:
        """Send a response that a fault held back."""
        if not self.closed:
            self._queue(frame)

    def identify(self, software_name: str, software_version: str) -> None:
        """Record the software that the client names in ApiVersions."""
        self.software = software_name, software_version

    def authenticated(self, principal: str, session: LoginSession, *, by_token: bool = False) -> None:
        """Set the authenticated principal, for a session."""
        self.principal, self.by_token = principal, by_token
        self._login, self._session = None, session

    def answer(self, frame: bytes) -> None:
        """Queue a response (empty: none) and handle the next request."""
        if self.closed:
            return
        if frame:
            self._queue(frame)
        if self._throttle_ms:
            throttle_ms, self._throttle_ms = self._throttle_ms, 0
            self.broker.runtime.call_later(throttle_ms, self._unmute)
        else:
            self._unmute()

    def throttle(self, throttle_ms: int) -> None:
        """Keep the connection muted for this time after the next response."""
        self._throttle_ms = max(self._throttle_ms, throttle_ms)

    def count_request_time(self, client_id: str) -> int:
        """Add the time in the handler to the client's `request_percentage`; return its throttle time."""
        broker = self.broker
        if not broker.request_quota.is_active:
            return 0
        took_ns = self._took_ns if self._began_ns is None else broker.runtime.work_ns() - self._began_ns
        percentage = took_ns / NANOSECONDS_PER_PERCENT
        return broker.request_quota.record(self.principal, client_id, percentage, broker.runtime.now_ms())

    def _unmute(self) -> None:
        self._muted = False
        if self._frames and not self._pumping:
            self._pump()

    def _queue(self, frame: bytes) -> None:
        if not self._output:
            self._on_output()
        self._output.append(frame)
        self._output_bytes += len(frame)

    def take_output(self) -> bytes:
        """Return and clear the queued responses."""
        self._active_ms = self.broker.runtime.elapsed_ms()
        output, self._output = self._output, []
        if self._output_bytes >= OUTPUT_LIMIT_BYTES and self._frames:
            self.broker.runtime.call_soon(self._pump)
        self._output_bytes = 0
        return output[0] if len(output) == 1 else b"".join(output)

    def hold(self) -> None:
        """Handle no request until `release`, because the client does not read its responses."""
        self._held = True

    def release(self) -> None:
        """Resume after `hold`."""
        self._held = False
        self._pump()

    @property
    def has_backlog(self) -> bool:
        """Return whether requests are queued."""
        return bool(self._frames)

    def abort(self) -> None:
        """Abort the connection."""
        if not self.closed:
            self._end()
            self._on_close()

    def lost(self) -> None:
        """Record that the client disconnected; requests sent before may still be in transit."""
        if self._stream is not None and not self._stream.ends():
            return
        self._end()

    def _end(self) -> None:
        self.closed = True
        self._frames.clear()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        for call in self.close_listeners.values():
            self.broker.runtime.call_soon(call)
        self.close_listeners.clear()

    def _pump(self) -> None:
        if self.broker.paused is not None:
            self.broker.paused.append(self._pump)
            return
        self._pumping = True
        frames = self._frames
        try:
            while frames and not (self._muted or self._held or self.closed or self._output_bytes >= OUTPUT_LIMIT_BYTES):
                self._muted = True
                try:
                    if self.broker.metadata.quotas:
                        self._handle_timed(frames.popleft())
                    else:
                        self._handle(frames.popleft())
                except WireError:
                    self.abort()
                except BaseException:
                    self.abort()  # An internal error closes this client's connection and is reported by the loop.
                    raise
        finally:
            self._pumping = False
        if self.on_drained and not frames:
            self.on_drained()

    def _handle_timed(self, frame: bytes) -> None:
        self._began_ns = began_ns = self.broker.runtime.work_ns()
        self._handle(frame)
        self._began_ns, self._took_ns = None, self.broker.runtime.work_ns() - began_ns

    def _handle(self, frame: bytes) -> None:
        if frame is END:
            self.lost()
            return
        if self._login is not None:
            self._login.take(frame)
            return
        if self.kept and self._session.ends_ms is None:
            repeats = self.kept.get(equal_part(frame))
            if repeats is not None and repeats(int.from_bytes(frame[4:8], "big", signed=True)):
                return
        api_key, version, correlation_id, client_id, position = request_header_fields(frame)
        broker = self.broker
        if self._session.ends_ms is not None and not self._accepts_until_reauthenticated(api_key, frame):
            return
        route = broker.requests.route(api_key, version, from_broker=False)
        if route is None:
            self._refuse(RequestHeader(api_key, version, correlation_id, client_id, position))
            return
        request, _ = route.codec.decode_request(frame, position)
        if api_key == FETCH:
            exchange: Exchange = FetchExchange(self, client_id or "", correlation_id, route.codec, frame)
        else:
            exchange = Exchange(self, client_id or "", correlation_id, route.codec)
        context = RequestContext(
            api_key,
            version,
            client_id or "",
            self.client_host,
            self.principal,
            self.listener,
            False,
            exchange,
            len(frame),
        )
        if len(frame) > SLICED_FROM_BYTES and has_many_entries(api_key, request):
            handle = partial(self._handle_slice, route, context)
            SlicedRequest(api_key, request, broker.runtime, handle, context.reply).start()
        elif broker.authorizer is None or route.guard is None:
            route.handle(broker, context, request)
        else:
            route.guard(Access(broker, context, route.handle), request)

    def _handle_slice(self, route: Route, whole: RequestContext, reply: Reply, request: Any) -> None:
        if self.closed:
            return
        context = replace(whole, reply=reply)
        try:
            if self.broker.authorizer is None or route.guard is None:
                route.handle(self.broker, context, request)
            else:
                route.guard(Access(self.broker, context, route.handle), request)
        except BaseException:
            self.abort()  # As for a whole request; later slices have no caller that does it.
            raise

    def _accepts_until_reauthenticated(self, api_key: int, frame: bytes) -> bool:
        """Return whether an expiring session still accepts this request; a handshake renews it (KIP-368)."""
        now_ms = self.broker.runtime.now_ms()
        if api_key == ApiKey.SASL_HANDSHAKE and self._session.may_renew(now_ms):
            self._login = Login(self, self.broker.passwords, self._session.renewing(now_ms))
            self._login.take(frame)
            return False
        if not self._session.is_over(now_ms):
            return True
        self.abort()
        return False

    def _refuse(self, header: RequestHeader) -> None:
        if header.api_key != ApiKey.API_VERSIONS:
            self.abort()
            return
        # An unsupported ApiVersions version is answered in version 0, from which clients choose one (KIP-511).
        form = codec(ApiKey.API_VERSIONS, 0)
        context = RequestContext(
            header.api_key,
            header.api_version,
            header.client_id or "",
            self.client_host,
            self.principal,
            self.listener,
            False,
            Exchange(self, header.client_id or "", header.correlation_id, form),
        )
        handler(ApiKey.API_VERSIONS)(self.broker, context, ApiVersionsRequest())
