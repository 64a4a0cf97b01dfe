"""Parameters and results of a load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from eosctl.lab.workloads.latency import Percentiles
from eosctl.wire.api_keys import ApiKey


class Call(NamedTuple):
    """A request of a transaction, in the version of this profile."""

    api_key: ApiKey
    version: int


class Profile(Enum):
    """The requests of a transaction, in order.

    TV1 is the protocol of clients below 4.0, TV2 that of Java 4.x clients if `transaction.version` 2 is finalized
    (KIP-890). CTP1 and CTP2 are consume-transform-produce, i.e. with offsets. OPEN1 starts a transaction and leaves it
    open.
    """

    TV1 = (Call(ApiKey.ADD_PARTITIONS_TO_TXN, 3), Call(ApiKey.PRODUCE, 9), Call(ApiKey.END_TXN, 3))
    TV2 = (Call(ApiKey.PRODUCE, 12), Call(ApiKey.END_TXN, 5))
    CTP1 = (
        Call(ApiKey.ADD_PARTITIONS_TO_TXN, 3),
        Call(ApiKey.PRODUCE, 9),
        Call(ApiKey.ADD_OFFSETS_TO_TXN, 3),
        Call(ApiKey.TXN_OFFSET_COMMIT, 3),
        Call(ApiKey.END_TXN, 3),
    )
    CTP2 = (Call(ApiKey.PRODUCE, 12), Call(ApiKey.TXN_OFFSET_COMMIT, 5), Call(ApiKey.END_TXN, 5))
    OPEN1 = (Call(ApiKey.ADD_PARTITIONS_TO_TXN, 3), Call(ApiKey.PRODUCE, 9))

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return the requests."""
        calls: tuple[Call, ...] = self.value
        return calls


@dataclass(frozen=True, slots=True)
class Load:
    """A load.

    Attributes:
        profile: The requests of a transaction.
        topic: The topic of the records; it must exist.
        connection_count: Connections to each broker.
        ids_per_connection: Transactional ids that share a connection; each has one transaction at a time.
        partition_count: Partitions of a transaction, with one record each.
        record_bytes: Size of each value.
        rate_per_s: Transactions per second to start, independent of completed ones (open loop); None to start an id's
            next transaction when its last has ended (closed loop).
        warm_up_ms: Time before counting starts.
        duration_ms: Time of counting.
        transactions_per_id: Ends the load after this many per id; None for no limit.
        retry_after_ms: Pause before a request is retried after a retriable error.
        prefix: Prefix of every transactional id and group id.
    """

    profile: Profile
    topic: str
    connection_count: int = 16
    ids_per_connection: int = 1
    partition_count: int = 1
    record_bytes: int = 100
    rate_per_s: float | None = None
    warm_up_ms: int = 1_000
    duration_ms: int = 5_000
    transactions_per_id: int | None = None
    retry_after_ms: int = 2
    prefix: str = "load"

    @property
    def id_count(self) -> int:
        """Return the number of transactional ids."""
        return self.connection_count * self.ids_per_connection


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The counts after the warm-up.

    Attributes:
        load: The load.
        counted_ms: The time of counting.
        completed_count: Completed transactions.
        commit: Latency of EndTxn.
        whole: Latency of a transaction from its first request (in an open loop from its due time) to its last response.
        retry_count: Requests retried after a retriable error.
        errors: Fatal errors of producers, by code.
        backlog_count: Scheduled transactions that had not started at the end.
        client_cpu_us: CPU time of this process per transaction, over all threads.
    """

    load: Load
    counted_ms: float
    completed_count: int
    commit: Percentiles
    whole: Percentiles
    retry_count: int
    errors: Mapping[str, int]
    backlog_count: int
    client_cpu_us: float

    @property
    def rate_per_s(self) -> float:
        """Return the transactions per second."""
        return self.completed_count * 1000 / self.counted_ms if self.counted_ms else 0.0
