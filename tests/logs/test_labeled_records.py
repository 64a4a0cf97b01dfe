"""Records of programs in Go: a label next to the library's words, and names that only other records have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.logs.judging import judge

FAILED = "[thrd:b-3:9092/3]: b-3:9092/3: Connect to ipv4#10.8.0.3:9092 failed: Connection refused (after 1ms)"
FATAL = (
    "[thrd:b-3:9092/3]: Fatal error: Broker: Broker received an out of order sequence number: ProduceRequest for "
    "stops.raw [4] with 2 message(s) failed due to sequence desynchronization with broker 3 (PID{Id:511,Epoch:0}, "
    "base seq 90, idemp state change 400ms ago, last partition error NO_ERROR (actions , base seq 88..89, base msgid "
    "89, 9ms ago)"
)


def line(minute: int, label: str, words: str) -> str:
    return json.dumps(
        {"level": "error", "ts": f"2026-03-01T10:0{minute}:00.000Z", "msg": label, "fac": "FAIL", "text": words}
    )


@pytest.mark.parametrize("label", ["librdkafka", "rdkafka-log", "kafka"])
def test_failed_connections_are_a_trigger(label: str, tmp_path: Path) -> None:
    text = "\n".join((line(0, label, FAILED), line(1, label, FAILED), line(2, label, FATAL)))
    (one,) = judge(tmp_path, {"feed.jsonl": text + "\n"})
    assert one.kind == "out_of_order_sequence"
    assert one.subject["topic-partition"] == "stops.raw-4"
    assert "had lost its connection to b-3:9092 at 2026-03-01T10:00:00.000Z" in one.explanation


def test_a_message_with_words_of_its_own_stays(tmp_path: Path) -> None:
    text = "\n".join(line(minute, "order 7 is stored", FATAL) for minute in (1, 2))
    assert judge(tmp_path, {"feed.jsonl": text + "\n"}) == []


SARAMA = (
    '{"level":"info","msg":"Failed to connect to broker b-1:9092: dial tcp 10.8.0.1:9092: connect: connection refused",'
    '"time":"2026-03-01T10:00:00Z"}\n'
    '{"level":"info","msg":"client/metadata found some partitions to be leaderless","time":"2026-03-01T10:00:02Z"}\n'
    '{"level":"error","msg":"kafka: Failed to produce message to topic stops.raw: kafka server: The broker received an '
    'out of order sequence number.","time":"2026-03-01T10:00:04Z"}\n'
)


def test_a_leaderless_partition_has_no_new_leader(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"feed.jsonl": SARAMA})
    assert "found a partition without a leader at 2026-03-01T10:00:02.000Z" in one.explanation
    assert "new leader" not in one.explanation


OBTAINED = '{"level":"info","msg":"Obtained a ProducerId: 612 and ProducerEpoch: 0","time":"2026-03-01T09:59:00Z"}\n'
OPENED = (
    '{"level":"info","msg":"producer/broker/7 state change to [open] on stops.raw/%d","time":"2026-03-01T09:59:01Z"}\n'
)


@pytest.mark.parametrize(
    ("opened", "named"), [((3,), ("topic-partition", "stops.raw-3")), ((3, 4), ("topic", "stops.raw"))]
)
def test_what_saramas_log_names_before(opened: tuple[int, ...], named: tuple[str, str], tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"feed.jsonl": OBTAINED + "".join(OPENED % index for index in opened) + SARAMA})
    assert one.subject["producerId"] == "612"
    assert one.subject[named[0]] == named[1]
    assert "a partition for" not in one.explanation
