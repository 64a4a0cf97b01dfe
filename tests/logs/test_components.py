"""The plugin of a pipeline that a fault is about: its name in the records becomes the subject."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

TELEGRAF = (
    "2026-02-03T09:00:0{0}Z E! [outputs.kafka::cold] Message too large, consider increasing `max_message_bytes`; "
    "dropping batch\n"
    "2026-02-03T09:00:0{0}Z D! [outputs.kafka::cold] Wrote batch of 1000 metrics in 14.4118ms\n"
)
FLUENTD = (
    "2026-02-03 09:00:0{0} +0000 [warn]: #0 [tiles_out] failed to flush the buffer. retry_times={0} "
    'next_retry_time=2026-02-03 09:01:00 +0000 chunk="622ed2d1a9b0f5b6c37c9f1c3b0d2a41" '
    'error_class=Rdkafka::RdkafkaError error="Broker: Not enough in-sync replicas (not_enough_replicas)"\n'
)
OLD_FLUENTD = FLUENTD.replace("#0 [tiles_out] ", "").replace(" error_class", ' plugin_id="tiles_out" error_class')


@pytest.mark.parametrize("form", [FLUENTD, OLD_FLUENTD], ids=["fluentd", "older fluentd"])
def test_the_output_of_a_pipeline_is_the_subject(form: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"agent.log": "".join(map(form.format, range(1, 9)))})
    assert one.subject["component"] == "tiles_out"


def test_two_outputs_are_not_one_subject(tmp_path: Path) -> None:
    text = FLUENTD.format(1) + FLUENTD.format(2).replace("tiles_out", "maps_out")
    assert all("component" not in one.subject for one in judge(tmp_path, {"agent.log": text}))


def test_a_dropped_batch_of_telegraf_is_lost(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"telegraf.log": "".join(map(TELEGRAF.format, range(1, 4)))})
    assert (one.kind, one.root_cause, one.subject["component"]) == (
        "record_too_large",
        "record-above-client-limit",
        "outputs.kafka::cold",
    )
    assert "max_message_bytes" in one.explanation
    assert "missing in Kafka" in one.explanation


def test_a_refused_timestamp_of_telegraf_has_a_cause(tmp_path: Path) -> None:
    text = (
        "2026-02-03T09:00:01Z E! [outputs.kafka] The timestamp of the message is out of acceptable range, consider "
        "increasing broker `message.timestamp.difference.max.ms`; dropping batch\n"
    )
    (one,) = judge(tmp_path, {"telegraf.log": text})
    assert one.kind == "records_refused"
