"""The parts and operations of a broker that API handlers and authorization use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.broker.config import NodeConfig
from eosctl.sandbox.channel import NodeChannel
from eosctl.sandbox.coordinator.group.coordinator import GroupCoordinator
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.streams.topic_creator import InternalTopicCreator
from eosctl.sandbox.coordinator.share.coordinator import ShareCoordinator
from eosctl.sandbox.coordinator.share.persister import StatePersister
from eosctl.sandbox.coordinator.transaction.add_partitions_to_txn_manager import AddPartitionsToTxnManager
from eosctl.sandbox.coordinator.transaction.coordinator import TransactionCoordinator
from eosctl.sandbox.coordinator.transaction.producer_ids import ProducerIdManager
from eosctl.sandbox.log.directories import LogDirectories
from eosctl.sandbox.log.replica_moves import ReplicaMoves
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.metadata.image import TOPIC_RESOURCE, ClusterImage, ListenerEndpoint
from eosctl.sandbox.ports import (
    CONSUMER_OFFSETS_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
    Emulation,
    Envelope,
    RequestContext,
)
from eosctl.sandbox.quotas.client_quota_manager import (
    CONSUMER_BYTE_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    ClientQuotaManager,
)
from eosctl.sandbox.quotas.connection_quotas import ConnectionQuotas
from eosctl.sandbox.replication.assignments_manager import AssignmentsManager
from eosctl.sandbox.replication.fetch_sessions import FetchSessions
from eosctl.sandbox.replication.isr import IsrManager
from eosctl.sandbox.replication.replica_fetcher import ReplicaFetcher
from eosctl.sandbox.replication.replica_fetcher_manager import ReplicaFetcherManager
from eosctl.sandbox.replication.replica_manager import ReplicaManager
from eosctl.sandbox.replication.verification import VerificationPolicy
from eosctl.sandbox.replies import ClientReply
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.security.authorizer import authorizer_of
from eosctl.sandbox.security.delegation_tokens import secret_key, token_credential
from eosctl.sandbox.security.mechanisms import ScramCredential, TokenCredential
from eosctl.sandbox.security.protocol import SecurityProtocol
from eosctl.sandbox.share.dead_letter_queue import DeadLetterQueue
from eosctl.sandbox.share.partition_manager import SharePartitionManager
from eosctl.sandbox.share.sessions import ShareSessions
from eosctl.sandbox.telemetry.client_metrics_manager import ClientMetricsManager, receives_client_metrics
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

INTERNAL_TOPICS: Final = (CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC, SHARE_GROUP_STATE_TOPIC)
SETTINGS_PREFIX: Final = {
    CONSUMER_OFFSETS_TOPIC: "offsets.topic",
    TRANSACTION_STATE_TOPIC: "transaction.state.log",
    SHARE_GROUP_STATE_TOPIC: "share.coordinator.state.topic",
}
ADMIN_CLIENT_ID: Final = "__admin_client"
CREATE_TOPICS_VERSION: Final = 7
MAX_FETCH_SESSION_PARTITIONS: Final = 120_000


class Address(NamedTuple):
    """The address of a listener for clients."""

    host: str
    port: int
    rack: str | None


class BrokerServices:
    """The broker as API handlers see it: its parts as attributes, its operations as methods.

    `Broker` adds the operations that handlers must not call: start, stop, registration, and the replay of metadata.

    Attributes:
        local_broker: Returns another broker of this process that accepts messages without encoding, or None.
        count_request: Counts a request of another broker that was handled without encoding (API key, version).
        stopped: Whether the broker no longer serves.
        paused: The requests that wait while the process is paused; None while it runs.
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
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.broker_epoch = -1
        self.runtime = runtime
        self.channel = channel
        self.config = config
        self.emulation = emulation._replace(client_telemetry=receives_client_metrics(config))
        self.logs = logs
        self.listeners = dict(listeners)
        self.metadata = ClusterImage()
        self.authorizer = authorizer_of(config, self.metadata)
        windows = config.get_int("quota.window.num"), config.get_int("quota.window.size.seconds")
        self.produce_quota = ClientQuotaManager(PRODUCER_BYTE_RATE, self.metadata, *windows)
        self.fetch_quota = ClientQuotaManager(CONSUMER_BYTE_RATE, self.metadata, *windows)
        self.request_quota = ClientQuotaManager(REQUEST_PERCENTAGE, self.metadata, *windows, bounded=True)
        self.connection_quotas = ConnectionQuotas(config, self.metadata, self.listeners)
        self.client_metrics = ClientMetricsManager(
            config.get_int("telemetry.max.bytes"),
            runtime.now_ms,
            partial(runtime.random.randbytes, 16),
            is_3_9=emulation.is_3_9,
        )
        self.local_broker: Callable[[int], BrokerServices | None] = _find_no_broker
        self.count_request: Callable[[int, int], None] = _count_nothing
        self.stopped = False
        self.paused: list[Callable[[], None]] | None = None
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
            runtime.random, config.get_int("max.incremental.fetch.session.cache.slots"), MAX_FETCH_SESSION_PARTITIONS
        )
        self.isr = IsrManager(
            self.replicas,
            runtime,
            channel,
            broker_epoch=lambda: self.broker_epoch,
            epoch_of=self._epoch_of,
            is_active=self._is_active,
            max_lag_ms=lambda: config.get_int("replica.lag.time.max.ms"),
        )
        self.assignments = AssignmentsManager(node_id, runtime, channel, logs, lambda: self.broker_epoch)
        self.moves = ReplicaMoves(runtime, logs, self.assignments.moved)
        self.followers = ReplicaFetcherManager(
            self.replicas, runtime, channel, config.get_int("replica.fetch.wait.max.ms")
        )
        self.producer_ids = ProducerIdManager(
            node_id=node_id, runtime=runtime, channel=channel, broker_epoch=lambda: self.broker_epoch
        )
        self.verification = AddPartitionsToTxnManager(
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
        self.shares = ShareCoordinator(runtime, config, self.metadata, self.replicas, emulation)
        self.share_states = StatePersister(
            runtime, self.metadata, channel, partial(self.ensure_internal_topic, SHARE_GROUP_STATE_TOPIC)
        )
        self.share_partitions = SharePartitionManager(
            runtime, config, self.metadata, self.replicas, self.share_states, self._open_dead_letters()
        )
        max_sessions = 0 if emulation.is_3_9 else config.get_int("group.share.max.share.sessions")
        self.share_sessions = ShareSessions(max_sessions)
        self.groups = GroupCoordinator(self._as_group_host(), runtime.log, node_id, self.share_states)
        self.streams_topics = InternalTopicCreator(runtime, channel)
        self._creating: set[str] = set()

    def _as_group_host(self) -> GroupHost:
        return self

    def _open_dead_letters(self) -> DeadLetterQueue:
        def topic_value(topic: str, name: str) -> str:
            return self.config.topic_value(self.metadata.config(TOPIC_RESOURCE, topic), name)

        return DeadLetterQueue(
            self.runtime, self.config, self.metadata, self.channel, topic_value, lambda: self.runtime.log
        )

    def topic_settings(self, topic: str) -> TopicSettings:
        """Return the effective settings of a topic."""
        return TopicSettings.of(self.config, self.metadata.config(TOPIC_RESOURCE, topic))

    def topic_settings_by_overrides(self) -> Callable[[str], TopicSettings]:
        """Return `topic_settings` as of now; topics with the same overrides share what is read once."""
        known: dict[frozenset[tuple[str, str]], TopicSettings] = {}

        def settings_of(topic: str) -> TopicSettings:
            overrides = self.metadata.config(TOPIC_RESOURCE, topic)
            key = frozenset(overrides.items())
            settings = known.get(key)
            if settings is None:
                settings = known[key] = TopicSettings.of(self.config, overrides)
            return settings

        return settings_of

    def _is_known(self, partition: TopicPartition) -> bool:
        return self.metadata.partition(partition) is not None

    def _epoch_of(self, broker_id: int) -> int:
        broker = self.metadata.brokers.get(broker_id)
        return broker.broker_epoch if broker is not None else -1

    def _is_active(self, broker_id: int) -> bool:
        broker = self.metadata.brokers.get(broker_id)
        return broker is not None and not broker.fenced and not broker.in_controlled_shutdown

    def endpoint_of(self, broker_id: int, listener: str) -> Address | None:
        """Return the address of a broker's listener."""
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

    def local_fetcher(self, broker_id: int) -> ReplicaFetcher | None:
        """Return the fetcher of a follower in this process, for `replication.record_push`."""
        if self.stopped or self.paused is not None or self.authorizer is not None:
            return None
        follower = self.local_broker(broker_id)
        return None if follower is None else follower.followers.fetcher_of(self.node_id)

    def needs_login(self, listener: str) -> bool:
        """Return whether clients of a listener must authenticate."""
        endpoint = self.listeners.get(listener)
        return endpoint is not None and SecurityProtocol(endpoint.security_protocol).uses_sasl

    def scram_credential(self, mechanism: str, user: str) -> ScramCredential | None:
        """Return a user's SCRAM credential."""
        return self.metadata.scram.get((user, mechanism))

    def token_credential(self, mechanism: str, token_id: str) -> TokenCredential | None:
        """Return the credential of a delegation token for a mechanism of SCRAM; None if tokens are disabled."""
        key = secret_key(self.config, is_3_9=self.emulation.is_3_9)
        token = self.metadata.delegation_tokens.get(token_id)
        if not key or token is None:
            return None
        return token_credential(token, key, mechanism, self.runtime.token_bytes(16))

    def end_without_answer(self, context: RequestContext) -> None:
        """End a request that has no response (acks=0)."""
        if isinstance(context.reply, ClientReply):
            context.reply.without_answer()

    def throttle(self, context: RequestContext, throttle_ms: int) -> None:
        """Handle the client's next request only after this time."""
        if throttle_ms > 0 and isinstance(context.reply, ClientReply):
            context.reply.throttle(throttle_ms)

    def request_throttle_ms(self, context: RequestContext) -> int:
        """Count the time that this request took so far; return the time for which its client must be throttled."""
        return context.reply.request_throttle_ms() if isinstance(context.reply, ClientReply) else 0

    def may_produce_to(self, topic: str, context: RequestContext) -> bool:
        """Return whether this client may write to a topic; internal topics are restricted to admin clients."""
        return topic not in INTERNAL_TOPICS or context.client_id == ADMIN_CLIENT_ID

    def forward(self, context: RequestContext, request: Any, timeout_ms: int) -> None:
        """Forward a request to the active controller; without one, retry until `timeout_ms` have elapsed."""
        deadline_ms = self.runtime.now_ms() + timeout_ms

        def send() -> None:
            self.channel.send_to_controller(
                context.api_key,
                context.api_version,
                request,
                answered,
                timeout_ms=max(timeout_ms, 1000),
                envelope=context.envelope,
            )

        def answered(response: Any | None) -> None:
            if response is not None or self.runtime.now_ms() >= deadline_ms:
                self.throttle(context, getattr(response, "throttle_time_ms", 0))
                context.reply(response)
            else:
                self.runtime.call_later(50, send)

        send()

    def ensure_internal_topic(self, name: str) -> None:
        """Start to create one of `INTERNAL_TOPICS` unless it exists or is being created."""
        prefix = SETTINGS_PREFIX[name]
        configs = {"cleanup.policy": "compact", "segment.bytes": self.config.get_str(f"{prefix}.segment.bytes")}
        if name == TRANSACTION_STATE_TOPIC:
            configs |= {
                "compression.type": "uncompressed",
                "min.insync.replicas": self.config.get_str(f"{prefix}.min.isr"),
                "unclean.leader.election.enable": "false",
            }
        elif name == SHARE_GROUP_STATE_TOPIC:
            configs |= {
                "cleanup.policy": "delete",
                "compression.type": "producer",
                "min.insync.replicas": self.config.get_str(f"{prefix}.min.isr"),
                "retention.ms": "-1",
            }
        else:
            configs["compression.type"] = "producer"
        topic = CreatableTopic(
            name,
            self.config.get_int(f"{prefix}.num.partitions"),
            self.config.get_int(f"{prefix}.replication.factor"),
            (),
            [CreatableTopicConfig(key, value) for key, value in configs.items()],
        )
        self.create_topics([topic])

    def create_topics(self, topics: Iterable[CreatableTopic], envelope: Envelope | None = None) -> None:
        """Request the topics that exist neither in the cluster nor in an earlier request, for a client or the broker.

        One request has them all, as Kafka's `AutoTopicCreationManager` sends it.
        """
        new = [
            topic
            for topic in topics
            if topic.name not in self._creating and not self.metadata.partition_count(topic.name)
        ]
        if not new:
            return
        names = frozenset(topic.name for topic in new)
        self._creating |= names
        self.channel.send_to_controller(
            ApiKey.CREATE_TOPICS,
            CREATE_TOPICS_VERSION,
            CreateTopicsRequest(new, 30_000, False),
            partial(self._created, names),
            envelope=envelope,
        )

    def _created(self, names: frozenset[str], _: Any | None) -> None:
        self._creating -= names


def _find_no_broker(_: int) -> None:
    """Return None: no other broker of this process can be reached without encoding."""


def _count_nothing(_api_key: int, _version: int) -> None:
    """Ignore the request: nothing is counted."""
