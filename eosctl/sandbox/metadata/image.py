"""The cluster's state: what the metadata records replay into, on the controller and on every broker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import PartitionLeadership
from eosctl.sandbox.security.mechanisms import SCRAM_TYPES, ScramCredential
from eosctl.wire.internal import metadata as records

NO_LEADER = -1
NO_LEADER_CHANGE = -2
TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
GROUP_RESOURCE = 32

QuotaEntity = frozenset[tuple[str, str | None]]
"""Whom a quota is for: types (``user``, ``client-id``, ``ip``) with names, None for the default."""


MIGRATING_DIRECTORY = bytes(16)  # Kafka's DirectoryId: nobody said where it is, and it is there
UNASSIGNED_DIRECTORY = bytes(15) + b"\x01"  # its broker will say


class PartitionState(NamedTuple):
    """One partition as the controller decided it (Kafka's PartitionRegistration)."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = 0
    eligible_leader_replicas: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    directories: tuple[bytes, ...] = ()


def directory_of(state: PartitionState, broker_id: int) -> bytes:
    """Return the directory that holds a broker's replica, MIGRATING where nobody said."""
    if broker_id in state.replicas and state.directories:
        return state.directories[state.replicas.index(broker_id)]
    return MIGRATING_DIRECTORY


class TopicState(NamedTuple):
    """A topic; ``partitions`` is keyed by index and changes in place."""

    name: str
    topic_id: bytes
    partitions: dict[int, PartitionState]


class ListenerEndpoint(NamedTuple):
    """Where a broker listens."""

    name: str
    host: str
    port: int
    security_protocol: int


class BrokerState(NamedTuple):
    """A registered broker."""

    broker_id: int
    broker_epoch: int
    incarnation_id: bytes
    endpoints: tuple[ListenerEndpoint, ...]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    log_dirs: tuple[bytes, ...] = ()
    features: Mapping[str, tuple[int, int]] = {}  # the levels that it supports, from and to

    def has_directory(self, directory_id: bytes) -> bool:
        """Whether a replica that is assigned to this directory can be served (Kafka's DirectoryId.isOnline)."""
        if directory_id in (UNASSIGNED_DIRECTORY, MIGRATING_DIRECTORY) or not self.log_dirs:
            return True
        return directory_id in self.log_dirs

    @property
    def is_active(self) -> bool:
        """Whether the broker may lead and serve."""
        return not self.fenced


class RemovedTopic(NamedTuple):
    """A topic that a batch of records deleted."""

    name: str
    topic_id: bytes
    partition_count: int


class ImageDelta:
    """What a run of records changed."""

    __slots__ = ("acls", "brokers", "configs", "features", "partitions", "removed_topics")

    def __init__(self) -> None:
        self.partitions: dict[TopicPartition, None] = {}
        self.removed_topics: list[RemovedTopic] = []
        self.brokers: set[int] = set()
        self.configs: set[tuple[int, str]] = set()
        self.features = False
        self.acls = False


class ClusterImage:
    """Everything that the metadata log says, up to ``last_offset``."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicState] = {}
        self.topics_by_id: dict[bytes, TopicState] = {}
        self.brokers: dict[int, BrokerState] = {}
        self.features: dict[str, int] = {}
        self.features_offset = -1
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        self.acls: dict[bytes, records.AccessControlEntryRecord] = {}
        self.scram: dict[tuple[str, str], ScramCredential] = {}  # by user and mechanism
        self.quotas: dict[QuotaEntity, dict[str, float]] = {}
        self.next_producer_id = 0
        self._leaderships: dict[TopicPartition, PartitionLeadership] = {}  # made when asked for: requests ask often
        self.last_offset = -1
        self.last_epoch = -1

    # --- views (MetadataView of the ports) ----------------------------------------------------------------------

    def leadership(self, partition: TopicPartition) -> PartitionLeadership | None:
        """Return leader and epoch, or None when the partition does not exist."""
        found = self._leaderships.get(partition)
        if found is None:
            state = self.partition(partition)
            if state is None:
                return None
            found = self._leaderships[partition] = PartitionLeadership(state.leader, state.leader_epoch)
        return found

    def partition(self, partition: TopicPartition) -> PartitionState | None:
        """Return a partition's state, or None."""
        topic = self.topics.get(partition.topic)
        return topic.partitions.get(partition.partition) if topic is not None else None

    def partition_count(self, topic: str) -> int:
        """Return the number of partitions, 0 when the topic does not exist."""
        state = self.topics.get(topic)
        return len(state.partitions) if state is not None else 0

    def topic_id(self, topic: str) -> bytes | None:
        """Return the 16 bytes of the topic's id, or None."""
        state = self.topics.get(topic)
        return state.topic_id if state is not None else None

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the topic with this id, or None."""
        state = self.topics_by_id.get(topic_id)
        return state.name if state is not None else None

    def partition_racks(self, topic: str) -> list[list[str]]:
        """Return the racks of each partition's replicas, in order of the partitions; empty when there is no topic."""
        known = self.topics.get(topic)
        if known is None:
            return []
        racks = {broker_id: broker.rack for broker_id, broker in self.brokers.items() if broker.rack is not None}
        return [
            [racks[replica] for replica in known.partitions[index].replicas if replica in racks]
            for index in sorted(known.partitions)
        ]

    def finalized_feature(self, name: str) -> int:
        """Return the finalized level of a feature, 0 when absent."""
        return self.features.get(name, 0)

    def config(self, resource_type: int, name: str) -> dict[str, str]:
        """Return the dynamic settings of a resource."""
        return self.configs.get((resource_type, name), {})

    def group_settings(self, group_id: str) -> dict[str, str]:
        """Return a group's own settings (KIP-848)."""
        return self.config(GROUP_RESOURCE, group_id)

    def active_brokers(self) -> list[BrokerState]:
        """Return the unfenced brokers in order of id."""
        return [broker for _, broker in sorted(self.brokers.items()) if not broker.fenced]

    # --- replay -------------------------------------------------------------------------------------------------

    def replay(self, record: Any, delta: ImageDelta) -> None:
        """Apply one record; unknown kinds change nothing."""
        handler = _HANDLERS.get(type(record).__name__)
        if handler is not None:
            handler(self, record, delta)
            if self._leaderships:
                self._leaderships.clear()


def _register_broker(image: ClusterImage, record: records.RegisterBrokerRecord, delta: ImageDelta) -> None:
    image.brokers[record.broker_id] = BrokerState(
        record.broker_id,
        record.broker_epoch,
        record.incarnation_id,
        tuple(ListenerEndpoint(end.name, end.host, end.port, end.security_protocol) for end in record.end_points),
        record.rack,
        record.fenced,
        record.in_controlled_shutdown,
        tuple(record.log_dirs),
        {feature.name: (feature.min_supported_version, feature.max_supported_version) for feature in record.features},
    )
    delta.brokers.add(record.broker_id)


def _unregister_broker(image: ClusterImage, record: records.UnregisterBrokerRecord, delta: ImageDelta) -> None:
    image.brokers.pop(record.broker_id, None)
    delta.brokers.add(record.broker_id)


def _fence(image: ClusterImage, broker_id: int, fenced: bool, delta: ImageDelta) -> None:
    broker = image.brokers.get(broker_id)
    if broker is not None:
        image.brokers[broker_id] = broker._replace(fenced=fenced)
        delta.brokers.add(broker_id)


def _fence_broker(image: ClusterImage, record: records.FenceBrokerRecord, delta: ImageDelta) -> None:
    _fence(image, record.id, True, delta)


def _unfence_broker(image: ClusterImage, record: records.UnfenceBrokerRecord, delta: ImageDelta) -> None:
    _fence(image, record.id, False, delta)


def _change_registration(
    image: ClusterImage, record: records.BrokerRegistrationChangeRecord, delta: ImageDelta
) -> None:
    broker = image.brokers.get(record.broker_id)
    if broker is None:
        return
    if record.fenced:  # 1 fences, -1 unfences, 0 says nothing
        broker = broker._replace(fenced=record.fenced > 0)
    if record.in_controlled_shutdown:
        broker = broker._replace(in_controlled_shutdown=record.in_controlled_shutdown > 0)
    if record.log_dirs:
        broker = broker._replace(log_dirs=tuple(record.log_dirs))
    image.brokers[record.broker_id] = broker
    delta.brokers.add(record.broker_id)


def _topic(image: ClusterImage, record: records.TopicRecord, delta: ImageDelta) -> None:
    topic = TopicState(record.name, record.topic_id, {})
    image.topics[record.name] = topic
    image.topics_by_id[record.topic_id] = topic


def _remove_topic(image: ClusterImage, record: records.RemoveTopicRecord, delta: ImageDelta) -> None:
    topic = image.topics_by_id.pop(record.topic_id, None)
    if topic is not None:
        image.topics.pop(topic.name, None)
        image.configs.pop((TOPIC_RESOURCE, topic.name), None)
        for index in topic.partitions:
            delta.partitions.pop(TopicPartition(topic.name, index), None)
        delta.removed_topics.append(RemovedTopic(topic.name, topic.topic_id, len(topic.partitions)))


def _partition(image: ClusterImage, record: records.PartitionRecord, delta: ImageDelta) -> None:
    topic = image.topics_by_id.get(record.topic_id)
    if topic is None:
        return
    topic.partitions[record.partition_id] = PartitionState(
        tuple(record.replicas),
        tuple(record.isr),
        record.leader,
        record.leader_epoch,
        record.partition_epoch,
        tuple(record.removing_replicas or ()),
        tuple(record.adding_replicas or ()),
        record.leader_recovery_state,
        tuple(record.eligible_leader_replicas or ()),
        tuple(record.last_known_elr or ()),
        tuple(record.directories or ()),
    )
    delta.partitions[TopicPartition(topic.name, record.partition_id)] = None


def _partition_change(image: ClusterImage, record: records.PartitionChangeRecord, delta: ImageDelta) -> None:
    topic = image.topics_by_id.get(record.topic_id)
    state = topic.partitions.get(record.partition_id) if topic is not None else None
    if topic is None or state is None:
        return
    topic.partitions[record.partition_id] = merge_change(state, record)
    delta.partitions[TopicPartition(topic.name, record.partition_id)] = None


def merge_change(state: PartitionState, record: records.PartitionChangeRecord) -> PartitionState:
    """Apply a change; naming a leader, even the same one, starts a new leader epoch."""
    changes: dict[str, Any] = {"partition_epoch": state.partition_epoch + 1}
    if record.leader != NO_LEADER_CHANGE:
        changes |= {"leader": record.leader, "leader_epoch": state.leader_epoch + 1}
    for field in (
        "replicas",
        "isr",
        "removing_replicas",
        "adding_replicas",
        "eligible_leader_replicas",
        "last_known_elr",
        "directories",
    ):
        value = getattr(record, field)
        if value is not None:
            changes[field] = tuple(value)
    if record.leader_recovery_state >= 0:
        changes["leader_recovery_state"] = record.leader_recovery_state
    return state._replace(**changes)


def _config(image: ClusterImage, record: records.ConfigRecord, delta: ImageDelta) -> None:
    key = (record.resource_type, record.resource_name)
    values = dict(image.configs.get(key, {}))
    if record.value is None:
        values.pop(record.name, None)
    else:
        values[record.name] = record.value
    if values:
        image.configs[key] = values
    else:
        image.configs.pop(key, None)
    delta.configs.add(key)


def _feature(image: ClusterImage, record: records.FeatureLevelRecord, delta: ImageDelta) -> None:
    if record.feature_level > 0:
        image.features[record.name] = record.feature_level
    else:
        image.features.pop(record.name, None)
    delta.features = True


def _producer_ids(image: ClusterImage, record: records.ProducerIdsRecord, delta: ImageDelta) -> None:
    image.next_producer_id = record.next_producer_id


def _add_acl(image: ClusterImage, record: records.AccessControlEntryRecord, delta: ImageDelta) -> None:
    image.acls[record.id] = record
    delta.acls = True


def _remove_acl(image: ClusterImage, record: records.RemoveAccessControlEntryRecord, delta: ImageDelta) -> None:
    image.acls.pop(record.id, None)
    delta.acls = True


def _scram(image: ClusterImage, record: records.UserScramCredentialRecord, delta: ImageDelta) -> None:
    image.scram[record.name, SCRAM_TYPES[record.mechanism]] = ScramCredential(
        record.salt, record.stored_key, record.server_key, record.iterations
    )


def _remove_scram(image: ClusterImage, record: records.RemoveUserScramCredentialRecord, delta: ImageDelta) -> None:
    image.scram.pop((record.name, SCRAM_TYPES[record.mechanism]), None)


def _quota(image: ClusterImage, record: records.ClientQuotaRecord, delta: ImageDelta) -> None:
    entity = frozenset((part.entity_type, part.entity_name) for part in record.entity)
    values = dict(image.quotas.get(entity, {}))
    if record.remove:
        values.pop(record.key, None)
    else:
        values[record.key] = record.value
    if values:
        image.quotas[entity] = values
    else:
        image.quotas.pop(entity, None)


_HANDLERS: dict[str, Callable[[ClusterImage, Any, ImageDelta], None]] = {
    "RegisterBrokerRecord": _register_broker,
    "UnregisterBrokerRecord": _unregister_broker,
    "FenceBrokerRecord": _fence_broker,
    "UnfenceBrokerRecord": _unfence_broker,
    "BrokerRegistrationChangeRecord": _change_registration,
    "TopicRecord": _topic,
    "RemoveTopicRecord": _remove_topic,
    "PartitionRecord": _partition,
    "PartitionChangeRecord": _partition_change,
    "ConfigRecord": _config,
    "FeatureLevelRecord": _feature,
    "ProducerIdsRecord": _producer_ids,
    "AccessControlEntryRecord": _add_acl,
    "RemoveAccessControlEntryRecord": _remove_acl,
    "UserScramCredentialRecord": _scram,
    "RemoveUserScramCredentialRecord": _remove_scram,
    "ClientQuotaRecord": _quota,
}
