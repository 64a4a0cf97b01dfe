"""One broker: its parts, how metadata reaches them, and what API handlers ask of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.model.secret import Secret
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.broker.client_stream import ClientFaults
from eosctl.sandbox.broker.config import ConfigSources, NodeConfig
from eosctl.sandbox.broker.connection import Exchange
from eosctl.sandbox.broker.error_counts import ErrorCounts
from eosctl.sandbox.broker.lifecycle import Lifecycle
from eosctl.sandbox.broker.served import ServedRequests
from eosctl.sandbox.channel import NodeChannel
from eosctl.sandbox.coordinator.group.coordinator import GroupCoordinator
from eosctl.sandbox.coordinator.leaderships import CoordinatorLeaderships
from eosctl.sandbox.coordinator.transaction.coordinator import TransactionCoordinator
from eosctl.sandbox.coordinator.transaction.producer_ids import ProducerIdManager
from eosctl.sandbox.coordinator.transaction.verification import VerificationManager
from eosctl.sandbox.log.directories import LogDirectories
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.housekeeping import Housekeeping
from eosctl.sandbox.log.moving import ReplicaMoves
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.metadata.image import (
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
    ClusterImage,
    ImageDelta,
    ListenerEndpoint,
)
from eosctl.sandbox.metadata.records import ReplayedBatch
from eosctl.sandbox.metadata.replay import replay
from eosctl.sandbox.ports import (
    CONSUMER_OFFSETS_TOPIC,
    TRANSACTION_STATE_TOPIC,
    Emulation,
    RequestContext,
)
from eosctl.sandbox.replication.assignments import DirectoryAssignments
from eosctl.sandbox.replication.fetch_sessions import FetchSessions
from eosctl.sandbox.replication.follower import ReplicaFetcher
from eosctl.sandbox.replication.follower_manager import FollowerManager
from eosctl.sandbox.replication.isr import IsrManager
from eosctl.sandbox.replication.replica_manager import ReplicaManager
from eosctl.sandbox.replication.verification import VerificationPolicy
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.security.access import Amended
from eosctl.sandbox.security.authorizer import authorizer_of
from eosctl.sandbox.security.mechanisms import ScramCredential
from eosctl.sandbox.security.protocol import SecurityProtocol
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

if TYPE_CHECKING:
    from eosctl.sandbox.coordinator.group.host import GroupHost

CLIENT_LISTENER: Final = "PLAINTEXT"
INTERNAL_TOPICS: Final = (CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC)
ADMIN_CLIENT_ID: Final = "__admin_client"
CREATE_TOPICS_VERSION: Final = 7


class Address(NamedTuple):
    """Where clients of one listener find a broker."""

    host: str
    port: int
    rack: str | None


class Broker:
    """A broker of the sandbox; attributes are its parts, methods what handlers and coordinators need of the whole."""

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
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.runtime = runtime
        self.channel = channel
        self.config = config
        self.emulation = emulation
        self.logs = logs
        logs.on_lost = self._directory_lost
        self.listeners = dict(listeners)
        self.metadata = ClusterImage()
        self.passwords: Mapping[str, Secret] = {}
        self.authorizer = authorizer_of(config, self.metadata)
        self.is_ready = False
        self.on_ready: Callable[[], None] = _nothing
        self.early_requests: list[Callable[[], None]] = []  # of other nodes, that came before it was ready
        self.on_disconnect: Callable[[], None] = _nothing  # breaks the connections of all clients
        self.in_reach: Callable[[int], Broker | None] = _nobody  # another broker that gets messages as they are
        self.stopped = False
        self.client_faults = ClientFaults()
        self.paused: list[Callable[[], None]] | None = None  # while this process stands still: who waits to be served
        self.error_counts: ErrorCounts | None = None  # counted where metrics are served
        self.requests = ServedRequests(emulation)
        self.replicas = ReplicaManager(
            node_id,
            runtime,
            logs,
            VerificationPolicy(
                lambda: config.get_bool("transaction.partition.verification.enable"), is_3_9=emulation.is_3_9
            ),
            is_3_9=emulation.is_3_9,
        )
        self.replicas.known = self._is_known
        self.fetch_sessions = FetchSessions(
            runtime.random, config.get_int("max.incremental.fetch.session.cache.slots"), 120_000
        )
        self.lifecycle = Lifecycle(self, runtime.random.randbytes(16))
        self.isr = IsrManager(
            self.replicas,
            runtime,
            channel,
            broker_epoch=lambda: self.lifecycle.broker_epoch,
            epoch_of=self._epoch_of,
            is_active=self._is_active,
            max_lag_ms=lambda: config.get_int("replica.lag.time.max.ms"),
        )
        self.assignments = DirectoryAssignments(node_id, runtime, channel, logs, lambda: self.lifecycle.broker_epoch)
        self.moves = ReplicaMoves(runtime, logs, self.assignments.moved)
        self.followers = FollowerManager(self.replicas, runtime, channel, config.get_int("replica.fetch.wait.max.ms"))
        self.producer_ids = ProducerIdManager(
            node_id=node_id, runtime=runtime, channel=channel, broker_epoch=lambda: self.lifecycle.broker_epoch
        )
        self.verification = VerificationManager(
            runtime=runtime, config=config, emulation=emulation, metadata=self.metadata, channel=channel
        )
        self.transactions = TransactionCoordinator(
            runtime=runtime,
            config=config,
            emulation=emulation,
            metadata=self.metadata,
            replicas=self.replicas,
            channel=channel,
            producer_ids=self.producer_ids,
            log=runtime.log,
            node_id=node_id,
        )
        self.groups = GroupCoordinator(self._as_group_host(), runtime.log, node_id)
        self.leaderships = CoordinatorLeaderships(
            {TRANSACTION_STATE_TOPIC: self.transactions, CONSUMER_OFFSETS_TOPIC: self.groups}
        )
        self._creating: set[str] = set()
        self.replicas.listeners += [self.followers, self.leaderships]

    def _as_group_host(self) -> GroupHost:
        return self

    # --- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Register and begin the periodic work; ``on_ready`` is called once the controller lets this broker serve."""
        self.lifecycle.start()
        self._every("replica.lag.time.max.ms", 0.5, self.isr.shrink_lagging)
        self._every("replica.high.watermark.checkpoint.interval.ms", 1, self.logs.checkpoint)
        self._every("producer.id.expiration.check.interval.ms", 1, self._expire_producers)
        Housekeeping(self.runtime, self.config, self.logs, self._own_logs).start()

    def registered(self) -> None:
        """Go on after registration: producer ids and transaction timers need the broker epoch."""
        self.followers.broker_epoch = self.lifecycle.broker_epoch
        self.leaderships.caught_up(self.metadata.last_offset, self.lifecycle.broker_epoch)
        self.producer_ids.start()
        self.transactions.start()

    def stop(self, *, clean: bool) -> None:
        """Stop serving; a clean stop leaves complete files, any other what a killed process leaves."""
        self.stopped = True
        self.runtime.stop()
        self.logs.close(clean=clean, broker_epoch=self.lifecycle.broker_epoch)

    def _every(self, setting: str, factor: float, call: Callable[[], None]) -> None:
        def run() -> None:
            self.runtime.call_later(self.config.get_int(setting) * factor, run)
            call()

        self.runtime.call_later(self.config.get_int(setting) * factor, run)

    def _own_logs(self) -> list[PartitionLog]:
        return [partition.log for partition in self.replicas.partitions.values()]

    def _expire_producers(self) -> None:
        now_ms = self.runtime.now_ms()
        expiration_ms = self.config.get_int("producer.id.expiration.ms")
        for partition in self.replicas.partitions.values():
            partition.log.producers.expire(now_ms, expiration_ms)

    # --- metadata -----------------------------------------------------------------------------------------------

    def apply_metadata(self, batch: ReplayedBatch) -> None:
        """Take over a committed batch of the metadata log."""
        image, delta = self.metadata, ImageDelta()
        for record in batch.records:
            replay(image, record, delta)
        image.last_offset = batch.last_offset
        image.last_epoch = batch.epoch
        if delta.features:
            image.features_offset = batch.last_offset
        if delta.configs:
            self._apply_configs(delta)
        if delta.acls and self.authorizer is not None:
            self.authorizer.replace(image.acls)
        if delta.partitions or delta.removed_topics:
            self.replicas.apply(image, delta, self.topic_settings)
            self.assignments.reconcile(image, delta.partitions)
            if delta.removed_topics:
                self.groups.partitions_deleted(
                    TopicPartition(topic.name, index)
                    for topic in delta.removed_topics
                    for index in range(topic.partition_count)
                )
        for broker_id in delta.brokers:
            self.followers.leader_changed_state(broker_id)
            if broker_id == self.node_id:
                self._note_own_state()
        self.leaderships.caught_up(image.last_offset, self.lifecycle.broker_epoch)

    def _directory_lost(self, directory: LogDirectory) -> None:
        """Go on without the partitions of a directory that failed; what it did not take is never acknowledged."""
        if any(log.store.has_unwritten for _, log in directory.logs()):
            self.on_disconnect()
        self.replicas.take_offline([partition for partition, _ in directory.logs()])
        self.lifecycle.hurry()

    def _apply_configs(self, delta: ImageDelta) -> None:
        image = self.metadata
        names = {(BROKER_RESOURCE, ""), (BROKER_RESOURCE, str(self.node_id))}
        topics = {name for kind, name in delta.configs if kind == TOPIC_RESOURCE}
        if names & delta.configs:
            self.config.replace_dynamic(
                ConfigSources(image.config(BROKER_RESOURCE, str(self.node_id)), image.config(BROKER_RESOURCE, ""))
            )
            topics = {partition.topic for partition in self.replicas.partitions}
        for topic in topics:
            self.replicas.apply_settings(topic, self.topic_settings(topic))

    def _note_own_state(self) -> None:
        own = self.metadata.brokers.get(self.node_id)
        if own is not None and not own.fenced and own.broker_epoch == self.lifecycle.broker_epoch and not self.is_ready:
            self.is_ready = True
            self.moves.resume(self.replicas.partitions)
            for serve in self.early_requests:
                self.runtime.call_soon(serve)
            self.on_ready()

    def topic_settings(self, topic: str) -> TopicSettings:
        """Return the effective settings of a topic."""
        return TopicSettings.of(self.config, self.metadata.config(TOPIC_RESOURCE, topic))

    def _is_known(self, partition: TopicPartition) -> bool:
        return self.metadata.partition(partition) is not None

    def _epoch_of(self, broker_id: int) -> int:
        broker = self.metadata.brokers.get(broker_id)
        return broker.broker_epoch if broker is not None else -1

    def _is_active(self, broker_id: int) -> bool:
        broker = self.metadata.brokers.get(broker_id)
        return broker is not None and not broker.fenced and not broker.in_controlled_shutdown

    # --- what handlers ask --------------------------------------------------------------------------------------

    def endpoint_of(self, broker_id: int, listener: str) -> Address | None:
        """Return where clients of a listener find a broker."""
        if broker_id == self.node_id:
            own = self.listeners.get(listener) or next(iter(self.listeners.values()))
            return Address(own.host, own.port, self.config.get_str("broker.rack") or None)
        broker = self.metadata.brokers.get(broker_id)
        if broker is None or broker.fenced:
            return None
        for endpoint in broker.endpoints:
            if endpoint.name == listener:
                return Address(endpoint.host, endpoint.port, broker.rack)
        return None

    def fetcher_in_reach(self, broker_id: int) -> ReplicaFetcher | None:
        """Return what a follower fetches with from here when it may be fed (``sandbox.replication.feeding``)."""
        if self.stopped or self.paused is not None or self.authorizer is not None:
            return None
        follower = self.in_reach(broker_id)
        return None if follower is None else follower.followers.fetcher_of(self.node_id)

    def needs_login(self, listener: str) -> bool:
        """Whether clients of a listener have to log in."""
        endpoint = self.listeners.get(listener)
        return endpoint is not None and SecurityProtocol(endpoint.security_protocol).uses_sasl

    def scram_credential(self, mechanism: str, user: str) -> ScramCredential | None:
        """Return what the cluster keeps of a user's password."""
        return self.metadata.scram.get((user, mechanism))

    def end_without_answer(self, context: RequestContext) -> None:
        """Finish a request that has no answer (acks=0)."""
        if isinstance(context.reply, Exchange | Amended):
            context.reply.without_answer()

    def may_produce_to(self, topic: str, context: RequestContext) -> bool:
        """Whether this client may write to a topic: internal ones are for admin clients only."""
        return topic not in INTERNAL_TOPICS or context.client_id == ADMIN_CLIENT_ID

    def forward(self, context: RequestContext, request: Any, timeout_ms: int) -> None:
        """Let the active controller answer a request; without one, try again until ``timeout_ms`` are over."""
        deadline_ms = self.runtime.now_ms() + timeout_ms

        def send() -> None:
            self.channel.send_to_controller(
                context.api_key, context.api_version, request, answered, timeout_ms=max(timeout_ms, 1000)
            )

        def answered(response: Any | None) -> None:
            if response is not None or self.runtime.now_ms() >= deadline_ms:
                context.reply(response)
            else:
                self.runtime.call_later(50, send)

        send()

    # --- topics that brokers create -----------------------------------------------------------------------------

    def ensure_internal_topic(self, name: str) -> None:
        """Begin to create ``__transaction_state`` or ``__consumer_offsets`` unless it is there or on its way."""
        prefix = "transaction.state.log" if name == TRANSACTION_STATE_TOPIC else "offsets.topic"
        configs = {"cleanup.policy": "compact", "segment.bytes": self.config.get_str(f"{prefix}.segment.bytes")}
        if name == TRANSACTION_STATE_TOPIC:
            configs |= {
                "compression.type": "uncompressed",
                "min.insync.replicas": self.config.get_str("transaction.state.log.min.isr"),
                "unclean.leader.election.enable": "false",
            }
        else:
            configs["compression.type"] = "producer"
        self.create_topic(
            name,
            self.config.get_int(f"{prefix}.num.partitions"),
            self.config.get_int(f"{prefix}.replication.factor"),
            configs,
        )

    def create_topic(
        self, name: str, partition_count: int, replication_factor: int, configs: Mapping[str, str]
    ) -> None:
        """Ask the controller for a topic unless that was asked already (auto-creation)."""
        if name in self._creating or self.metadata.partition_count(name):
            return
        self._creating.add(name)
        topic = CreatableTopic(
            name,
            partition_count,
            replication_factor,
            (),
            [CreatableTopicConfig(key, value) for key, value in configs.items()],
        )
        self.channel.send_to_controller(
            ApiKey.CREATE_TOPICS,
            CREATE_TOPICS_VERSION,
            CreateTopicsRequest([topic], 30_000, False),
            partial(self._created, name),
        )

    def _created(self, name: str, _: Any | None) -> None:
        self._creating.discard(name)


def _nothing() -> None:
    """Take a notice that nobody waits for."""


def _nobody(_: int) -> None:
    """Know no other broker."""
