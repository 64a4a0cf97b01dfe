"""Small clusters to judge: one topic, one coordinator, everything else as a test says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.hang import HangVerdict
from eosctl.model.history import TransactionLogEntry
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.snapshot import ApiRange, Broker, ClusterSnapshot, PartitionInfo, Topic
from eosctl.model.transaction import PartitionProducers, ProducerState, TopicPartition, Transaction, TransactionLook

NOW_MS = 1_800_000_000_000
ORDERS_0 = TopicPartition("orders", 0)
ORDERS_1 = TopicPartition("orders", 1)
EVERYTHING = frozenset(EvidenceKind)

KAFKA_3_9 = (ApiRange(0, 0, 11), ApiRange(1, 0, 17), ApiRange(61, 0, 0), ApiRange(66, 0, 1))
KAFKA_4_3 = (ApiRange(0, 3, 13), ApiRange(1, 4, 18), ApiRange(27, 1, 2), ApiRange(61, 0, 0), ApiRange(66, 0, 2))

NO_AUTHORIZER = Setting("authorizer.class.name", "", SettingSource.DEFAULT, "DescribeConfigs broker 1")
AUTHORIZER = replace(NO_AUTHORIZER, value="org.apache.kafka.metadata.authorizer.StandardAuthorizer")


def broker(node_id: int = 1, **fields: Any) -> Broker:
    return Broker(
        **{
            "node_id": node_id,
            "host": "127.0.0.1",
            "port": 9091 + node_id,
            "api_ranges": KAFKA_3_9,
            "settings": (NO_AUTHORIZER,),
            **fields,
        }
    )


def partition(where: TopicPartition = ORDERS_0, **fields: Any) -> PartitionInfo:
    return PartitionInfo(
        **{
            "partition": where,
            "leader_id": 1,
            "leader_epoch": 0,
            "replicas": (1,),
            "isr": (1,),
            "log_start_offset": 0,
            "high_watermark": 100,
            "last_stable_offset": 40,
            **fields,
        }
    )


def state_topic(leaders: Sequence[int | None] = (1,)) -> Topic:
    name = "__transaction_state"
    return Topic(
        name,
        "state",
        True,
        tuple(
            partition(TopicPartition(name, index), leader_id=leader, last_stable_offset=100)
            for index, leader in enumerate(leaders)
        ),
    )


def producer(producer_id: int = 7, epoch: int = 0, since: int | None = 40, **fields: Any) -> ProducerState:
    return ProducerState(
        **{
            "producer_id": producer_id,
            "producer_epoch": epoch,
            "last_sequence": 3,
            "last_timestamp_ms": NOW_MS - 5_000,
            "coordinator_epoch": 0,
            "current_txn_start_offset": since,
            **fields,
        }
    )


def transaction(state: str = "Ongoing", **fields: Any) -> Transaction:
    return Transaction(
        **{
            "transactional_id": "app",
            "coordinator_id": 1,
            "producer_id": 7,
            "state": state,
            "producer_epoch": 0,
            "timeout_ms": 60_000,
            "start_time_ms": NOW_MS - 5_000,
            "partitions": (ORDERS_0,) if state in ("Ongoing", "PrepareCommit", "PrepareAbort") else (),
            **fields,
        }
    )


def look(
    producers: Iterable[ProducerState] | None,
    transactions: Iterable[Transaction] = (),
    *,
    at_ms: int = NOW_MS,
    where: TopicPartition = ORDERS_0,
    broker_id: int = 1,
) -> TransactionLook:
    """One pass that takes 20 ms; ``producers`` None means that the leader did not answer."""
    seen = () if producers is None else (PartitionProducers(where, broker_id, tuple(producers)),)
    return TransactionLook(at_ms, at_ms + 20, seen, tuple(transactions))


def entry(state: str, offset: int, epoch: int = 0, **fields: Any) -> TransactionLogEntry:
    open_states = ("Ongoing", "PrepareCommit", "PrepareAbort")
    written_at_ms = fields.pop("written_at_ms", NOW_MS - 600_000 + offset * 10)
    return TransactionLogEntry(
        **{
            "transactional_id": "app",
            "log_partition": 0,
            "offset": offset,
            "coordinator_epoch": 0,
            "written_at_ms": written_at_ms,
            "state": state,
            "producer_id": 7,
            "producer_epoch": epoch,
            "timeout_ms": 60_000,
            "partitions": (ORDERS_0,) if state in open_states else (),
            "updated_at_ms": written_at_ms,
            "start_time_ms": None if state == "Empty" else NOW_MS - 600_000,
            **fields,
        }
    )


def gap(kind: EvidenceKind, subject: str, error: str = "NOT_COORDINATOR") -> EvidenceGap:
    return EvidenceGap(kind, subject, GapReason.BROKER_ERROR, error)


def snapshot(*looks: TransactionLook, **fields: Any) -> ClusterSnapshot:
    return ClusterSnapshot(
        **{
            "captured_at_ms": NOW_MS + 1_000,
            "cluster_id": "cluster",
            "brokers": (broker(),),
            "topics": (Topic("orders", "orders-id", False, (partition(), partition(ORDERS_1))), state_topic()),
            "looks": looks,
            "collected": EVERYTHING,
            **fields,
        }
    )


def two_reads(
    producers: Iterable[ProducerState], transactions: Iterable[Transaction] = (), **fields: Any
) -> ClusterSnapshot:
    """The same picture twice, half a second apart."""
    producers, transactions = tuple(producers), tuple(transactions)
    return snapshot(
        look(producers, transactions, at_ms=NOW_MS), look(producers, transactions, at_ms=NOW_MS + 520), **fields
    )


def only(cluster: ClusterSnapshot) -> HangVerdict:
    """Return the verdict on the one transaction that is open on a leader."""
    (verdict,) = classify_open_transactions(cluster)
    return verdict
