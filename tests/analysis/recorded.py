"""What real brokers answered (Kafka's own command-line tools), as snapshots."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from eosctl.model.evidence import EvidenceKind
from eosctl.model.history import TransactionLogEntry
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.snapshot import Broker, ClusterSnapshot, PartitionInfo, Topic
from eosctl.model.transaction import PartitionProducers, ProducerState, TopicPartition, Transaction, TransactionLook
from tests.analysis.scenes import KAFKA_3_9, KAFKA_4_3

FIXTURES = Path(__file__).parent.parent / "fixtures"
STATES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead")
BROKERS = {"3": KAFKA_3_9, "4": KAFKA_4_3}


def table(path: Path) -> list[dict[str, str]]:
    """Parse a tool's table; an error message gives no rows."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    if not lines or "\t" not in lines[0]:
        return []
    header = [cell.strip() for cell in lines[0].split("\t")]
    return [dict(zip(header, (cell.strip() for cell in line.split("\t")), strict=False)) for line in lines[1:]]


def partition_of(text: str) -> TopicPartition:
    topic, _, index = text.rpartition("-")
    return TopicPartition(topic, int(index))


def number(text: str) -> int | None:
    return None if text in ("None", "") else int(text)


def transactions(folder: Path) -> tuple[Transaction, ...]:
    found = []
    for path in sorted(folder.glob("describe--*.txt")):
        for row in table(path):
            names = [name for name in row["TopicPartitions"].split(",") if name]
            found.append(
                Transaction(
                    transactional_id=row["TransactionalId"],
                    coordinator_id=int(row["CoordinatorId"]),
                    producer_id=int(row["ProducerId"]),
                    state=row["TransactionState"],
                    producer_epoch=int(row["ProducerEpoch"]),
                    timeout_ms=int(row["TransactionTimeoutMs"]),
                    start_time_ms=number(row["CurrentTransactionStartTimeMs"]),
                    partitions=tuple(partition_of(name) for name in names),
                )
            )
    return tuple(found)


def producers(folder: Path) -> tuple[PartitionProducers, ...]:
    return tuple(
        PartitionProducers(
            partition_of(path.stem.removeprefix("describe-producers--")),
            1,
            tuple(
                ProducerState(
                    producer_id=int(row["ProducerId"]),
                    producer_epoch=int(row["ProducerEpoch"]),
                    last_sequence=int(row["LastSequence"]),
                    last_timestamp_ms=int(row["LastTimestamp"]),
                    coordinator_epoch=int(row["LatestCoordinatorEpoch"]),
                    current_txn_start_offset=number(row["CurrentTransactionStartOffset"]),
                )
                for row in table(path)
            ),
        )
        for path in sorted(folder.glob("describe-producers--*.txt"))
    )


def history(case: str) -> tuple[TransactionLogEntry, ...]:
    """Read the transaction log as Kafka's own message classes decoded it."""
    golden = FIXTURES / "storage" / case / "golden"
    found = []
    for path in sorted(golden.glob("__transaction_state-*/*.log.expected.json*")):
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        for batch in json.loads(text)["batches"]:
            for record in batch.get("records", ()):
                decoded = record.get("decoded")
                if decoded is not None:
                    log_partition = int(path.parent.name.rpartition("-")[2])
                    found.append(_entry(log_partition, batch, record, decoded))
    return tuple(found)


def _entry(log_partition: int, batch: Any, record: Any, decoded: Any) -> TransactionLogEntry:
    value = decoded.get("value")
    place = (decoded["key"]["transactionalId"], log_partition, record["offset"], batch["partitionLeaderEpoch"])
    if value is None:
        return TransactionLogEntry(*place, written_at_ms=record["timestamp"], state="")
    started = value["transactionStartTimestampMs"]
    return TransactionLogEntry(
        *place,
        written_at_ms=record["timestamp"],
        state=STATES[value["transactionStatus"]],
        producer_id=value["producerId"],
        producer_epoch=value["producerEpoch"],
        timeout_ms=value["transactionTimeoutMs"],
        partitions=tuple(
            TopicPartition(group["topic"], index)
            for group in value["transactionPartitions"] or ()
            for index in group["partitionIds"]
        ),
        updated_at_ms=value["transactionLastUpdateTimestampMs"],
        start_time_ms=None if started < 0 else started,
        client_transaction_version=value.get("clientTransactionVersion", 0),
    )


def snapshot_of(
    case: str,
    *,
    moment: str = "cli",
    release: str = "3",
    looks: int = 2,
    leaders: dict[TopicPartition, int | None] | None = None,
    leader_epochs: dict[TopicPartition, int] | None = None,
) -> ClusterSnapshot:
    """Return what a recorded cluster looked like, seen ``looks`` times.

    ``leaders`` and ``leader_epochs`` add what the tools' output does not say; by default broker 1 leads everything in
    epoch 0.
    """
    folder = FIXTURES / "analysis" / case / moment
    captured_at_ms = int((folder / "captured-at-ms.txt").read_text())
    seen, known = producers(folder), transactions(folder)
    partitions = {where.partition for where in seen} | {p for t in known for p in t.partitions} | set(leaders or ())
    topics = tuple(
        Topic(
            name,
            name,
            name.startswith("__"),
            tuple(
                PartitionInfo(p, (leaders or {}).get(p, 1), (leader_epochs or {}).get(p, 0), (1,), (1,))
                for p in sorted(partitions)
                if p.topic == name
            ),
        )
        for name in sorted({p.topic for p in partitions})
    )
    state_log = Topic(
        "__transaction_state",
        "state",
        True,
        tuple(PartitionInfo(TopicPartition("__transaction_state", i), 1, 0, (1,), (1,)) for i in range(2)),
    )
    settings = (Setting("authorizer.class.name", "", SettingSource.DEFAULT),)
    return ClusterSnapshot(
        captured_at_ms=captured_at_ms,
        cluster_id=case,
        brokers=(Broker(1, "127.0.0.1", 9092, api_ranges=BROKERS[release], settings=settings),),
        topics=(*topics, state_log),
        looks=tuple(
            TransactionLook(captured_at_ms + 500 * i, captured_at_ms + 500 * i + 20, seen, known) for i in range(looks)
        ),
        transaction_history=history(case),
        collected=frozenset(EvidenceKind),
    )
