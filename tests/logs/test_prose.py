"""Applications that name their transactional id only once, in a sentence of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import LogEvent
from tests.logs.judging import judge

STAMP = "2026-11-21 09:29:30,907 INFO ledger: "
FENCED = (
    "2026-11-21 09:29:41,120 ERROR ledger: gave up\n"
    'cimpl.KafkaException: KafkaError{FATAL,code=_FENCED,val=-144,str="Local: This instance has been fenced"}\n'
)
SAMPLES = "".join(f"2026-11-21 09:29:3{second},177 INFO ledger: {second} samples delivered\n" for second in range(1, 9))
LSO = "2026-11-21 09:30:{:02} WARN tail: {} stalled for {} s at offset 88, LSO 88, end offset {}\n"
STUCK = "".join(LSO.format(second, "partition pulses.raw-2", second, 100 + second) for second in (8, 12, 16))
OPEN = (
    "ProducerId\tProducerEpoch\tLatestCoordinatorEpoch\tLastSequence\tLastTimestamp\tCurrentTransactionStartOffset\n"
    "21        \t3            \t0                     \t25          \t1795253371000\t88                           \n"
)


def events_of(folder: Path, text: str) -> tuple[LogEvent, ...]:
    (folder / "ledger.log").write_text(text)
    return scan_paths([folder]).events


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("Created producer config with transactional id fare.eu-7.", "fare.eu-7"),
        ("Creating new KafkaProducer with transactionalId: fares~7", "fares~7"),
        ("Transactional ID: fares", "fares"),
        ("transactional-id=fares (first of 3)", "fares"),
        ("TransactionalId : fares, group tills", "fares"),
        ('producer is up; transactional id "night run", 3 workers', "night run"),
        ("ready, transactional id is `fares`", "fares"),
        ("our transactional id is now FARES#4; partitions follow", "FARES#4"),
        ("exactly-once is on (transactional id fares/7)", "fares/7"),
        ("opened a session, transactionalId=fares_7, epoch 0", "fares_7"),
        ("transactional.id <fares-7> taken", "fares-7"),
        ("using transactional id [fares[3]]", "fares[3]"),
        ("transactional_id -> fares:7", "fares:7"),
    ],
)
def test_a_named_transactional_id_is_found_in_free_text(words: str, named: str, tmp_path: Path) -> None:
    (event,) = events_of(tmp_path, f"{STAMP}{words}\n")
    assert (event.category, event.fields["transactional_id"]) == ("TRANSACTIONAL_ID_NAMED", named)


@pytest.mark.parametrize(
    "words",
    [
        "Transactional Id authorization failed",
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        "the transactional id is not valid",
        "the transactional id is required for exactly-once",
        "transactional id is non-empty",
        "transactional id re-used by another one",
        "transactional id: not found",
        "transactional id: missing",
        "transactional id: the coordinator has moved",
        "There is a newer producer with the same transactionalId which fences the current one.",
        "The producer id is not currently assigned to its transactional id.",
        "transactional id prefix fares-7",
        "transactionalIdPrefix=fares-7",
        "transactional id and/or group are wrong",
        "transactional id 3 times in use",
        "transactional id epoch:3",
        "transactional id INVALID_PRODUCER_ID_MAPPING answered",
        "transactional id null",
        "User:a is Allowed operation = WRITE on resource = TransactionalId:LITERAL:fares-7",
    ],
)
def test_a_sentence_about_transactional_ids_names_none(words: str, tmp_path: Path) -> None:
    assert [event.fields.get("transactional_id") for event in events_of(tmp_path, f"{STAMP}{words}\n")] in ([], [None])


@pytest.mark.parametrize("words", ["transactional id fares_7", "Transactional ID: fares_7", "transactional-id=fares_7"])
def test_the_sentence_is_found_in_a_log_of_any_size(words: str, tmp_path: Path) -> None:
    many = f"{STAMP}3 tills read\n" * 8_000
    (event,) = events_of(tmp_path, f"{many}{STAMP}{words}\n{many}")
    assert event.fields["transactional_id"] == "fares_7"


@pytest.mark.parametrize(
    "line",
    [
        '{"level":"info","ts":1795253370.5,"logger":"ledger","msg":"up","transactional id":"fares 7"}',
        '{"level":"info","ts":1795253370.5,"logger":"ledger","msg":"up","kafka":{"transactionalId":"fares 7"}}',
        '{"level":"info","ts":1795253370.5,"logger":"ledger","msg":"transactional id \\"fares 7\\" is ours"}',
        "time=2026-11-21T09:29:30Z level=INFO logger=ledger msg=\"transactional id 'fares 7' is ours\"",
    ],
)
def test_structured_records_name_it_too(line: str, tmp_path: Path) -> None:
    (event,) = events_of(tmp_path, f"{line}\n")
    assert event.fields["transactional_id"].split() in (["fares", "7"], ["fares"])


@pytest.mark.parametrize(
    ("words", "confidence"),
    [
        ("serving under transactional id fares_7", 0.5),
        ("serving with tx id <fares_7>", 0.5),
        ("txn.id is fares_7", 0.5),
    ],
)
def test_a_fenced_client_has_the_id_that_it_logged(words: str, confidence: float, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"ledger.log": f"{STAMP}{words}\n{SAMPLES}{FENCED}"})
    assert (found.kind, found.subject["transactional.id"]) == ("producer_fenced", "fares_7")
    assert found.confidence == confidence


REFUSED = (
    "2026-11-21 09:29:41,120 ERROR ledger: gave up\n"
    'cimpl.KafkaException: KafkaError{FATAL,code=INVALID_TRANSACTION_TIMEOUT,val=50,str="Transaction timeout"}\n'
)


@pytest.mark.parametrize(
    ("words", "named", "confidence"),
    [
        ("serving under transactional id fares_7", "fares_7", 0.95),
        ("serving under transactional id 'night-fares'", "night-fares", 0.95),
        ("serving under transactional id night-fares", "night-fares", 0.75),
        ("serving under txn id: fares_7", "fares_7", 0.75),
        ("serving under tx.id=fares_7", "fares_7", 0.75),
    ],
)
def test_the_form_of_an_id_decides_the_confidence(words: str, named: str, confidence: float, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"ledger.log": f"{STAMP}{words}\n{SAMPLES}{REFUSED}"})
    assert (found.kind, found.subject["transactional.id"]) == ("invalid_transaction_timeout", named)
    assert found.confidence == confidence


@pytest.mark.parametrize(
    "words",
    [
        "paid, txn id 8f14e45f-ceea-467f-9a0c-3c6a2b1d4e5f",
        "paid, txn id 991827",
        f"paid, txn id pay-1\n{STAMP}paid, txn id pay-2",
    ],
)
def test_the_ids_of_payments_belong_to_no_client(words: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"ledger.log": f"{STAMP}{words}\n{SAMPLES}{REFUSED}"})
    assert found.subject == {"application": "ledger"}


@pytest.mark.parametrize(
    ("words", "confidence"),
    [
        ("transactional id 'pulses.one', producer id 21, epoch 3", 0.95),
        ("pulses.one is now producerId=21 (epoch 3)", 0.75),
        ('session "pulses.one": pid 21, epoch 3', 0.75),
        ("got producer id 21 epoch 3 for pulses.one", 0.75),
    ],
)
def test_a_hanging_transaction_belongs_to_its_producer_id(words: str, confidence: float, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"edge.log": f"{STAMP}{words}\n{SAMPLES}", "tail.log": STUCK, "producers.out": OPEN})
    assert found.subject == {
        "transactional.id": "pulses.one",
        "producerId": "21",
        "producerEpoch": "3",
        "topic-partition": "pulses.raw-2",
        "startOffset": "88",
    }
    assert found.confidence == confidence


@pytest.mark.parametrize(
    "words", ["worker-3 started, pid 21", "pulses.one has producer id 22 epoch 3", "producer id 21"]
)
def test_a_producer_without_a_named_owner_has_none(words: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"edge.log": f"{STAMP}{words}\n{SAMPLES}", "tail.log": STUCK, "producers.out": OPEN})
    assert "transactional.id" not in found.subject


def test_a_stalled_reader_without_a_partition_is_found(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"tail.log": STUCK.replace("partition pulses.raw-2", "reader")})
    assert "topic-partition" not in found.subject
    assert found.explanation.startswith("Readers of a partition stopped at offset 88")
