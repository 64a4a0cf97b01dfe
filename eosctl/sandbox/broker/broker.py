"""A broker: start, stop, and application of committed metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from eosctl.model.secret import Secret
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api.registry import client_route, peer_route
from eosctl.sandbox.broker.broker_lifecycle_manager import BrokerLifecycleManager
from eosctl.sandbox.broker.client_stream import ClientFaults
from eosctl.sandbox.broker.config import ConfigSources, NodeConfig
from eosctl.sandbox.broker.error_counts import ErrorCounts
from eosctl.sandbox.broker.routes import ServedRequests
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.channel import NodeChannel
from eosctl.sandbox.coordinator.leaderships import CoordinatorLeaderships
from eosctl.sandbox.log.directories import LogDirectories
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.housekeeping import Housekeeping
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE, ImageDelta, ListenerEndpoint
from eosctl.sandbox.metadata.records import ReplayedBatch
from eosctl.sandbox.metadata.replay import replay_in_turns
from eosctl.sandbox.ports import (
    CONSUMER_OFFSETS_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
    Emulation,
)
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.telemetry.subscription import CLIENT_METRICS_RESOURCE
from eosctl.sandbox.timing_wheel import Pace
from eosctl.sandbox.turns import TurnQueue

CLIENT_LISTENER: Final = "PLAINTEXT"


class Broker(BrokerServices):
    """A broker of the sandbox: the services of its handlers, with registration, housekeeping, and metadata replay.

    Attributes:
        on_ready: Called once the controller has unfenced this broker.
        early_requests: Requests of other nodes that arrived before the broker was ready.
        on_disconnect: Closes the connections of all clients.
        error_counts: Errors by API, counted while metrics are served.
    """

    def __init__(
        self,
        node_id: int,
        cluster_id: str,
        runtime: NodeRuntime,
        channel: NodeChannel,
        config: NodeConfig,
        emulation: Emulation,
        logs: LogDirectories,
        listeners: Mapping[str, ListenerEndpoint],
    ) -> None:
        super().__init__(node_id, cluster_id, runtime, channel, config, emulation, logs, listeners)
        logs.on_lost = self._handle_directory_failure
        self.passwords: Mapping[str, Secret] = {}
        self.is_ready = False
        self.on_ready: Callable[[], None] = _nothing
        self.early_requests: list[Callable[[], None]] = []
        self.on_disconnect: Callable[[], None] = _nothing
        self.client_faults = ClientFaults()
        self.error_counts: ErrorCounts | None = None
        self.requests = ServedRequests(self.emulation, client_route, peer_route)
        self.count_request = self.requests.count_peer
        self.lifecycle = BrokerLifecycleManager(self, runtime.random.randbytes(16), self.registered)
        self.leaderships = CoordinatorLeaderships(
            {
                TRANSACTION_STATE_TOPIC: self.transactions,
                CONSUMER_OFFSETS_TOPIC: self.groups,
                SHARE_GROUP_STATE_TOPIC: self.shares,
            }
        )
        self.replicas.listeners += [self.followers, self.leaderships]
        self._batches = TurnQueue(runtime, self._apply)  # Committed, and not applied completely.

    # --- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Register and start the periodic work; `on_ready` is called once the controller has unfenced this broker."""
        self.lifecycle.start()
        self._every("replica.lag.time.max.ms", 0.5, self.isr.shrink_lagging)
        self._every("replica.high.watermark.checkpoint.interval.ms", 1, self.logs.checkpoint)
        self._every("producer.id.expiration.check.interval.ms", 1, self._expire_producers)
        Housekeeping(self.runtime, self.config, self.logs, self._own_logs).start()

    def registered(self) -> None:
        """Continue after registration: producer ids and transaction timers need the broker epoch."""
        self.followers.broker_epoch = self.broker_epoch
        self.leaderships.caught_up(self.metadata.last_offset, self.broker_epoch)
        self.producer_ids.start()
        self.transactions.start()

    def stop(self, *, clean: bool) -> None:
        """Stop serving. A clean stop leaves complete files, any other the files of a killed process."""
        self.stopped = True
        self.runtime.stop()
        self.logs.close(clean=clean, broker_epoch=self.broker_epoch)

    def _every(self, setting: str, factor: float, call: Callable[[], None]) -> None:
        def run() -> None:
            self.runtime.call_later(self.config.get_int(setting) * factor, run, Pace.SCAN)
            call()

        self.runtime.call_later(self.config.get_int(setting) * factor, run, Pace.SCAN)

    def _own_logs(self) -> list[PartitionLog]:
        return [partition.log for partition in self.replicas.partitions.values()]

    def _expire_producers(self) -> None:
        now_ms = self.runtime.now_ms()
        expiration_ms = self.config.get_int("producer.id.expiration.ms")
        for partition in self.replicas.partitions.values():
            partition.log.producers.expire(now_ms, expiration_ms)

    # --- metadata -----------------------------------------------------------------------------------------------

    def apply_metadata(self, batch: ReplayedBatch) -> None:
        """Apply a committed batch of the metadata log, in as many turns as its partitions take, after earlier ones."""
        self._batches.add(batch)

    def _apply(self, batch: ReplayedBatch) -> Iterator[None]:
        image, delta = self.metadata, ImageDelta()
        yield from replay_in_turns(image, batch.records, delta)
        image.last_offset = batch.last_offset
        image.last_epoch = batch.epoch
        if delta.configs:
            self._apply_configs(delta)
        if delta.acls and self.authorizer is not None:
            self.authorizer.replace(image.acls)
        if delta.partitions or delta.removed_topics:
            yield from self.replicas.apply(image, delta, self.topic_settings_by_overrides())
            self.assignments.reconcile(image, delta.partitions)
            if delta.removed_topics:
                self.shares.topics_deleted(topic.topic_id for topic in delta.removed_topics)
                self.groups.topics_deleted(topic.topic_id for topic in delta.removed_topics)
                self.groups.partitions_deleted(
                    TopicPartition(topic.name, index)
                    for topic in delta.removed_topics
                    for index in range(topic.partition_count)
                )
        for broker_id in delta.brokers:
            self.followers.leader_changed_state(broker_id)
            if broker_id == self.node_id:
                self._note_own_state()
        self.leaderships.caught_up(image.last_offset, self.broker_epoch)

    def _handle_directory_failure(self, directory: LogDirectory) -> None:
        """Remove the partitions of a failed directory; their unwritten appends are never acknowledged."""
        if any(log.store.has_unwritten for _, log in directory.logs()):
            self.on_disconnect()
        self.replicas.take_offline([partition for partition, _ in directory.logs()])
        self.lifecycle.heartbeat_soon()

    def _apply_configs(self, delta: ImageDelta) -> None:
        image = self.metadata
        for kind, name in delta.configs:
            if kind == CLIENT_METRICS_RESOURCE:
                self.client_metrics.update(name, image.config(kind, name))
        names = {(BROKER_RESOURCE, ""), (BROKER_RESOURCE, str(self.node_id))}
        topics = {name for kind, name in delta.configs if kind == TOPIC_RESOURCE}
        if names & delta.configs:
            self.config.replace_dynamic(
                ConfigSources(image.config(BROKER_RESOURCE, str(self.node_id)), image.config(BROKER_RESOURCE, ""))
            )
            self.connection_quotas.apply_settings()
            topics = {partition.topic for partition in self.replicas.partitions}
        for topic in topics:
            self.replicas.apply_settings(topic, self.topic_settings(topic))

    def _note_own_state(self) -> None:
        own = self.metadata.brokers.get(self.node_id)
        if own is not None and not own.fenced and own.broker_epoch == self.broker_epoch and not self.is_ready:
            self.is_ready = True
            self.moves.resume(self.replicas.partitions)
            for serve in self.early_requests:
                self.runtime.call_soon(serve)
            self.on_ready()


def _nothing() -> None:
    """Ignore a notification that has no receiver."""
