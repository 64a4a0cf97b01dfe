"""A cluster at a point in time: the only input of analyses and checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.model.cluster_state import AccessRules, LogDirectory, QuorumReplica
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.fencing import AbortedRange
from eosctl.model.group_details import SharePartition, StreamsTopology
from eosctl.model.history import History, TransactionLogEntry
from eosctl.model.log_evidence import LoggedIncident, UnexplainedRecords
from eosctl.model.marker_search import MarkerSearch
from eosctl.model.metric_page import MetricPage
from eosctl.model.own_fence import OwnFence
from eosctl.model.setting import Setting
from eosctl.model.transaction import PartitionProducers, TopicPartition, Transaction, TransactionLook

SNAPSHOT_SCHEMA: Final = "eosctl.snapshot"
SNAPSHOT_SCHEMA_VERSION: Final = 1


class ApiRange(msgspec.Struct, frozen=True):
    """The versions of one API that a broker serves."""

    api_key: int
    min_version: int
    max_version: int


class FeatureLevel(msgspec.Struct, frozen=True):
    """A feature's finalized level and the range that the broker supports; `finalized` None when unknown."""

    name: str
    finalized: int | None
    min_supported: int
    max_supported: int


class Certificate(msgspec.Struct, frozen=True):
    """The validity of a certificate, in milliseconds since the epoch."""

    not_before_ms: int
    not_after_ms: int


class Broker(msgspec.Struct, frozen=True):
    """A broker of the metadata response.

    `reachable` False means that it could not be queried. `certificate` is the one of its TLS listener; None over a
    connection in plain text, or without a connection. `metadata_offset` is how far the metadata reached with which it
    answered (KRaft); None where that is not known. A fenced broker with one is cut off and still answers.
    """

    node_id: int
    host: str
    port: int
    rack: str | None = None
    reachable: bool = True
    fenced: bool = False
    api_ranges: tuple[ApiRange, ...] = ()
    settings: tuple[Setting, ...] = ()
    certificate: Certificate | None = None
    metadata_offset: int | None = None

    def setting(self, name: str) -> Setting | None:
        """Return the named setting, or None when this broker did not report it."""
        return next((s for s in self.settings if s.name == name), None)


class PartitionInfo(msgspec.Struct, frozen=True, gc=False):
    """A partition's replicas and offsets.

    `leader_id` is None without a leader. `high_watermark` and `last_stable_offset` are what a client of either
    isolation level reads up to (ListOffsets latest); None when not known. `leader_epoch_start_offset` is the first
    offset of the present leader epoch (OffsetForLeaderEpoch of the epoch before); None when it was not asked.
    """

    partition: TopicPartition
    leader_id: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()
    log_start_offset: int | None = None
    high_watermark: int | None = None
    last_stable_offset: int | None = None
    leader_epoch_start_offset: int | None = None


class Topic(msgspec.Struct, frozen=True, gc=False):
    """A topic with its partitions (ordered by index) and settings."""

    name: str
    topic_id: str
    internal: bool
    partitions: tuple[PartitionInfo, ...]
    settings: tuple[Setting, ...] = ()

    def setting(self, name: str) -> Setting | None:
        """Return the named setting, or None when it was not reported."""
        return next((s for s in self.settings if s.name == name), None)


class Reassignment(msgspec.Struct, frozen=True):
    """A partition that is being moved: the replicas that it gets, and those that it loses."""

    partition: TopicPartition
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


class ClientQuota(msgspec.Struct, frozen=True):
    """The quotas of one entity (KIP-546): users and client ids have bytes per second or percent of request time.

    ``entity`` pairs a kind (``user``, ``client-id``, ``ip``) with a name; the name of the default entity is None.
    """

    entity: tuple[tuple[str, str | None], ...]
    values: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        return ", ".join(f"{kind} {'<default>' if name is None else name}" for kind, name in self.entity)


class HiddenRange(msgspec.Struct, frozen=True, gc=False):
    """The records at the end of a partition that read_committed consumers cannot see, from the LSO to `end_offset`.

    `record_count` and `control_record_count` come from reading the batches; markers are control records. Offsets
    without records after compaction or in aborted batches count in neither.
    """

    partition: TopicPartition
    first_offset: int
    end_offset: int
    record_count: int
    control_record_count: int


class ReadableRange(msgspec.Struct, frozen=True, gc=False):
    """The records that a read_committed consumer at `first_offset` has yet to read, up to the LSO `end_offset`.

    `record_count` are the records that it will receive; `aborted_record_count` and `control_record_count` (the markers)
    are skipped. Offsets without records after compaction are not counted.
    """

    partition: TopicPartition
    first_offset: int
    end_offset: int
    record_count: int
    aborted_record_count: int
    control_record_count: int


class PendingOffset(msgspec.Struct, frozen=True, gc=False):
    """A pending offset of an open transaction in `__consumer_offsets`; it takes effect when the transaction commits.

    `log_partition` and `log_offset` are its position there.
    """

    group_id: str
    partition: TopicPartition
    offset: int
    producer_id: int
    log_partition: int
    log_offset: int


class CommittedOffset(msgspec.Struct, frozen=True, gc=False):
    """A group's offset in one partition.

    `offset` None: nothing committed. `unstable`: a transaction that is still open holds a pending offset (OffsetFetch
    with require_stable answers UNSTABLE_OFFSET_COMMIT, KIP-447). `log_end_offset`: the high watermark that
    kafka-consumer-groups.sh prints next to it.
    """

    partition: TopicPartition
    offset: int | None
    leader_epoch: int = -1
    unstable: bool = False
    log_end_offset: int | None = None


class GroupMember(msgspec.Struct, frozen=True, gc=False):
    """A member of a group as the coordinator describes it.

    `subscription` has the topics that it subscribes to; empty if they are not known. `topology_epoch` is that of the
    topology with which a member of a streams group runs; None for members of other groups.
    """

    member_id: str
    client_id: str
    host: str
    group_instance_id: str | None = None
    assignment: tuple[TopicPartition, ...] = ()
    subscription: tuple[str, ...] = ()
    topology_epoch: int | None = None


class Group(msgspec.Struct, frozen=True, gc=False):
    """A group; `state` is the wire's text, `group_type` is `classic`, `consumer`, `share`, `streams`, or empty.

    `protocol` is the assignor's name of a classic group (`stream` for Kafka Streams), empty if it is not known.
    `generation_times_ms` are the times of the newest generations, from `__consumer_offsets`, of a group that is
    rebalancing. `rebalancing_for_ms` is the time during which the group was in a rebalance whenever it was described; 0
    if it ended, None if the group was in none, or not watched. `share_partitions` and `settings` are those of a share
    group, `topology` that of a streams group.
    """

    group_id: str
    coordinator_id: int
    state: str
    protocol_type: str = ""
    group_type: str = ""
    members: tuple[GroupMember, ...] = ()
    offsets: tuple[CommittedOffset, ...] = ()
    protocol: str = ""
    generation_times_ms: tuple[int, ...] = ()
    rebalancing_for_ms: int | None = None
    share_partitions: tuple[SharePartition, ...] = ()
    settings: tuple[Setting, ...] = ()
    topology: StreamsTopology | None = None

    def setting(self, name: str) -> Setting | None:
        """Return the named setting of the group, or None when it was not reported."""
        return next((s for s in self.settings if s.name == name), None)


class QuorumInfo(msgspec.Struct, frozen=True):
    """The controller quorum (DescribeQuorum).

    `max_lag` and `max_lag_ms` are those of the voter that is furthest behind, where its name is not printed
    (`kafka-metadata-quorum.sh describe --status`); None if unknown.
    """

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[int, ...] = ()
    observers: tuple[int, ...] = ()
    replicas: tuple[QuorumReplica, ...] = ()
    max_lag: int = 0
    max_lag_ms: int | None = None


class ClusterSnapshot(msgspec.Struct, frozen=True, dict=True):
    """All evidence of one capture.

    `looks` holds one or two passes over transactions and producers; the newest is last. `transaction_history` is what
    could be read of the newest part of `__transaction_state`, by log partition and offset. `collected` names the kinds
    that were asked for; a kind outside it was never tried. Missing pieces of a collected kind are in `gaps`.
    `own_fences` are from the audit file of the machine that captured it.
    `command_config` is the file of client settings with which the cluster was reached, empty without one, and
    `client_options` are the other options, which only eosctl's own commands understand (`--profile`, `-X`); none holds
    a secret. Times are the observer's clock, ms since the epoch.
    """

    captured_at_ms: int
    cluster_id: str
    controller_id: int | None = None
    observer: str = ""
    command_config: str = ""
    client_options: tuple[str, ...] = ()
    brokers: tuple[Broker, ...] = ()
    features: tuple[FeatureLevel, ...] = ()
    topics: tuple[Topic, ...] = ()
    looks: tuple[TransactionLook, ...] = ()
    transaction_history: tuple[TransactionLogEntry, ...] = ()
    aborted_ranges: tuple[AbortedRange, ...] = ()
    own_fences: tuple[OwnFence, ...] = ()
    marker_searches: tuple[MarkerSearch, ...] = ()
    hidden_ranges: tuple[HiddenRange, ...] = ()
    groups: tuple[Group, ...] = ()
    readable_ranges: tuple[ReadableRange, ...] = ()
    pending_offsets: tuple[PendingOffset, ...] = ()
    quorum: QuorumInfo | None = None
    reassignments: tuple[Reassignment, ...] = ()
    client_quotas: tuple[ClientQuota, ...] = ()
    access_rules: AccessRules | None = None
    log_directories: tuple[LogDirectory, ...] = ()
    logged_incidents: tuple[LoggedIncident, ...] = ()
    logged_records: tuple[UnexplainedRecords, ...] = ()
    metric_pages: tuple[MetricPage, ...] = ()
    collected: frozenset[EvidenceKind] = frozenset()
    gaps: tuple[EvidenceGap, ...] = ()

    @property
    def broker_count(self) -> int:
        """Return how many brokers there are; defaults of all brokers that a tool printed are kept as one without id."""
        return sum(broker.node_id >= 0 for broker in self.brokers)

    @property
    def observed_at_ms(self) -> int:
        """Return when transactions and producers were last read, in ms since the epoch: their ages end there."""
        return self.looks[-1].finished_at_ms if self.looks else self.captured_at_ms

    @property
    def transactions(self) -> tuple[Transaction, ...]:
        """Return the transactions of the newest look."""
        return self.looks[-1].transactions if self.looks else ()

    @property
    def producers(self) -> tuple[PartitionProducers, ...]:
        """Return the producers of the newest look."""
        return self.looks[-1].producers if self.looks else ()

    @cached_property
    def partitions_by_name(self) -> Mapping[TopicPartition, PartitionInfo]:
        """Return the information on all partitions; collected once, as analyses search it for each transaction."""
        return {info.partition: info for topic in self.topics for info in topic.partitions}

    @cached_property
    def history_by_id(self) -> History:
        """Return the log's records by transactional id, in log order."""
        grouped: dict[str, list[TransactionLogEntry]] = defaultdict(list)
        for entry in sorted(self.transaction_history, key=lambda entry: (entry.log_partition, entry.offset)):
            grouped[entry.transactional_id].append(entry)
        return {transactional_id: tuple(entries) for transactional_id, entries in grouped.items()}

    def with_looks(self, looks: tuple[TransactionLook, ...]) -> ClusterSnapshot:
        """Return this snapshot with other passes, and with the indexes that do not depend on them."""
        other = replace(self, looks=looks)
        other.__dict__.update(self.__dict__)
        return other

    @cached_property
    def _topics_by_name(self) -> Mapping[str, Topic]:
        return {topic.name: topic for topic in self.topics}

    def topic(self, name: str) -> Topic | None:
        """Return the named topic, or None."""
        return self._topics_by_name.get(name)

    def partition(self, partition: TopicPartition) -> PartitionInfo | None:
        """Return the information on one partition, or None."""
        return self.partitions_by_name.get(partition)

    def broker(self, node_id: int) -> Broker | None:
        """Return the broker with this id, or None."""
        return next((b for b in self.brokers if b.node_id == node_id), None)

    def feature(self, name: str) -> FeatureLevel | None:
        """Return the named feature, or None when no broker reported it."""
        return next((f for f in self.features if f.name == name), None)


class SnapshotChange(NamedTuple):
    """A difference. `before` or `after` is empty if it was absent."""

    kind: str
    subject: str
    what: str
    before: str
    after: str
