"""A capacity plan: the load of a workload on a cluster, and the remaining capacity."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.workload import Assumption


class Unit(StrEnum):
    """The unit of a figure, for display."""

    BYTES = "B"
    BYTES_PER_S = "B/s"
    PER_S = "1/s"
    COUNT = "1"
    MILLISECONDS = "ms"
    SHARE = "share"


class Grade(StrEnum):
    """The reliability of a figure.

    `exact` follows from encodings and protocol, `measured` from a measurement made elsewhere, `assumed` from a model
    with assumptions or from an input that the workload file does not state.
    """

    EXACT = "exact"
    ASSUMED = "assumed"
    MEASURED = "measured"


class Figure(msgspec.Struct, frozen=True):
    """A figure of a plan with its formula (docs/capacity/formulas.md)."""

    name: str
    value: float
    unit: Unit
    formula: str
    grade: Grade


class FigureGuesses(msgspec.Struct, frozen=True):
    """The unstated inputs of a figure, those that move it most first; such a figure is assumed.

    `section`, `subject`, and `name` are those of `PlacedFigure`.
    """

    section: str
    subject: str
    name: str
    inputs: tuple[str, ...]


class TopicPlan(msgspec.Struct, frozen=True):
    """The load of a topic, for one copy except `stored_bytes`, which covers all copies on the brokers' disks.

    `remote_bytes` is the size in tiered storage, for one copy. `producer_entries` are the states, on all replicas, of
    idempotent producers that no application is.
    """

    name: str
    internal: bool
    written: float
    read: float
    data_batches_per_s: float
    batch_records: float
    markers_per_s: float
    stored_bytes: float
    partition_count: int
    remote_bytes: float = 0.0
    producer_entries: float = 0.0


class InstancePlan(msgspec.Struct, frozen=True):
    """The resources of an instance of a Kafka Streams application.

    `cores` is what its threads can keep busy. `off_heap_bytes` is RocksDB's unbounded memory, `disk_bytes` its local
    disk including standbys. `takeover_ms` is the maximum catch-up time of a standby before it takes over a task.
    `kept_restore_ms` and `uncommitted_bytes` are what transactional state stores (Kafka Streams 4.4) restore at most
    after a kill, in place of `wiped_restore_ms`, and what they add to the memory: half to `heap_bytes`, half to
    `off_heap_bytes`, where the application has them. 0 without stores.
    """

    instances: int
    threads: int
    tasks: int
    cores: int
    heap_bytes: float
    off_heap_bytes: float
    disk_bytes: float
    takeover_ms: float
    kept_restore_ms: float
    uncommitted_bytes: float
    wiped_restore_ms: float = 0.0

    @property
    def memory_bytes(self) -> float:
        """Return the heap and RocksDB's memory."""
        return self.heap_bytes + self.off_heap_bytes


class ApplicationPlan(msgspec.Struct, frozen=True):
    """What one application's transactions cause, in one copy, and what its readers see.

    `initializations_per_s` are the InitProducerId requests of producers that begin anew with each transaction.
    `data_partitions` and `partition_waves` are per transaction; `visible_p50_ms` and `visible_p99_ms` are from writing
    a record until read_committed consumers see it, over all chained applications up to this one (`stage_count`).
    `throughput_share` is what remains of at-least-once throughput, from published measurements. `task_count` is how
    many of the `producers` (Streams: threads) can have work at the same time, at most. `restore_ms` is the time after a
    kill, with transactional state stores where the application has them. `instance` is None for
    applications other than Kafka Streams.
    """

    name: str
    producers: int
    transactions_per_s: float
    data_partitions: float
    partition_waves: float
    markers_per_s: float
    transaction_log_appends_per_s: float
    transaction_log_bytes_per_s: float
    offset_bytes_per_s: float
    producer_entries: float
    transactional_ids: int
    stage_count: int
    visible_p50_ms: float
    visible_p99_ms: float
    blocked_after_crash_ms: float
    throughput_share: float
    restore_ms: float
    task_count: int
    abort_ratio: float
    instance: InstancePlan | None
    initializations_per_s: float = 0.0

    @property
    def marked_partitions(self) -> float:
        """Return the partitions of a transaction, that of the offsets included: each gets a marker."""
        return self.markers_per_s / self.transactions_per_s if self.transactions_per_s else self.data_partitions


class ResourceUse(msgspec.Struct, frozen=True):
    """The use of a broker's resource.

    `used` is the use with all brokers, `used_after_loss` with `brokers_lost` of them gone. `limit` is None if the file
    does not state it. `planned` is the usable share of the limit.
    """

    name: str
    unit: Unit
    used: float
    used_after_loss: float
    limit: float | None
    planned: float | None
    formula: str
    grade: Grade

    @property
    def utilisation(self) -> float | None:
        """Return the share of `planned` that is used after the loss; above 1, it does not fit."""
        return self.used_after_loss / self.planned if self.planned else None


class Advice(msgspec.Struct, frozen=True):
    """A setting to change, with its calculation; `urgent` if the plan fails without the change."""

    setting: str
    value: str
    reason: str
    urgent: bool


class Variant(msgspec.Struct, frozen=True):
    """The plan's main figures with one change; `refusal` if the change is invalid.

    `instance_count` and `core_count` are those of all Kafka Streams applications; 0 without such. `heap_bytes` and
    `instance_disk_bytes` are those of the largest instance, `restore_ms` is that of the slowest after a kill.
    """

    parameter: str
    value: str
    transactions_per_s: float = 0.0
    markers_per_s: float = 0.0
    eos_appends_per_s: float = 0.0
    eos_append_share: float = 0.0
    visible_p99_ms: float = 0.0
    network_out: float = 0.0
    disk_bytes: float = 0.0
    broker_count: int | None = None
    instance_count: int = 0
    core_count: int = 0
    heap_bytes: float = 0.0
    instance_disk_bytes: float = 0.0
    restore_ms: float = 0.0
    refusal: str = ""


class GrowthPoint(msgspec.Struct, frozen=True):
    """The plan at a later date; utilizations by resource name."""

    date: str
    factor: float
    utilisation: tuple[tuple[str, float], ...]
    broker_count: int | None


class CapacityPlan(msgspec.Struct, frozen=True):
    """All of a plan. Totals are in one copy unless said otherwise.

    `eos_appends_per_s` and `data_appends_per_s` are over all copies. `bottleneck` is empty without a known limit.
    `broker_count_needed` None: no number of brokers is enough, or no limit is known. `failures` are clauses on what
    fails apart from the resources of brokers, and `not_judged` what has no stated limit: `fits` says nothing of it.
    `guesses` has the figures that depend on inputs that are not stated.
    """

    workload: str
    broker_count: int
    brokers_lost: int
    replication_factor: int
    topics: tuple[TopicPlan, ...]
    applications: tuple[ApplicationPlan, ...]
    figures: tuple[Figure, ...]
    resources: tuple[ResourceUse, ...]
    eos_appends_per_s: float
    data_appends_per_s: float
    transactions_per_s: float
    markers_per_s: float
    bottleneck: str
    fits: bool | None
    broker_count_needed: int | None
    advice: tuple[Advice, ...]
    assumptions: tuple[Assumption, ...]
    guesses: tuple[FigureGuesses, ...] = ()
    failures: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()

    @property
    def eos_append_share(self) -> float:
        """Return the share of all appends that exactly-once adds."""
        total = self.eos_appends_per_s + self.data_appends_per_s
        return self.eos_appends_per_s / total if total else 0.0

    @property
    def visible_p99_ms(self) -> float:
        """Return the 99th percentile of the slowest chain."""
        return max((application.visible_p99_ms for application in self.applications), default=0.0)

    def resource(self, name: str) -> ResourceUse:
        """Return the named resource.

        Raises:
            KeyError: The name is unknown.
        """
        for resource in self.resources:
            if resource.name == name:
                return resource
        raise KeyError(name)
