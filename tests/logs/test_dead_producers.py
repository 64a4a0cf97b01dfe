"""Calls that a dead producer refuses much later are a part of its fatal error, unless a new producer was made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

FATAL = (
    "2024-04-07T03:10:00.000Z ERROR librdkafka: librdkafka: FATAL [thrd:kb2:9092/2]: Fatal error: Broker: Broker "
    "received an out of order sequence number: ProduceRequest for silt [3] with 8 message(s) failed due to sequence "
    "desynchronization with broker 2 (PID{Id:77,Epoch:0}, base seq 4, idemp state change 9s ago)\n"
)
REFUSED = (
    "2024-04-07T{}Z ERROR sink{{component_id=to_silt}}: vector_core::stream::driver: Service call failed. "
    "error=KafkaError (Message production error: Fatal (Local: Fatal error)) request_id=5\n"
)
MADE = (
    "2024-04-07T03:40:00.000Z  INFO app: [rdkafka#producer-2] Acquired PID{Id:78,Epoch:0}, idempotent producer ready\n"
)


UNDELIVERED = "7 message(s) failed delivery (see individual delivery reports)"
LATE = "2024-04-07 03:10:00,000 ERROR delivery to silt [3]: Local: Message timed out (_MSG_TIMED_OUT)\n"


@pytest.mark.parametrize(
    "words",
    [
        f'KafkaError{{code=_INCONSISTENT,val=-149,str="{UNDELIVERED}"}}',
        f"Local: Inconsistent state: {UNDELIVERED}",
        f"Confluent.Kafka.KafkaTxnRequiresAbortException: Local_Inconsistent: {UNDELIVERED}",
        f"[thrd:main]: Current transaction failed in state BeginCommit: {UNDELIVERED} (_INCONSISTENT)",
    ],
)
def test_an_abortable_commit_error_kills_no_producer(words: str, tmp_path: Path) -> None:
    text = LATE + f"2024-04-07 03:10:00,100 ERROR commit of transaction silt-1 failed: {words}\n"
    (one,) = judge(tmp_path, {"silt.log": text})
    assert one.kind == "send_timeout"
    assert "new producer" not in f"{one.explanation} {one.next_step}"


@pytest.mark.parametrize("at", ["03:10:01.000", "03:55:00.000", "09:30:00.000"])
def test_later_refusals_are_one_fault_with_it(at: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"vector.log": FATAL + REFUSED.format(at)})
    assert one.kind == "out_of_order_sequence"
    assert one.subject["topic-partition"] == "silt-3"


def test_a_new_producer_dies_on_its_own(tmp_path: Path) -> None:
    found = judge(tmp_path, {"vector.log": FATAL + MADE + REFUSED.format("03:55:00.000")})
    assert [one.kind for one in found] == ["out_of_order_sequence", "producer_dead"]
