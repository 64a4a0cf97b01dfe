"""One unhappy cluster, with names that try to escape from every format."""

from __future__ import annotations

from eosctl.analysis.diagnosis_timeline import build_diagnosis_timeline
from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.collect.collector import ASKED
from eosctl.findings.finding import Command
from eosctl.findings.grouping import first_actions, group_findings
from eosctl.findings.report import Report
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.fencing import AbortedRange
from eosctl.model.history import TransactionLogEntry
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.snapshot import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    HiddenRange,
    PartitionInfo,
    Topic,
)
from eosctl.model.transaction import PartitionProducers, ProducerState, TopicPartition, Transaction, TransactionLook
from tests.analysis.scenes import KAFKA_3_9

T = 1_795_253_400_000
PAYMENTS_1 = TopicPartition("payments", 1)
ORDERS_0 = TopicPartition("orders", 0)
HOSTILE_ID = 'pay[bold]-<script>alert("1")</script>&\x07'


def _broker(node_id: int) -> Broker:
    origin = f"DescribeConfigs broker {node_id}"
    settings = (
        Setting("authorizer.class.name", "", SettingSource.DEFAULT, origin),
        Setting("transaction.partition.verification.enable", "false", SettingSource.STATIC_BROKER, origin),
        Setting("transaction.state.log.num.partitions", "2", SettingSource.STATIC_BROKER, origin),
    )
    return Broker(node_id, "127.0.0.1", 19_090 + node_id, api_ranges=KAFKA_3_9, settings=settings)


def _look(at_ms: int) -> TransactionLook:
    producers = (
        PartitionProducers(ORDERS_0, 1, (ProducerState(5, 1, -1, T - 2_900, 0),)),
        PartitionProducers(PAYMENTS_1, 2, (ProducerState(4001, 0, 4, T - 1_200_000, 0, 88),)),
    )
    transactions = (
        Transaction(HOSTILE_ID, 1, 4001, "CompleteAbort", 0, 60_000, T - 5_000),
        Transaction("order-app", 2, 5, "Empty", 2, 60_000),
    )
    return TransactionLook(at_ms, at_ms + 20, producers, transactions)


def _entry(offset: int, state: str, epoch: int, at_ms: int, started_ms: int | None = None) -> TransactionLogEntry:
    partitions = (ORDERS_0,) if state in ("Ongoing", "PrepareAbort") else ()
    return TransactionLogEntry("order-app", 1, offset, 0, at_ms, state, 5, epoch, 60_000, partitions, at_ms, started_ms)


def unhappy_cluster() -> ClusterSnapshot:
    """A hanging transaction, a fenced producer, a switched-off protection, and one broker that did not answer."""
    replicas = (1, 2, 3)
    state = "__transaction_state"
    return ClusterSnapshot(
        captured_at_ms=T + 600,
        cluster_id="kRaft/01",
        controller_id=1,
        observer="eosctl",
        brokers=tuple(_broker(node_id) for node_id in replicas),
        topics=(
            Topic("orders", "o", False, (PartitionInfo(ORDERS_0, 1, 0, replicas, replicas, (), 0, 60, 60),)),
            Topic("payments", "p", False, (PartitionInfo(PAYMENTS_1, 2, 0, replicas, replicas, (), 0, 1_292, 88),)),
            Topic(
                state,
                "t",
                True,
                tuple(
                    PartitionInfo(TopicPartition(state, i), 1 + i, 0, replicas, replicas, (), 0, 9, 9) for i in (0, 1)
                ),
            ),
        ),
        looks=(_look(T), _look(T + 520)),
        transaction_history=(
            _entry(5, "Ongoing", 0, T - 2_900, T - 2_900),
            _entry(6, "PrepareAbort", 1, T - 2_000, T - 2_900),
            _entry(7, "CompleteAbort", 1, T - 1_990, T - 2_900),
            _entry(8, "Empty", 2, T - 1_900),
        ),
        aborted_ranges=(AbortedRange(ORDERS_0, 5, 17, 25, 1),),
        hidden_ranges=(HiddenRange(PAYMENTS_1, 88, 1_292, 1_200, 4),),
        groups=(Group("settle<ment>", 1, "Stable", "consumer", "classic", (), (CommittedOffset(PAYMENTS_1, 88),)),),
        collected=ASKED - {EvidenceKind.LOG_DIRS},
        gaps=(
            EvidenceGap(
                EvidenceKind.TOPIC_CONFIGS,
                "3 topics",
                GapReason.NOT_AUTHORIZED,
                "TOPIC_AUTHORIZATION_FAILED",
                "DescribeConfigs was refused",
                "Grant DescribeConfigs on the topics.",
            ),
        ),
    )


def unhappy_report() -> Report:
    cluster = unhappy_cluster()
    case = Case(cluster)
    diagnosis = diagnose(ALL_CHECKS, case)
    groups = group_findings(diagnosis.findings, cluster)
    return Report(
        "doctor",
        diagnosis,
        cluster,
        case.open_transactions,
        T + 1_000,
        groups,
        first_actions(groups),
        (Command("eosctl next", "a note"),),
        timeline=build_diagnosis_timeline(cluster, diagnosis.findings, case.open_transactions),
    )


def healthy_report() -> Report:
    cluster = ClusterSnapshot(T, "calm", brokers=(_broker(1),), collected=frozenset({EvidenceKind.TOPICS}))
    case = Case(cluster)
    return Report("doctor", diagnose(ALL_CHECKS, case), cluster, (), T)
