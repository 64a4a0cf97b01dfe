"""Batches that arrive out of order: a producer has several in flight, and a late batch is not a gap."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

REFUSED = (
    "[2026-11-21 09:29:35,437] ERROR [ReplicaManager broker=1] Error processing append operation on partition ledger-0 "
    "(kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer 7 at offset "
    "40 in partition ledger-0: 12 (incoming seq. number), {}\n"
)
RETRIED = (
    "2026-11-21 09:29:35,441 WARN  [io] o.a.k.c.producer.internals.Sender - [Producer clientId=a, transactionalId=b-1] "
    "Got error produce response with correlation id 39 on topic-partition {}, retrying (2147483646 attempts left). "
    "Error: OUT_OF_ORDER_SEQUENCE_NUMBER\n"
)


def kinds(folder: Path, files: dict[str, str]) -> list[str]:
    return [one.kind for one in judge(folder, files)]


def test_a_batch_after_one_under_verification_is_late(tmp_path: Path) -> None:
    assert kinds(tmp_path, {"broker-1/server.log": REFUSED.format("0 (earliest seen sequence)")}) == []


@pytest.mark.parametrize(("partition", "expected"), [("ledger-0", []), ("ledger-1", ["out_of_order_sequence"])])
def test_a_batch_that_its_client_sends_again_is_late(partition: str, expected: list[str], tmp_path: Path) -> None:
    broker = REFUSED.format("9 (current end sequence number)")
    assert kinds(tmp_path, {"broker-1/server.log": broker, "b.log": RETRIED.format(partition)}) == expected


LATE = "2026-11-21 09:29:3{},437 {} [MainThread] edge: {}\n"


@pytest.mark.parametrize(
    ("answered", "expected"),
    [("produce to ledger-0", ["late_append_refused"]), ("EndTxn", ["transaction_must_be_aborted"])],
)
def test_newer_brokers_make_late_writers_abort(answered: str, expected: list[str], tmp_path: Path) -> None:
    text = LATE.format(0, "INFO", "up, transactional.id=gate-9")
    text += LATE.format(5, "WARNING", f"{answered} refused: TRANSACTION_ABORTABLE")
    assert kinds(tmp_path, {"edge.log": text}) == expected
