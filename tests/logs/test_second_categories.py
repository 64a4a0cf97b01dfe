"""A record may be two things: the death of a thread or task, and the error of Kafka that it died of."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.incidents.index import EventIndex
from eosctl.logs.incidents.second_categories import ENDINGS
from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

DEATH = """\
2026-11-21 11:07:58.301 ERROR [app-1-StreamThread-1] o.a.k.s.p.i.StreamThread - stream-thread [app-1-StreamThread-1] \
Encountered the following exception during processing and {}
org.apache.kafka.streams.errors.StreamsException: Error encountered trying to commit a transaction
\tat org.apache.kafka.streams.processor.internals.StreamsProducer.commitTransaction(StreamsProducer.java:267)
Caused by: org.apache.kafka.common.errors.{}: no
"""
SHUT = "the thread is going to shut down:"
OPTED = "the registered exception handler opted to SHUTDOWN_CLIENT."
KILLED = """\
[2026-11-21 11:07:58,301] ERROR WorkerSourceTask{id=jdbc-0} Task threw an uncaught and unrecoverable exception. Task \
is being killed and will not recover until manually restarted (org.apache.kafka.connect.runtime.WorkerTask)
org.apache.kafka.connect.errors.ConnectException: Unrecoverable exception from producer send callback
Caused by: org.apache.kafka.common.errors.InvalidPidMappingException: no
"""


@pytest.mark.parametrize("answer", [SHUT, OPTED])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("UnknownProducerIdException", "unknown_producer_id"),
        ("InvalidPidMappingException", "transactional_id_expired"),
        ("ProducerFencedException", "producer_fenced"),
        ("UnsupportedVersionException", "unsupported_version"),
    ],
)
def test_a_threads_death_has_the_cause_in_its_exception(answer: str, error: str, kind: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": DEATH.format(answer, error)})
    assert found.kind == kind
    assert [place.line for place in found.evidence] == [1]


def test_a_tasks_death_has_the_cause_in_its_exception(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"connect.log": KILLED})
    assert (found.kind, found.subject["connector.task"]) == ("transactional_id_expired", "jdbc-0")


def test_an_error_of_the_application_leaves_the_death_without_a_cause(tmp_path: Path) -> None:
    text = DEATH.format(SHUT, "X").replace("org.apache.kafka.common.errors.X", "java.lang.NullPointerException")
    (found,) = judge(tmp_path, {"app.log": text})
    assert found.kind == "stream_thread_died"


def test_a_record_of_two_categories_is_one_event_of_both(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text(DEATH.format(SHUT, "ProducerFencedException"), "utf-8")
    events = scan_paths([log]).events
    index = EventIndex(events, frozenset(), lambda event: (event.time_ms or 0, event.file, event.offset))
    assert len(index.of(("STREAM_THREAD_DEATH",))) == 1
    assert len(index.of(("PRODUCER_FENCED",))) == 1
    assert len(index.of(("PRODUCER_FENCED", "STREAM_THREAD_DEATH"))) == 1


def test_every_ending_is_in_the_catalog() -> None:
    assert {category.id for category in load_catalog().categories} >= ENDINGS
