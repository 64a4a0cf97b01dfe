"""The clients that push metrics to one broker (`ClientMetricsManager`).

A broker has this part if one of its `metric.reporters` receives client metrics. The sandbox's receiver checks that a
payload can be decompressed, and drops it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import google_crc32c

from eosctl.sandbox.coordinator.group.streams.java_collections import hash_order
from eosctl.sandbox.ports import BrokerConfig
from eosctl.sandbox.replies import ClientInformation
from eosctl.sandbox.telemetry.subscription import ALL_METRICS, DEFAULT_INTERVAL_MS, Subscription, subscription_of
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsResponse
from eosctl.wire.messages.push_telemetry import PushTelemetryRequest
from eosctl.wire.records.compression import Compression, decompress

MAX_CLIENTS: Final = 16_384
MIN_EXPIRY_MS: Final = 60_000
EXPIRY_INTERVALS: Final = 3
JMX_REPORTER: Final = "org.apache.kafka.common.metrics.JmxReporter"
ACCEPTED: Final = (Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY)
RESERVED_IDS: Final = (bytes(16), bytes(15) + b"\x01")
_RESUBSCRIBE: Final = (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


def receives_client_metrics(config: BrokerConfig) -> bool:
    """Return whether a reporter is configured; Kafka's own one receives no client metrics."""
    names = (name.strip() for name in config.get_str("metric.reporters").split(","))
    return any(name not in ("", JMX_REPORTER) for name in names)


class ClientInstance:
    """A client with its subscription, and the times of its requests."""

    def __init__(self, metrics: list[str], interval_ms: int, subscription_id: int, version: int) -> None:
        self.metrics = metrics
        self.interval_ms = interval_ms
        self.subscription_id = subscription_id
        self.version = version
        self.terminating = False
        self.last_error = ErrorCode.NONE
        self.used_ms = 0
        self._subscribed_ms = 0
        self._pushed_ms = 0

    def may_subscribe(self, now_ms: int) -> bool:
        """Return whether the push interval has elapsed since the last request; record this one then."""
        if now_ms - max(self._subscribed_ms, self._pushed_ms) < self.interval_ms:
            return False
        self._subscribed_ms = now_ms
        return True

    def may_push(self, now_ms: int) -> bool:
        """Return whether the client has subscribed since its last push or waited for an interval; record the push."""
        if self._subscribed_ms <= self._pushed_ms and now_ms - self._pushed_ms < self.interval_ms:
            return False
        self._pushed_ms = now_ms
        return True

    def is_expired(self, now_ms: int) -> bool:
        """Return whether a broker has forgotten the client."""
        return now_ms - self.used_ms >= max(MIN_EXPIRY_MS, EXPIRY_INTERVALS * self.interval_ms)


class ClientMetricsManager:
    """The subscriptions of a cluster, and the clients of a broker; the least recently used are forgotten first.

    3.9 throttles clients that subscribe again after an error, too.
    """

    def __init__(self, max_bytes: int, now_ms: Callable[[], int], new_id: Callable[[], bytes], *, is_3_9: bool) -> None:
        self._max_bytes = max_bytes
        self._excused = () if is_3_9 else _RESUBSCRIBE
        self._now_ms = now_ms
        self._new_id = new_id
        self._subscriptions: dict[str, Subscription] = {}
        self._version = 0
        self._clients: dict[bytes, ClientInstance] = {}

    def update(self, name: str, values: Mapping[str, str]) -> None:
        """Replace a subscription; remove it without settings. Clients notice with their next request."""
        if values:
            self._subscriptions[name] = subscription_of(values)
        else:
            self._subscriptions.pop(name, None)
        self._version += 1

    def subscribe(
        self, instance_id: bytes, client_id: str, client: ClientInformation
    ) -> GetTelemetrySubscriptionsResponse:
        """Return the subscription of a client, with a new id if it has none."""
        instance_id = self._new_id() if instance_id == RESERVED_IDS[0] else instance_id
        instance = self._find(instance_id, client_id, client)
        if not instance.may_subscribe(self._now_ms()) and instance.last_error not in self._excused:
            return GetTelemetrySubscriptionsResponse(error_code=ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.last_error = ErrorCode.NONE
        instance.terminating = False
        return GetTelemetrySubscriptionsResponse(
            client_instance_id=instance_id,
            subscription_id=instance.subscription_id,
            accepted_compression_types=ACCEPTED,
            push_interval_ms=instance.interval_ms,
            telemetry_max_bytes=self._max_bytes,
            delta_temporality=True,
            requested_metrics=instance.metrics,
        )

    def push(self, request: PushTelemetryRequest, client_id: str, client: ClientInformation) -> ErrorCode:
        """Receive the metrics of a client."""
        if request.client_instance_id in RESERVED_IDS:
            return ErrorCode.INVALID_REQUEST
        instance = self._find(request.client_instance_id, client_id, client)
        instance.last_error = self._problem(instance, request)
        if instance.last_error:
            return instance.last_error
        instance.terminating = request.terminating
        if request.metrics and request.compression_type != Compression.NONE:
            try:
                decompress(request.compression_type, request.metrics)
            except WireError:
                return ErrorCode.INVALID_RECORD
        return ErrorCode.NONE

    def forget(self, instance_id: bytes) -> None:
        """Forget a client that has disconnected."""
        self._clients.pop(instance_id, None)

    def _problem(self, instance: ClientInstance, request: PushTelemetryRequest) -> ErrorCode:
        if instance.terminating:
            return ErrorCode.INVALID_REQUEST
        if not instance.may_push(self._now_ms()) and not request.terminating:
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED
        if request.subscription_id != instance.subscription_id:
            return ErrorCode.UNKNOWN_SUBSCRIPTION_ID
        if request.compression_type not in (Compression.NONE, *ACCEPTED):
            return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        if len(request.metrics) > self._max_bytes:
            return ErrorCode.TELEMETRY_TOO_LARGE
        return ErrorCode.NONE

    def _find(self, instance_id: bytes, client_id: str, client: ClientInformation) -> ClientInstance:
        now_ms = self._now_ms()
        found = self._clients.pop(instance_id, None)
        if found is None or found.version < self._version or found.is_expired(now_ms):
            found = self._new_instance(instance_id, client_id, client)
        found.used_ms = now_ms
        self._clients[instance_id] = found
        if len(self._clients) > MAX_CLIENTS:
            del self._clients[next(iter(self._clients))]
        return found

    def _new_instance(self, instance_id: bytes, client_id: str, client: ClientInformation) -> ClientInstance:
        matching = [one for one in self._subscriptions.values() if one.matches(instance_id, client_id, client)]
        interval_ms = min((one.interval_ms for one in matching), default=DEFAULT_INTERVAL_MS)
        metrics = hash_order(name for one in matching for name in one.metrics)
        if ALL_METRICS in metrics:
            metrics = [ALL_METRICS]
        interval_ms = min(interval_ms, DEFAULT_INTERVAL_MS)
        return ClientInstance(metrics, interval_ms, _subscription_id(metrics, interval_ms, instance_id), self._version)


def _subscription_id(metrics: list[str], interval_ms: int, instance_id: bytes) -> int:
    """Return Kafka's checksum of a subscription, which differs from client to client."""
    checksum: int = google_crc32c.value(f"[{', '.join(metrics)}]{interval_ms}".encode())
    parts = [int.from_bytes(instance_id[at : at + 4], "big") for at in range(0, 16, 4)]
    code = checksum ^ parts[0] ^ parts[1] ^ parts[2] ^ parts[3]
    return code - (1 << 32) if code >> 31 else code
