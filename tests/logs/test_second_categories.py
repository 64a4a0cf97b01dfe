"""A record may be two things: the death of a thread or task, and the error of Kafka that it died of."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.incidents.timeline.index import EventIndex
from eosctl.logs.incidents.timeline.second_categories import ENDINGS
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


def test_an_application_error_leaves_the_death_without_a_cause(tmp_path: Path) -> None:
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


def test_a_death_outranks_an_error_that_matters_when_repeated(tmp_path: Path) -> None:
    text = KILLED.replace("InvalidPidMappingException", "ConcurrentTransactionsException")
    (found,) = judge(tmp_path, {"connect.log": text})
    assert found.kind == "connect_task_failed"


LOST = """\
2024-02-11 03:12:44,771 ERROR org.apache.flink.connector.kafka.sink.KafkaCommitter [] - Unable to commit transaction \
(KafkaCommittable{transactionalId=etl-0-1}) because its producer is already fenced. This means that you either have a \
different producer with the same 'transactional.id' or recovery took longer than 'transaction.timeout.ms' (900000ms).
org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId.
"""
INIT = (
    "2024-02-11 03:12:{}00 INFO  org.apache.kafka.clients.producer.internals.TransactionManager [] - "
    "[Producer clientId=producer-etl-0-1, transactionalId=etl-0-1] ProducerId set to 9 with epoch {}\n"
)


def test_a_fenced_committer_lost_its_commit_by_default(tmp_path: Path) -> None:
    (found,) = judge(tmp_path / "alone", {"a.log": LOST})
    assert (found.kind, found.subject["transactional.id"]) == ("commit_lost", "etl-0-1")
    logs = {"a.log": INIT.format("40,1", 4) + LOST, "b.log": INIT.format("44,5", 5)}
    (found,) = judge(tmp_path / "both", logs)
    assert (found.kind, found.root_cause) == ("producer_fenced", "duplicate-transactional-id")
