"""A broker's lifecycle: register, heartbeat until unfenced, controlled shutdown (`BrokerLifecycleManager`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.controller.features import FEATURES
from eosctl.sandbox.logging.node_events import NodeEvents
from eosctl.sandbox.timing_wheel import Pace
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from eosctl.wire.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener

REGISTRATION_VERSION = 4
HEARTBEAT_VERSION = 1
RETRY_MS = 20
REFUSED_RETRY_MS = 100


class BrokerLifecycleManager:
    """Keeps a broker registered."""

    def __init__(self, broker: BrokerServices, incarnation_id: bytes, registered: Callable[[], None]) -> None:
        self._broker = broker
        self._incarnation_id = incarnation_id
        self._on_registered = registered
        self._shutting_down: Callable[[], None] | None = None
        self._timer_armed = False
        self.unfenced = False
        self.events = NodeEvents(broker.runtime.log, broker.node_id, broker.emulation.release)

    def start(self) -> None:
        """Register with the active controller; retry until one responds."""
        broker = self._broker
        request = BrokerRegistrationRequest(
            broker_id=broker.node_id,
            cluster_id=broker.cluster_id,
            incarnation_id=self._incarnation_id,
            listeners=[
                Listener(name, end.host, end.port, end.security_protocol) for name, end in broker.listeners.items()
            ],
            features=[
                Feature(name, levels.minimum, levels.maximum)
                for name, levels in FEATURES[broker.emulation.release].items()
            ],
            rack=broker.config.get_str("broker.rack") or None,
            is_migrating_zk_broker=False,
            log_dirs=[directory.directory_id for directory in broker.logs.live],
            previous_broker_epoch=broker.logs.previous_broker_epoch,
        )
        broker.channel.send_to_controller(ApiKey.BROKER_REGISTRATION, REGISTRATION_VERSION, request, self._registered)

    def _registered(self, response: Any | None) -> None:
        if response is None:
            self._broker.runtime.call_later(RETRY_MS, self.start)
            return
        if response.error_code:  # Most likely the session of this broker's previous run has not expired yet.
            self._broker.runtime.call_later(REFUSED_RETRY_MS, self.start)
            return
        self._broker.broker_epoch = response.broker_epoch
        self.events.registered(response.broker_epoch)
        self._on_registered()
        self._heartbeat()

    def _heartbeat(self) -> None:
        self._timer_armed = False
        broker = self._broker
        request = BrokerHeartbeatRequest(
            broker_id=broker.node_id,
            broker_epoch=broker.broker_epoch,
            current_metadata_offset=broker.metadata.last_offset,
            want_fence=False,
            want_shut_down=self._shutting_down is not None,
            offline_log_dirs=broker.logs.lost_ids,
        )
        broker.channel.send_to_controller(
            ApiKey.BROKER_HEARTBEAT, HEARTBEAT_VERSION, request, self._handle_heartbeat_response, timeout_ms=4500
        )

    def _handle_heartbeat_response(self, response: Any | None) -> None:
        interval_ms = self._broker.config.get_int("broker.heartbeat.interval.ms")
        if response is None:
            self._again(RETRY_MS)
            return
        if response.error_code:  # The controller no longer knows this registration.
            self._broker.runtime.call_later(RETRY_MS, self.start)
            return
        if not self.unfenced and not response.is_fenced:
            self.events.unfenced()
        self.unfenced = not response.is_fenced
        if self._shutting_down is not None and response.should_shut_down:
            done, self._shutting_down = self._shutting_down, None
            done()
            return
        busy = response.is_fenced or self._shutting_down is not None
        self._again(min(RETRY_MS, interval_ms) if busy else interval_ms)

    def _again(self, delay_ms: float) -> None:
        if not self._timer_armed:
            self._timer_armed = True
            self._broker.runtime.call_later(delay_ms, self._heartbeat, Pace.KEEP_ALIVE)

    def heartbeat_soon(self) -> None:
        """Send a heartbeat immediately, after a log directory failed."""
        if self._broker.broker_epoch >= 0:
            self._heartbeat()

    def shut_down(self, done: Callable[[], None]) -> None:
        """Transfer every leadership, then call `done`."""
        self.events.starts_controlled_shutdown()
        self._shutting_down = done
        self._heartbeat()
