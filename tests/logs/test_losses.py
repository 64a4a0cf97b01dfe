"""What a program reports as dropped: the numbers, summed, with their unit and the output that dropped them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

TOO_LARGE = "kafka server: Message was too large, server rejected it to avoid allocation error"
OTEL = (
    "2026-05-22T09:{}.120Z\terror\tqueued_retry.go:176\tExporting failed. No more retries left. Dropping data.\t"
    '{{"kind": "exporter", "data_type": "{}", "name": "kafka/{}", "error": "Failed to deliver 1 messages due to '
    + TOO_LARGE
    + '", "dropped_items": {}}}\n'
)
TELEGRAF = (
    "2026-05-22T09:31:40Z E! [outputs.kafka] Error writing to outputs.kafka: kafka: Failed to produce message to topic "
    f"metrics: {TOO_LARGE}; dropping batch\n"
    "2026-05-22T09:31:41Z W! [outputs.kafka] Metric buffer overflow; 120 metrics have been dropped\n"
    "2026-05-22T09:31:51Z W! [outputs.kafka] Metric buffer overflow; 80 metrics have been dropped\n"
)
VECTOR = (
    '2026-05-22T09:31:41.{}Z ERROR sink{{component_kind="sink" component_id=out component_type=kafka}}: '
    "vector_common::internal_event::{}\n"
)
FAILED = "service: Service call failed. No retries or retries exhausted. error=Some(MessageProduction({}))"
DROPPED = 'component_events_dropped: Events dropped intentional=false count={} reason="Service call failed."'
FLUENTD = (
    "2026-11-03 15:23:42 +0000 [error]: #0 [kfk] failed to flush the buffer, and hit limit for retries. dropping all "
    'chunks in the buffer queue. retry_times=8 records=18231 error_class=Kafka::DeliveryFailed error="Failed to send '
    'messages to web/0"\n'
)


def test_dropped_items_are_summed_with_their_unit(tmp_path: Path) -> None:
    lines = OTEL.format("31:40", "traces", "spans", 1311) + OTEL.format("36:40", "traces", "spans", 1208)
    (found,) = judge(tmp_path, {"otel.log": lines})
    assert "2,519 spans as dropped (2 times" in found.explanation
    assert found.subject["component"] == "kafka/spans"


def test_several_units_are_called_items(tmp_path: Path) -> None:
    lines = OTEL.format("31:40", "traces", "x", 10) + OTEL.format("31:45", "metrics", "x", 5)
    (found,) = judge(tmp_path, {"otel.log": lines})
    assert "15 items as dropped" in found.explanation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TELEGRAF, "200 metrics as dropped"),
        (
            VECTOR.format(100, FAILED.format("MessageSizeTooLarge"))
            + VECTOR.format(101, DROPPED.format(250))
            + VECTOR.format(901, DROPPED.format(50)),
            "300 events as dropped",
        ),
        (FLUENTD, "18,231 records as dropped"),
    ],
)
def test_each_program_counts_in_its_own_words(text: str, expected: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"agent.log": text})
    assert expected in found.explanation


def test_suppressed_losses_count_at_least_once(tmp_path: Path) -> None:
    hidden = "component_events_dropped: Internal log [Events dropped] {}"
    lines = (
        VECTOR.format(100, FAILED.format("MessageSizeTooLarge"))
        + VECTOR.format(101, DROPPED.format(7))
        + VECTOR.format(102, hidden.format("is being suppressed to avoid flooding."))
        + VECTOR.format(500, "service: Internal log [Service call failed.] has been suppressed 4000 times.")
        + VECTOR.format(501, hidden.format("has been suppressed 1310 times."))
        + VECTOR.format(502, DROPPED.format(2))
    )
    (found,) = judge(tmp_path, {"agent.log": lines})
    assert "at least 1,319 events as dropped (1,312 times, 1,310 of them suppressed, last at" in found.explanation


def test_suppressed_failures_may_be_further_losses(tmp_path: Path) -> None:
    hidden = VECTOR.format(500, "service: Internal log [Service call failed.] has been suppressed 131 times.")
    log = VECTOR.format(100, FAILED.format("MessageTimedOut")) + VECTOR.format(101, DROPPED.format(3))
    (found,) = judge(tmp_path, {"vector.log": log + hidden})
    assert "at least 3 events as dropped" in found.explanation


def test_the_partition_of_ruby_kafka_is_named(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"fluentd.log": FLUENTD})
    assert found.subject["topic-partition"] == "web-0"


def test_a_loss_of_nothing_is_not_reported(tmp_path: Path) -> None:
    found = judge(
        tmp_path, {"telegraf.log": TELEGRAF.replace("120 metrics", "0 metrics").replace("80 metrics", "0 metrics")}
    )
    assert all("as dropped" not in one.explanation for one in found)


SINK = '2026-05-02T03:{:02}:45.022904Z ERROR sink{{component_kind="sink" component_id=out}}: vector_common::{}\n'
CALLS = (
    "internal_event::service: Internal log [Service call failed. No retries or retries exhausted.] has been "
    "suppressed {} times."
)
PAIR = (
    (
        "internal_event::service: Service call failed. No retries or retries exhausted. error=Some(KafkaError (Message "
        'production error: MessageTimedOut (Local: Message timed out))) error_type="request_failed" stage="sending"'
    ),
    "internal_event::component_events_dropped: Events dropped intentional=false count=1",
)
HIDDEN = "internal_event::component_events_dropped: Internal log [Events dropped] has been suppressed 70 times."


@pytest.mark.parametrize(
    ("words", "lost"),
    [
        ([*PAIR, CALLS.format(458), *PAIR, CALLS.format(459), *PAIR], "at least 920 events"),
        # What the sink reports of the losses themselves is not counted again.
        ([*PAIR, CALLS.format(70), HIDDEN, *PAIR], "at least 72 events"),
    ],
)
def test_suppressed_calls_are_losses(words: list[str], lost: str, tmp_path: Path) -> None:
    text = "".join(SINK.format(15 + number // 3, one) for number, one in enumerate(words))
    assert any(lost in one.explanation for one in judge(tmp_path, {"vector.log": text}))
