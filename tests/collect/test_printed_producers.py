"""What describe-producers and kafka-dump-log.sh print about producers."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.collect.printed.evidence import read_printed
from eosctl.model.transaction import ProducerState, TopicPartition
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from tests.collect.test_printed import printed

CALL = "$ kafka-transactions.sh --bootstrap-server k:9092 describe-producers --topic pay.out --partition 3\n"
COLUMNS = "ProducerId ProducerEpoch LatestCoordinatorEpoch LastSequence LastTimestamp CurrentTransactionStartOffset "
TABLE = (
    COLUMNS.replace(" ", "\t")
    + """
41208     \t12           \t31                    \t501         \t1731495779960\tNone                         \t
40055     \t2            \t-1                    \t14          \t1731484551377\t88213077                     \t
"""
)
BATCH = (
    "baseOffset: {first} lastOffset: {first} count: 1 baseSequence: 0 lastSequence: 7 producerId: {id} "
    "producerEpoch: 2 partitionLeaderEpoch: 0 isTransactional: true isControl: {control} deleteHorizonMs: "
    "OptionalLong.empty position: 0 CreateTime: {time} size: 87 magic: 2 compresscodec: none crc: 1 isvalid: true\n"
)
MARKER = "| offset: 6 CreateTime: 3000 keySize: 4 headerKeys: [] endTxnMarker: COMMIT coordinatorEpoch: 9\n"
DUMP = (
    "Dumping /data/pay.out-3/00000000000000000004.log\nLog starting offset: 4\n"
    + BATCH.format(first=4, id=1, control="false", time=1000)
    + BATCH.format(first=5, id=2, control="false", time=2000)
    + BATCH.format(first=6, id=2, control="true", time=3000)
    + MARKER
    + BATCH.format(first=7, id=1, control="false", time=4000)
)
SNAPSHOT = """Dumping /data/pay.out-3/00000000000000000009.snapshot
producerId: 7 producerEpoch: 0 coordinatorEpoch: -1 currentTxnFirstOffset: {open} lastTimestamp: 5000
producerId: 8 producerEpoch: 1 coordinatorEpoch: 4 currentTxnFirstOffset: {closed} lastTimestamp: 6000
"""


def producers(text: str) -> dict[int, ProducerState]:
    found = read_printed({"a.txt": text}, now_ms=9).snapshot
    assert found is not None
    (where,) = found.producers
    assert where.partition == TopicPartition("pay.out", 3)
    return {state.producer_id: state for state in where.producers}


def test_the_partition_of_a_table_is_that_of_the_call() -> None:
    assert producers(CALL + TABLE)[40055] == ProducerState(40055, 2, 14, 1731484551377, -1, 88213077)
    folded = CALL.replace(" describe", " \\\n    describe")
    assert producers(folded + TABLE)[41208].coordinator_epoch == 31


def test_a_dumped_segment_shows_open_transactions() -> None:
    found = producers(DUMP)
    assert (found[1].current_txn_start_offset, found[1].last_timestamp_ms) == (4, 4000)
    assert (found[2].current_txn_start_offset, found[2].coordinator_epoch) == (None, 9)


@pytest.mark.parametrize(("is_open", "is_closed"), [("OptionalLong[5]", "OptionalLong.empty"), ("Some(5)", "None")])
def test_a_dumped_snapshot_shows_open_transactions(is_open: str, is_closed: str) -> None:
    found = producers(SNAPSHOT.format(open=is_open, closed=is_closed))
    assert [found[one].current_txn_start_offset for one in (7, 8)] == [5, None]


def test_a_dump_without_producers_is_not_evidence() -> None:
    plain = DUMP.replace("producerId: 1", "producerId: -1").replace("producerId: 2", "producerId: -1")
    assert read_printed({"a.txt": plain}, now_ms=9).snapshot is None


def lint(folder: Path, **texts: str) -> list[tuple[str, str, object]]:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    found = lint_configuration(LintRequest((folder,))).found
    return [(one.check_id, one.severity.value, dict(one.facts)["line"]) for one in found]


def test_an_old_open_transaction_is_an_error(tmp_path: Path) -> None:
    assert lint(tmp_path, producers=CALL + TABLE) == [("EOS-TXN-018", "error", 4)]


def test_what_find_hanging_lists_is_reported_once(tmp_path: Path) -> None:
    header = (
        "Topic\tPartition\tProducerId\tProducerEpoch\tCoordinatorEpoch\tStartOffset\tLastTimestamp\tDuration(min)\t\n"
    )
    hanging = f"{header}pay.out\t3\t40055\t2\t-1\t88213077\t1731484551377\t187\t\n"
    other = "40056\t1\t-1\t14\t1731495779961\t88213079\t\n"
    assert lint(tmp_path, producers=CALL + TABLE + other, hanging=hanging) == [("EOS-TXN-001", "critical", 2)]


def test_the_table_of_a_tool_is_read(tmp_path: Path) -> None:
    text = printed("4.3.1", "transactions-describe-producers")
    assert lint(tmp_path, producers=text) == []
    listed = printed("4.3.1", "transactions-list")
    assert lint(tmp_path, producers=text.replace("1795711532093", "1795711592000"), listed=listed) == [
        ("EOS-TXN-018", "warning", 2)
    ]
