"""Transactions that time out while a broker does not answer, and clients that fence their own successors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

ROLLBACK = (
    "[2026-03-09 04:11:30,400] INFO [TransactionCoordinator id=7] Completed rollback of ongoing transaction for "
    "transactionalId bills-3 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)\n"
)
EXPIRED = (
    "2026-03-09 04:11:29,900 ERROR [bills] o.a.k.c.p.KafkaProducer - [Producer clientId=bills-p, "
    "transactionalId=bills-3] org.apache.kafka.common.errors.TimeoutException: Expiring 12 record(s) for "
    "bills.out-2:{} ms has passed since batch creation\n"
)
FENCED = (
    "2026-03-09 04:11:31,020 ERROR [bills] o.a.k.c.p.i.TransactionManager - [Producer clientId=bills-p, "
    "transactionalId=bills-3] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
    "transactionalId which fences the current one.\n"
)
AGAIN = (
    "[2026-03-09 04:12:02,000] INFO [TransactionCoordinator id=7] Initialized transactionalId bills-3 with producerId "
    "88 and producer epoch 14 on partition __transaction_state-9 "
    "(kafka.coordinator.transaction.TransactionCoordinator)\n"
)


@pytest.mark.parametrize(
    ("age_ms", "cause"),
    [(120_000, "requests-unanswered-beyond-transaction-timeout"), (900, "process-pause-beyond-transaction-timeout")],
)
def test_unanswered_requests_explain_a_rollback(age_ms: int, cause: str, tmp_path: Path) -> None:
    files = {"broker-7/server.log": ROLLBACK + AGAIN, "bills/app.log": EXPIRED.format(age_ms) + FENCED}
    found = judge(tmp_path, files)
    assert [one.root_cause for one in found] == [cause]
    assert "initialized bills-3 again at 2026-03-09T04:12:02.000Z" in found[0].explanation


CLIENT = "2026-06-02 10:00:{} INFO [worker] {} - [Producer clientId={}, transactionalId=seats-1] {}\n"
REFUSED = (
    "2026-06-02 10:00:41,200 ERROR [worker] c.e.Seats - Producer fenced during transaction\n"
    "org.apache.kafka.common.errors.ProducerFencedException: Producer attempted an operation with an old epoch.\n"
)


def created(time: str, client: str) -> str:
    return CLIENT.format(time, "o.a.k.c.p.KafkaProducer", client, "Instantiated a transactional producer.")


def initialized(time: str, client: str, epoch: int) -> str:
    text = f"ProducerId set to 55 with epoch {epoch}"
    return CLIENT.format(time, "o.a.k.c.p.i.TransactionManager", client, text)


@pytest.mark.parametrize(
    ("last", "cause"),
    [("producer-1", "own-initialization-repeated"), ("producer-2", "duplicate-transactional-id")],
)
def test_a_late_initialization_of_an_older_client(last: str, cause: str, tmp_path: Path) -> None:
    first = "producer-2" if last == "producer-1" else "producer-1"
    starts = created("02,000", "producer-1") + created("33,000", "producer-2")
    log = starts + initialized("39,100", first, 8) + initialized("39,300", last, 9) + REFUSED
    (found,) = judge(tmp_path, {"seats.log": log})
    assert (found.kind, found.root_cause) == ("producer_fenced", cause)


SENDER = "2026-03-02T10:{},118Z {} [net] o.a.k.c.{} - [Producer clientId=p, transactionalId=silo-4] {}\n"
REFUSAL = (
    "Transiting to abortable error state due to org.apache.kafka.common.errors.InvalidProducerEpochException: Producer "
    "attempted to produce with an old epoch."
)


@pytest.mark.parametrize(
    ("ended", "later", "cause"),
    [
        ("Disconnecting from node 2 due to request timeout.", "", "takeover-or-timeout"),
        ("Cancelled in-flight PRODUCE request due to node 2 being disconnected", "", "takeover-or-timeout"),
        ("Node 2 disconnected.", "", "duplicate-transactional-id"),
        ("Disconnecting from node 2 due to request timeout.", "ok", "duplicate-transactional-id"),
    ],
    ids=["timed out", "canceled", "idle", "initialized again"],
)
def test_a_producer_that_waits_in_silence(ended: str, later: str, cause: str, tmp_path: Path) -> None:
    log = SENDER.format("14:03", "INFO", "NetworkClient", ended)
    if later:
        log += SENDER.format("20:03", "INFO", "p.i.TransactionManager", "ProducerId set to 4 with epoch 2")
    log += SENDER.format("58:40", "ERROR", "p.i.TransactionManager", REFUSAL)
    (found,) = judge(tmp_path, {"silo.log": log})
    assert found.root_cause == cause
