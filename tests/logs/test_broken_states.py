"""A Java producer that broke its own state: only a new producer helps, and the timeout before it is the trigger."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

LINE = "2026-08-28T14:41:{}Z {:5} [{}] o.a.k.c.p.i.{} - [Producer clientId=tx-2, transactionalId=tx-2] {}\n"
IO = "kafka-producer-network-thread | tx-2"
EXPIRED = (
    "Transiting to abortable error state due to org.apache.kafka.common.errors.TimeoutException: Expiring 40 record(s) "
    "for cash-7:10001 ms has passed since batch creation"
)
BROKEN = (
    "java.lang.IllegalStateException: TransactionalId tx-2: Invalid transition attempted from state {} to state {}\n"
    "\tat org.apache.kafka.clients.producer.internals.TransactionManager.transitionTo(TransactionManager.java:1062)\n"
    "\tat org.apache.kafka.clients.producer.internals.Sender.failBatch(Sender.java:763)\n"
)
REFUSED = (
    "2026-08-28T14:41:{}Z ERROR [post-2] c.k.Poster - batch 9121 failed again\n"
    "org.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an error state\n"
)


def uncaught(second: str, before: str, after: str) -> str:
    text = "Uncaught error in kafka producer I/O thread: "
    return LINE.format(second, "ERROR", IO, "Sender", text) + BROKEN.format(before, after)


@pytest.mark.parametrize(("before", "after"), [("READY", "ABORTABLE_ERROR"), ("COMMITTING_TRANSACTION", "FATAL_ERROR")])
def test_a_broken_state_alone_needs_a_new_producer(before: str, after: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"post.log": uncaught("18.056", before, after) + REFUSED.format("28.061")})
    assert (one.kind, one.root_cause) == ("producer_state_broken", "batch-failed-outside-its-transaction")
    assert one.subject["transactional.id"] == "tx-2"
    assert "create a new one" in one.next_step and "new producer" in one.explanation


def test_the_broken_state_is_named_next_to_its_trigger(tmp_path: Path) -> None:
    log = LINE.format("18.014", "INFO", IO, "TransactionManager", EXPIRED)
    log += LINE.format("18.040", "INFO", IO, "TransactionManager", "ProducerId set to 40117 with epoch 13")
    log += LINE.format("18.055", "INFO", IO, "TransactionManager", EXPIRED.replace("cash-7", "cash-3"))
    log += uncaught("18.056", "READY", "ABORTABLE_ERROR") + REFUSED.format("28.061")
    found = {one.kind: one for one in judge(tmp_path, {"post.log": log})}
    assert found.keys() <= {"producer_state_broken", "send_timeout"}
    assert found["producer_state_broken"].confidence > 0.8


def test_a_wrong_order_of_calls_is_the_applications(tmp_path: Path) -> None:
    text = "2026-08-28T14:41:18.060Z ERROR [post-2] c.k.Poster - failed\n"
    found = judge(tmp_path, {"post.log": text + BROKEN.format("UNINITIALIZED", "IN_TRANSACTION")})
    assert [one.kind for one in found] == ["producer_misused"]
