"""The cluster metadata: the image into which records are replayed, on the controller and on every broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import PartitionLeadership
from eosctl.sandbox.security.mechanisms import ScramCredential
from eosctl.wire.internal import metadata as records

NO_LEADER: Final = -1
NO_LEADER_CHANGE: Final = -2
RECOVERED, RECOVERING = 0, 1  # Elected from the ISR, or uncleanly with possible data loss (KIP-704).
TOPIC_RESOURCE: Final = 2
BROKER_RESOURCE: Final = 4
GROUP_RESOURCE: Final = 32

QuotaEntity = frozenset[tuple[str, str | None]]
"""The entity of a quota: types (`user`, `client-id`, `ip`) with names, None for the default."""


# Kafka's DirectoryId: the directory is unknown because none was assigned (MIGRATING) ...
MIGRATING_DIRECTORY: Final = bytes(16)
UNASSIGNED_DIRECTORY: Final = bytes(15) + b"\x01"  # ... or the broker has not reported it yet (UNASSIGNED).


class PartitionState(NamedTuple):
    """The controller's state of a partition (Kafka's `PartitionRegistration`)."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = RECOVERED
    eligible_leader_replicas: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    directories: tuple[bytes, ...] = ()


def directory_of(state: PartitionState, broker_id: int) -> bytes:
    """Return the directory of a broker's replica; MIGRATING if none was assigned."""
    if broker_id in state.replicas and state.directories:
        return state.directories[state.replicas.index(broker_id)]
    return MIGRATING_DIRECTORY


class TopicState(NamedTuple):
    """A topic; `partitions` is keyed by index and modified in place."""

    name: str
    topic_id: bytes
    partitions: dict[int, PartitionState]


class ListenerEndpoint(NamedTuple):
    """The address of a broker's listener."""

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
    features: Mapping[str, tuple[int, int]] = {}  # The supported levels, minimum and maximum.
    cordoned_log_dirs: tuple[bytes, ...] | None = None  # None: the registration has no directories.

    def has_directory(self, directory_id: bytes) -> bool:
        """Return whether the broker can serve a replica in this directory (Kafka's `DirectoryId.isOnline`)."""
        if directory_id in (UNASSIGNED_DIRECTORY, MIGRATING_DIRECTORY) or not self.log_dirs:
            return True
        return directory_id in self.log_dirs

    @property
    def is_active(self) -> bool:
        """Return whether the broker may lead and serve."""
        return not self.fenced


class RemovedTopic(NamedTuple):
    """A topic that a batch of records has deleted."""

    name: str
    topic_id: bytes
    partition_count: int


class ImageDelta:
    """The changes of a batch of records."""

    __slots__ = ("acls", "brokers", "configs", "partitions", "removed_topics")

    def __init__(self) -> None:
        self.partitions: dict[TopicPartition, None] = {}
        self.removed_topics: list[RemovedTopic] = []
        self.brokers: set[int] = set()
        self.configs: set[tuple[int, str]] = set()
        self.acls = False


class ClusterImage:
    """The content of the metadata log, up to `last_offset`."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicState] = {}
        self.topics_by_id: dict[bytes, TopicState] = {}
        self.brokers: dict[int, BrokerState] = {}
        self.features: dict[str, int] = {}
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        self.acls: dict[bytes, records.AccessControlEntryRecord] = {}
        self.scram: dict[tuple[str, str], ScramCredential] = {}  # By user and mechanism.
        self.quotas: dict[QuotaEntity, dict[str, float]] = {}
        self.quota_generation = 0  # Rises with every change of a quota.
        self.next_producer_id = 0
        self.controllers: dict[int, records.RegisterControllerRecord] = {}
        self.delegation_tokens: dict[str, records.DelegationTokenRecord] = {}
        self.zk_migration: records.ZkMigrationStateRecord | None = None
        self._leaderships: dict[TopicPartition, PartitionLeadership] = {}  # Derived views, built on demand and cached.
        self._racks: dict[str, tuple[tuple[str, ...], ...]] = {}
        self.last_offset = -1
        self.last_epoch = -1

    def changed(self) -> None:
        """Drop the views derived from earlier records."""
        if self._leaderships:
            self._leaderships.clear()
        if self._racks:
            self._racks.clear()

    # --- views (MetadataView of the ports) ----------------------------------------------------------------------

    def leadership(self, partition: TopicPartition) -> PartitionLeadership | None:
        """Return leader and epoch, or None for an unknown partition."""
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
        """Return the number of partitions, 0 for an unknown topic."""
        state = self.topics.get(topic)
        return len(state.partitions) if state is not None else 0

    def topic_id(self, topic: str) -> bytes | None:
        """Return the topic's id (16 bytes), or None for an unknown topic."""
        state = self.topics.get(topic)
        return state.topic_id if state is not None else None

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the topic with this id, or None."""
        state = self.topics_by_id.get(topic_id)
        return state.name if state is not None else None

    def partition_racks(self, topic: str) -> tuple[tuple[str, ...], ...]:
        """Return the racks of each partition's replicas, in partition order; empty for an unknown topic."""
        known = self.topics.get(topic)
        if known is None:
            return ()
        found = self._racks.get(topic)
        if found is None:
            racks = {broker_id: broker.rack for broker_id, broker in self.brokers.items() if broker.rack is not None}
            found = self._racks[topic] = tuple(
                tuple(racks[replica] for replica in known.partitions[index].replicas if replica in racks)
                for index in sorted(known.partitions)
            )
        return found

    def finalized_feature(self, name: str) -> int:
        """Return the finalized level of a feature; 0 if absent."""
        return self.features.get(name, 0)

    def config(self, resource_type: int, name: str) -> dict[str, str]:
        """Return the dynamic settings of a resource."""
        return self.configs.get((resource_type, name), {})

    def group_settings(self, group_id: str) -> dict[str, str]:
        """Return a group's own settings (KIP-848)."""
        return self.config(GROUP_RESOURCE, group_id)

    def active_brokers(self) -> list[BrokerState]:
        """Return the unfenced brokers in id order."""
        return [broker for _, broker in sorted(self.brokers.items()) if not broker.fenced]
