"""Work that a log shows after a fault: in the words of any program, for the same subject, and not of another worker."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.incidents.naming.resumed_work import can_resume
from eosctl.logs.incidents.timeline.work import is_ready, is_work
from eosctl.logs.scan import scan_paths
from eosctl.logs.work_records import KEPT, SLOT_MS, WORK, WorkRecords, thinned
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from tests.logs.judging import judge

LINE = "2026-05-04 {},000 {} {}\n"
FENCED = (
    "commit failed for transactional.id=silo-4: This instance has been fenced by a newer instance (_FENCED), giving up"
)
BEFORE = LINE.format("08:00:00", "INFO", "producer ready, transactional.id=silo-4")
FAULT = LINE.format("08:10:00", "ERROR", FENCED)


def after_fault(later: str, folder: Path) -> Incident:
    (one,) = judge(folder, {"silo.log": BEFORE + FAULT + later})
    return one


def scanned(text: str, folder: Path) -> tuple[LogEvent, ...]:
    (folder / "one.log").write_text(text)
    return scan_paths([folder]).events


@pytest.mark.parametrize(
    "words",
    [
        "delivered 310 messages",
        "published 12 loads to silo.out",
        "batch 7 replayed and committed (12 loads)",
        "44 records were written",
        "processed 40 loads, offsets committed",
        "commit_transaction ok, 12 loads",
        "send succeeded on attempt 3",
        "silo producer: UP",
        "consumer caught up",
        "routed load 88120 -> silo.out",
        "sent truck #77131 to silo.out/4",
        "load L-7120 persisted",
        "batch 2026-W18 committed",
        "load 9 has been uploaded",
    ],
)
def test_work_in_a_programs_words_is_reported(words: str, tmp_path: Path) -> None:
    one = after_fault(LINE.format("08:11:00", "INFO", words), tmp_path)
    assert "Its program continued its work at 2026-05-04T08:11:00.000Z (silo.log:3: " in one.explanation
    assert [place.line for place in one.evidence] == [2, 3]
    assert one.severity is Severity.ERROR


@pytest.mark.parametrize(
    "words",
    [
        "12 loads were not committed, stopping",
        "delivered 0 messages",
        "0 records were written",
        "last committed offset 771",
        "waiting until 12 records are written",
        "health of kafka producer: DOWN",
        "stopped",
        "started",
        "dropped 12 loads",
        "could not send load 9",
        "load 9 was not sent",
    ],
)
def test_other_words_are_not_work(words: str, tmp_path: Path) -> None:
    one = after_fault(LINE.format("08:11:00", "INFO", words), tmp_path)
    assert "continued its work" not in one.explanation
    assert "ready again" not in one.explanation


def test_a_fault_that_returns_is_not_over(tmp_path: Path) -> None:
    later = LINE.format("08:11:00", "INFO", "delivered 310 messages") + LINE.format("08:12:00", "ERROR", FENCED)
    for one in judge(tmp_path, {"silo.log": BEFORE + FAULT + later}):
        assert "continued its work" not in one.explanation


def test_work_after_the_last_return_counts(tmp_path: Path) -> None:
    later = "".join(
        (
            LINE.format("08:11:00", "INFO", "delivered 310 messages"),
            LINE.format("08:12:00", "ERROR", FENCED),
            LINE.format("08:13:00", "INFO", "delivered 290 messages"),
        )
    )
    texts = [one.explanation for one in judge(tmp_path, {"silo.log": BEFORE + FAULT + later})]
    assert any('08:13:00.000Z (silo.log:5: "delivered 290 messages")' in text for text in texts)


def test_a_client_that_is_only_ready_proves_little(tmp_path: Path) -> None:
    one = after_fault(LINE.format("08:11:00", "INFO", "replaced the producer, it is running again"), tmp_path)
    assert "continued its work" in one.explanation or "ready again" in one.explanation
    text = after_fault(LINE.format("08:11:00", "INFO", "kafka producer was recreated"), tmp_path).explanation
    assert "was ready again at 2026-05-04T08:11:00.000Z" in text
    assert "no later record is recognized as its work" in text


def test_a_producer_in_british_words_is_ready(tmp_path: Path) -> None:
    one = after_fault(LINE.format("08:11:00", "INFO", f"transactions initiali{'s'}ed for silo-4"), tmp_path)
    assert "A new producer was initialized at 2026-05-04T08:11:00.000Z (silo.log:3)." in one.explanation


SET = (
    "2026-05-04 {},000 INFO [Producer clientId=mill-{n}, transactionalId=mill-{n}] ProducerId set to {id} with epoch "
    "{e}\n"
)
REFUSED = (
    "2026-05-04 {},000 ERROR [Producer clientId=mill-0, transactionalId=mill-0] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId\n"
)


def test_a_fenced_program_continues_with_another_id(tmp_path: Path) -> None:
    other = {"mill-b.log": SET.format("08:05:00", n=0, id=71, e=5)}
    first = SET.format("08:00:00", n=0, id=71, e=4) + REFUSED.format("08:05:04")
    next_id = SET.format("08:05:06", n=1, id=90, e=0)
    worked = LINE.format("08:05:07", "INFO", "sent sack 12 to flour.out")
    (one,) = judge(tmp_path, {"mill-a.log": first + next_id + worked, **other})
    assert "again by the program of mill-b.log (epoch 5)" in one.explanation
    assert (
        "continued with the producer of mill-1 at 2026-05-04T08:05:06.000Z (mill-a.log:3), and worked"
        in one.explanation
    )
    assert one.severity is Severity.ERROR
    again = REFUSED.format("08:06:00").replace("mill-0", "mill-1")
    for one in judge(tmp_path, {"mill-a.log": first + next_id + worked + again, **other}):
        assert "The fenced program continued" not in one.explanation


def test_another_subject_does_not_recover_it(tmp_path: Path) -> None:
    other = "committed batch 9 transactional.id=silo-5"
    text = (
        BEFORE
        + LINE.format("08:00:00", "INFO", "producer ready, transactional.id=silo-5")
        + FAULT
        + LINE.format("08:11:00", "INFO", other)
    )
    (one,) = judge(tmp_path, {"silo.log": text})
    assert "continued its work" not in one.explanation


def test_another_worker_does_not_recover_it(tmp_path: Path) -> None:
    line = "2026-05-04 {},000 {} [{}] barge.Worker - {}\n"
    text = "".join(
        (
            line.format("08:00:00", "INFO", "worker-1", "delivered 31 messages"),
            line.format("08:00:01", "INFO", "worker-2", "delivered 32 messages"),
            line.format("08:10:00", "ERROR", "worker-1", FENCED),
            line.format("08:11:00", "INFO", "worker-2", "delivered 33 messages"),
        )
    )
    (one,) = judge(tmp_path, {"barge.log": text})
    assert "continued its work" not in one.explanation
    (again,) = judge(
        tmp_path, {"barge.log": text + line.format("08:12:00", "INFO", "worker-1", "delivered 30 messages")}
    )
    assert "continued its work at 2026-05-04T08:12:00.000Z" in again.explanation


THREAD = "2026-05-04 {},000 {} [{thread}] o.a.k.s.p.i.StreamThread - stream-thread [{thread}] {}\n"
DIED = "Encountered the following exception during processing and the thread is going to shut down: "


def test_a_dead_thread_is_replaced_by_another(tmp_path: Path) -> None:
    first, second = "sluice-9d-StreamThread-1", "sluice-9d-StreamThread-2"
    running = "State transition from PARTITIONS_ASSIGNED to RUNNING"
    text = (
        THREAD.format("08:00:00", "INFO", running, thread=first)
        + THREAD.format("08:10:00", "ERROR", DIED, thread=first)
        + "java.lang.IllegalStateException: gate 7 is closed\n"
    )
    (dead,) = judge(tmp_path, {"sluice.log": text})
    assert "continued its work" not in dead.explanation
    (one,) = judge(tmp_path, {"sluice.log": text + THREAD.format("08:10:09", "INFO", running, thread=second)})
    assert "continued its work at 2026-05-04T08:10:09.000Z (sluice.log:4: " in one.explanation


def test_a_thread_that_ran_next_to_it_is_not_its_successor(tmp_path: Path) -> None:
    first, second = "sluice-9d-StreamThread-1", "sluice-9d-StreamThread-2"
    running = "State transition from PARTITIONS_ASSIGNED to RUNNING"
    text = (
        THREAD.format("08:00:00", "INFO", running, thread=first)
        + THREAD.format("08:00:01", "INFO", running, thread=second)
        + THREAD.format("08:10:00", "ERROR", DIED, thread=first)
        + "java.lang.IllegalStateException: gate 7 is closed\n"
        + THREAD.format("08:10:09", "INFO", running, thread=second)
    )
    (one,) = judge(tmp_path, {"sluice.log": text})
    assert "continued its work" not in one.explanation


def test_a_record_that_is_too_large_does_not_end_with_others(tmp_path: Path) -> None:
    text = LINE.format(
        "08:10:00", "ERROR", "send to silo.out failed: RecordTooLargeException: The message is 2000000 bytes"
    ) + LINE.format("08:11:00", "INFO", "delivered 310 messages")
    for one in judge(tmp_path, {"silo.log": text}):
        assert "continued its work" not in one.explanation


def test_a_fault_that_repeats_to_the_end_still_fails(tmp_path: Path) -> None:
    text = BEFORE + "".join(LINE.format(f"08:{minute}:00", "ERROR", FENCED) for minute in range(10, 18))
    (one,) = judge(tmp_path, {"silo.log": text})
    assert "It still failed when its log ended: about every 1 min, last in silo.log:9." in one.explanation
    (ended,) = judge(tmp_path, {"silo.log": text + LINE.format("08:59:00", "INFO", "12 lines")})
    assert "still failed" not in ended.explanation


ENDED = "[BrokerLifecycleManager id=4] Shutting down because we were unable to register with the controller quorum."
UNFENCED = "[BrokerLifecycleManager id=4] The broker has been unfenced. Transitioning from RECOVERY to RUNNING."
SERVER = "[2026-05-04 {},000] {} {} (kafka.server.BrokerLifecycleManager)\n"


def test_a_server_that_ended_serves_again(tmp_path: Path) -> None:
    text = SERVER.format("08:10:00", "ERROR", ENDED) + SERVER.format("08:12:00", "INFO", UNFENCED)
    (one,) = judge(tmp_path, {"server.log": text})
    assert "The server served again at 2026-05-04T08:12:00.000Z (server.log:2)." in one.explanation
    for other in judge(tmp_path, {"server.log": text + SERVER.format("08:14:00", "ERROR", ENDED)}):
        assert "served again" not in other.explanation


def test_lost_records_are_not_brought_back_by_work() -> None:
    lost = {"committed_records_removed", "commit_lost", "unclean_election", "offset_out_of_range", "records_dropped"}
    base = Incident("", "", Severity.ERROR, 1, {}, 0, 0, (), "", "")
    assert not any(can_resume(base._replace(kind=kind)) for kind in lost)
    assert can_resume(base._replace(kind="producer_fenced"))


def test_records_of_work_are_benign() -> None:
    category = load_catalog().find(WORK)
    assert category is not None
    assert category.weight == "benign"


def test_a_record_is_work_or_ready_but_not_both(tmp_path: Path) -> None:
    words = ("delivered 7 loads", "producer was recreated", "delivered 0 loads", "kafka consumer: UP")
    events = scanned("".join(LINE.format(f"08:00:0{place}", "INFO", one) for place, one in enumerate(words)), tmp_path)
    assert [(is_work(event), is_ready(event)) for event in events] == [
        (True, False),
        (False, True),
        (False, False),
        (True, False),
    ]


def _event(category: str, second: int, message: str) -> LogEvent:
    return LogEvent("f", second, second, second * 1000, False, "INFO", "", "", "a", "", category, {}, None, message)  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(st.sampled_from([WORK, "PRODUCER_FENCED"]), st.sampled_from("abc")), max_size=60),
    st.integers(0, 60),
)
def test_thinning_parts_and_the_whole_agree(rows: list[tuple[str, str]], cut: int) -> None:
    events = [_event(category, second, message) for second, (category, message) in enumerate(rows)]
    whole = list(thinned(events))
    assert list(thinned([*thinned(events[:cut]), *thinned(events[cut:])])) == whole
    assert [one for one in whole if one.category != WORK] == [one for one in events if one.category != WORK]
    for before, after in pairwise(events):
        if before.category != WORK:
            assert after in whole


def test_a_flood_of_work_is_kept_once_a_slot(tmp_path: Path) -> None:
    text = "".join(
        LINE.format(f"08:{second // 60:02}:{second % 60:02}", "INFO", "sent 5 loads") for second in range(600)
    )
    kept = scanned(text * 2, tmp_path)
    assert len(kept) <= 2 * 600_000 // SLOT_MS + 2
    assert KEPT >= 1


@given(st.lists(st.tuples(st.integers(0, 25), st.sampled_from(["sent 3 rows", "sent 0 rows", "begin"])), max_size=40))
def test_no_record_of_work_that_is_kept_is_dropped(rows: list[tuple[int, str]]) -> None:
    work = WorkRecords()
    for second, message in rows:
        event = _event(WORK if message.startswith("sent") else "PRODUCER_FENCED", second, message)
        is_dropped = work.drops(event.time_ms, event.application, event.host, event.thread, message)
        is_kept = work.keeps(event)
        assert event.category != WORK or is_dropped != is_kept
