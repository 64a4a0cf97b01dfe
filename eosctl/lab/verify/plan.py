"""The plan of a verification: applications, rate, duration, and faults, determined by a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from eosctl.client.transactions import TV1, TV2, Bounds, TransactionDialect
from eosctl.model.transaction import VERIFY_PREFIX

RUN_PREFIX: Final = VERIFY_PREFIX
"""Begins every topic, group, and transactional id of a run without a prefix of its own."""


class Workload(StrEnum):
    """An application with a checked history."""

    APPENDS = "appends"
    CHAIN = "chain"
    BANK = "bank"
    ZOMBIES = "zombies"
    ABORTS = "aborts"
    MIXED = "mixed"
    LISTS = "lists"
    STREAMS = "streams"


#: Without transactional state stores, which are wiped after a crash, and with them.
STREAMS_MODES: Final = ("wiped", "kept")


class ClientKind(StrEnum):
    """The client whose protocol the producers use."""

    AUTO = "auto"
    TV0 = "tv0"
    TV1 = "tv1"
    TV2 = "tv2"
    LIBRDKAFKA = "librdkafka"
    JAVA = "java"
    JAVA_3_9 = "java-3.9"
    FRANZ_GO = "franz-go"

    @property
    def is_driven(self) -> bool:
        """Return whether the driver is a client library in a program of its own."""
        return self in (ClientKind.LIBRDKAFKA, ClientKind.JAVA, ClientKind.JAVA_3_9, ClientKind.FRANZ_GO)

    @property
    def speaks_newest(self) -> bool:
        """Return whether it uses the finalized protocol level, including TV2 (KIP-890)."""
        return self in (ClientKind.AUTO, ClientKind.JAVA, ClientKind.FRANZ_GO)


#: The requests of clients before 2.7, without PRODUCER_FENCED (KIP-588) and group metadata in TxnOffsetCommit.
TV0: Final = TransactionDialect("TV0", True, Bounds(3, 8), Bounds(0, 2), Bounds(0, 1))

DIALECTS: Final[Mapping[ClientKind, TransactionDialect | None]] = MappingProxyType(
    dict.fromkeys(ClientKind)
    | {ClientKind.TV0: TV0, ClientKind.TV1: TV1, ClientKind.TV2: TV2, ClientKind.LIBRDKAFKA: TV1}
)


@dataclass(frozen=True, slots=True)
class VerifyPlan:
    """A verification, without its faults.

    Attributes:
        prefix: Prefix of every topic, group, and transactional id; nothing else is written.
        seed: Seed of all random choices.
        workloads: The concurrent applications.
        clients: The protocol.
        duration_ms: How long transactions are started.
        rate_per_s: Transactions per second of each workload, over all its producers.
        id_count: Transactional ids of each workload (for a chain, one per partition and hop).
        partition_count: Partitions of each topic.
        replica_count: Replicas of each; None for three, or fewer if there are fewer brokers.
        max_records: Maximum records of a transaction.
        record_bytes: Size of a value; shorter ones are padded.
        skew: Skew of the partition choice: partition n has weight 1 / n^skew; 0 for uniform.
        hops: Hops of a chain, 1 to 4.
        transaction_timeout_ms: `transaction.timeout.ms`.
        settle_ms: Maximum time to settle at the end.
    """

    prefix: str
    seed: int
    workloads: tuple[Workload, ...] = tuple(Workload)
    clients: ClientKind = ClientKind.AUTO
    duration_ms: int = 30_000
    rate_per_s: float = 20.0
    id_count: int = 3
    partition_count: int = 3
    replica_count: int | None = None
    max_records: int = 5
    record_bytes: int = 100
    skew: float = 0.0
    hops: int = 2
    transaction_timeout_ms: int = 10_000
    settle_ms: int = 60_000

    @property
    def weights(self) -> tuple[float, ...]:
        """Return the relative probability of each partition."""
        return tuple(1 / (number + 1) ** self.skew for number in range(self.partition_count))

    def topic(self, name: str) -> str:
        """Return the topic of a workload, or of a part of it."""
        return f"{self.prefix}-{name}"

    @property
    def topics(self) -> tuple[str, ...]:
        """Return every topic of the run."""
        names = [str(workload) for workload in self.workloads if workload is not Workload.CHAIN]
        if Workload.STREAMS in self.workloads:
            names += [f"{name}-{part}" for name in STREAMS_MODES for part in ("counts-changelog", "counts")]
        if Workload.CHAIN in self.workloads:
            names += [f"hop-{number}" for number in range(self.hops + 1)]
        return tuple(self.topic(name) for name in names)


class PlannedFault(NamedTuple):
    """A fault of a run.

    Attributes:
        at_ms: Its start, after the start of the applications.
        duration_ms: Its duration.
        kind: Its kind.
        target: The affected node; 0 for all.
        amount: Milliseconds for delays and clocks, number of frames for drops and similar; 0 if the kind has none.
    """

    at_ms: int
    duration_ms: int
    kind: str
    target: int
    amount: int = 0

    def __str__(self) -> str:
        amount = f" ({self.amount})" if self.amount else ""
        whom = f" {self.target}" if self.target else ""
        return f"{self.kind}{whom}{amount} for {self.duration_ms / 1000:.1f} s"


class FaultRange(NamedTuple):
    """The ranges of a kind's parameters: targets, duration, and amount."""

    kind: str
    targets: tuple[int, ...]
    duration_ms: tuple[int, int] = (500, 3_000)
    amount: tuple[int, int] = (0, 0)


def draw_fault(drawn: FaultRange, chance: random.Random, at_ms: int, limit_ms: int) -> PlannedFault:
    """Draw the parameters of a kind; the duration is at most `limit_ms`."""
    duration_ms = min(chance.randint(*drawn.duration_ms), limit_ms)
    return PlannedFault(at_ms, duration_ms, drawn.kind, chance.choice(drawn.targets), chance.randint(*drawn.amount))


def draw_faults(
    ranges: Sequence[FaultRange], chance: random.Random, span_ms: int, gap_ms: int
) -> tuple[PlannedFault, ...]:
    """Draw consecutive faults without overlap, with equal probability of each kind.

    Args:
        ranges: The available kinds; empty for no faults.
        chance: Seeded generator.
        span_ms: The end of the last fault.
        gap_ms: Average pause between two faults.
    """
    faults: list[PlannedFault] = []
    deck: list[FaultRange] = []
    at_ms = chance.randint(gap_ms // 2, gap_ms) if ranges else span_ms
    while at_ms < span_ms:
        if not deck:
            deck = list(ranges)
            chance.shuffle(deck)
        fault = draw_fault(deck.pop(), chance, at_ms, span_ms - at_ms)
        faults.append(fault)
        at_ms += fault.duration_ms + chance.randint(gap_ms // 2, gap_ms * 3 // 2)
    return tuple(faults)
