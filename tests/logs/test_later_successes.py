"""Recoveries that a log shows: the same id initialized again, a task that stores or starts again, a member's return."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eosctl.logs.classifier.catalog import load_incidents
from eosctl.logs.incidents.remaining.sentences import filled
from eosctl.model.event_names import EventCategory
from eosctl.model.severity import Severity
from tests.logs.judging import judge

CLIENT = "2026-03-01 {},000 {} [Producer clientId=p, transactionalId=pay-1] {} (org.apache.kafka.clients.X)\n"
EXPIRED = (
    "Transiting to fatal error state due to org.apache.kafka.common.errors.InvalidPidMappingException: The producer "
    "attempted to use a producer id which is not currently assigned to its transactional id."
)
READY = "ProducerId set to {} with epoch 0"
TASK = "[2026-03-01 {},000] {} WorkerSourceTask{{id=jdbc-0}} {} (org.apache.kafka.connect.runtime.WorkerSourceTask:1)\n"
WORKER = "[2026-03-01 {},000] INFO {} (org.apache.kafka.connect.runtime.Worker:1)\n"
NOT_FLUSHED = "Failed to flush, timed out while waiting for producer to flush outstanding 3 messages"
STORED = "Finished commitOffsets successfully in 90 ms"
BEGUN = "Committing offsets for 20 acknowledged messages"
STARTED = "Source task finished initialization and start"


@pytest.mark.parametrize("later", ["10:05:00", "14:05:00"])
def test_the_same_id_is_initialized_again(later: str, tmp_path: Path) -> None:
    text = CLIENT.format("10:00:00", "ERROR", EXPIRED) + CLIENT.format(later, "INFO", READY.format(71))
    (found,) = judge(tmp_path, {"pay.log": text})
    assert f"A new producer was initialized at 2026-03-01T{later}" in found.explanation
    assert found.severity is Severity.ERROR


def test_an_id_that_fails_again_has_not_recovered(tmp_path: Path) -> None:
    text = "".join(
        (
            CLIENT.format("10:00:00", "ERROR", EXPIRED),
            CLIENT.format("10:00:30", "INFO", READY.format(71)),
            CLIENT.format("10:01:00", "ERROR", EXPIRED),
        )
    )
    found = judge(tmp_path, {"pay.log": text})
    assert found
    assert all("was initialized at" not in one.explanation for one in found)


def test_another_id_does_not_recover_it(tmp_path: Path) -> None:
    other = CLIENT.format("10:05:00", "INFO", READY.format(71)).replace("pay-1", "pay-2")
    (found,) = judge(tmp_path, {"pay.log": CLIENT.format("10:00:00", "ERROR", EXPIRED) + other})
    assert "was initialized at" not in found.explanation


def test_a_programs_own_words_about_its_producer_count(tmp_path: Path) -> None:
    ready = "2026-03-01 10:05:00,000 INFO worker init_transactions ok\n"
    (found,) = judge(tmp_path, {"pay.log": CLIENT.format("10:00:00", "ERROR", EXPIRED) + ready})
    assert "was initialized at 2026-03-01T10:05:00" in found.explanation


@pytest.mark.parametrize(("success", "end"), [(STORED, "10:01:00"), (BEGUN, "10:02:00")])
def test_offsets_that_are_stored_later_leave_a_warning(success: str, end: str, tmp_path: Path) -> None:
    text = "".join(
        (
            TASK.format("10:00:00", "ERROR", NOT_FLUSHED),
            TASK.format("10:01:00", "INFO", success),
            WORKER.format(end, "Finished starting connectors and tasks"),
        )
    )
    (found,) = judge(tmp_path, {"connect.log": text})
    assert found.severity is Severity.WARNING
    assert "stored its offsets again at 2026-03-01T10:01:00" in found.explanation


def test_a_commit_that_just_began_is_not_a_success(tmp_path: Path) -> None:
    text = TASK.format("10:00:00", "ERROR", NOT_FLUSHED) + TASK.format("10:01:00", "INFO", BEGUN)
    (found,) = judge(tmp_path, {"connect.log": text})
    assert found.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("stop", "severity"), [("Stopping task jdbc-0", Severity.INFO), ("Stopping task jdbc-1", Severity.ERROR)]
)
def test_a_task_that_was_stopped_on_purpose(stop: str, severity: Severity, tmp_path: Path) -> None:
    text = "".join(
        (
            WORKER.format("09:59:58", stop),
            TASK.format("10:00:00", "ERROR", NOT_FLUSHED),
            TASK.format("10:00:08", "INFO", STARTED),
        )
    )
    (found,) = judge(tmp_path, {"connect.log": text})
    assert found.severity is severity
    assert "was started again at 2026-03-01T10:00:08" in found.explanation


def test_several_tasks_recover_when_each_has_stored_its_offsets(tmp_path: Path) -> None:
    failed = TASK.format("10:00:00", "ERROR", NOT_FLUSHED) + TASK.format("10:00:04", "ERROR", NOT_FLUSHED).replace(
        "jdbc-0", "jdbc-3"
    )
    first = TASK.format("10:01:00", "INFO", STORED)
    second = TASK.format("10:01:09", "INFO", STORED).replace("jdbc-0", "jdbc-3")
    (found,) = judge(tmp_path / "all", {"connect.log": failed + first + second})
    assert found.severity is Severity.WARNING
    assert found.subject["connector.tasks"] == ("jdbc-0", "jdbc-3")
    assert "connector tasks jdbc-0 and jdbc-3 were not acknowledged" in found.explanation
    assert "stored their offsets again by 2026-03-01T10:01:09" in found.explanation
    (found,) = judge(tmp_path / "one", {"connect.log": failed + first})
    assert found.severity is Severity.ERROR


def test_layers_that_report_one_failure_count_as_one(tmp_path: Path) -> None:
    failure = TASK.format("10:0{0}:00", "ERROR", NOT_FLUSHED) + TASK.format("10:0{0}:00", "ERROR", "Failed to commit")
    text = "".join(failure.replace("{0}", str(minute)) for minute in (0, 1, 2))
    (found,) = judge(tmp_path, {"connect.log": text})
    assert "(3 times)" in found.explanation


@pytest.mark.parametrize("category", sorted(load_incidents()))
def test_sentences_without_names_have_only_words(category: EventCategory) -> None:
    known = load_incidents()[category]
    for sentence in (known.what, known.unfinished, known.brief, known.next_step):
        for name in re.findall(r"\{(\w+[.-][\w.-]+)\}", re.sub(r"\[[^\]]*\]", "", sentence)):
            assert filled(f"{{{name}}}", {}) != f"the {name}"


ETL = "2026-05-06 0{}:00,100 - kafka.coordinator - {}\n"


def test_a_rejoin_before_the_next_expulsion_is_not_the_end(tmp_path: Path) -> None:
    expelled = "WARNING - Heartbeat poll expired, leaving group"
    joined = "INFO - Successfully joined group etl with generation {}"
    turns = [
        ETL.format(f"1:{minute:02}", expelled) + ETL.format(f"1:{minute + 1:02}", joined.format(minute))
        for minute in (0, 7, 14, 21)
    ]
    start = ETL.format("0:50", joined.format(1))
    found = judge(tmp_path / "loop", {"etl.log": start + "".join(turns)})
    assert found and not any("rejoined" in one.explanation for one in found if one.t_end_ms > one.t_start_ms)
    (once,) = judge(tmp_path / "once", {"etl.log": start + turns[0]})
    assert "A member rejoined at 2026-05-06T01:01:00" in once.explanation


GLOBAL = (
    "2026-03-30T22:{} ERROR rdkafka::client: librdkafka: Global error: BrokerTransportFailure (Local: Broker transport "
    "failure): lk-1:9092/1: Connect to ipv4#10.3.3.8:9092 failed: Connection refused (after 0ms in state CONNECT)\n"
)
SINK = (
    '2026-03-30T22:14:31.302118Z ERROR sink{component_kind="sink" component_id=out component_type=kafka}:'
    "request{request_id=8}: vector_common::internal_event::"
)
GIVEN_UP = (
    f"{SINK}service: Service call failed. No retries or retries exhausted. error=Some(KafkaError (Message production "
    'error: MessageTimedOut (Local: Message timed out))) request_id=8 error_type="request_failed" stage="sending"\n'
    f'{SINK}component_events_dropped: Events dropped intentional=false count=1 reason="Service call failed."\n'
)
BACK = "2026-03-30T22:17:03.000210Z  INFO probe: lk-1:9092 accepts connections again\n"


@pytest.mark.parametrize("back", [BACK, ""])
def test_a_broker_that_is_reached_again_has_lost_records(back: str, tmp_path: Path) -> None:
    log = GLOBAL.format("09:29.511903Z") + GLOBAL.format("10:00.009871Z") + GIVEN_UP + back
    (one,) = judge(tmp_path, {"vector.log": log})
    assert (one.root_cause, one.severity.at_least(Severity.ERROR)) == ("brokers-not-reached", True)
    assert "lk-1:9092" in one.subject["servers"]
    assert ("A broker was reached again at 2026-03-30T22:17:03.000Z" in one.explanation) == bool(back)
    assert one.next_step.startswith("Read the logs of these brokers" if back else "Check that these brokers run")
