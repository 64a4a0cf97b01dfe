"""A recovery is an all-clear: denials, counts of nothing, waits, and records of any incident never prove one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.incidents.timeline.proofs import Proofs
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.work import denies, is_ready, is_work
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from tests.logs.judging import judge

VERBS: Final = st.sampled_from([*load_catalog().words_of_work, "committed"])
COUNTS: Final = st.integers(1, 10**9)
NOUNS: Final = st.sampled_from(["records", "rows", "messages", "offsets", "orders"])
DENIALS: Final = (
    "nothing {verb} for {count}s",
    "has not {verb} {count} {noun}",
    "hasn't {verb} {noun} since 12:00",
    "no {noun} {verb} in the last {count} s",
    "none of {count} {noun} {verb}",
    "waiting until {count} {noun} are {verb}",
    "{count} {noun} could not be {verb}",
    "failed: {count} {noun} {verb}",
    "0 {noun} {verb}",
    "{verb} 0 {noun}",
    "{verb}=0 {noun}",
    "{count} {noun} will be {verb}",
    "stalled: last {verb} {count} {noun} 5 min ago",
    "{verb} {count} {noun}, then the request timed out",
)
SUCCESSES: Final = (
    "{verb} {count} {noun}",
    "{count} {noun} {verb}",
    "{verb} {count} {noun}, 0 failed",
    "{verb} {count} {noun} without errors",
    "{verb} {count} {noun} after 3 failed attempts",
    "{verb} {count} {noun} from no-reply-1",
)
FENCED = (
    "2026-07-15 11:41:44,902 FATAL rdkafka#consumer-1 Fatal error: Broker: Static consumer fenced by other consumer "
    "with same group.instance.id\n"
)


def _event(category: str, second: int, message: str, level: str = "INFO") -> LogEvent:
    return LogEvent("f", second, second, second * 1000, False, level, "", "", "a", "", category, {}, None, message)  # type: ignore[arg-type]


@given(st.sampled_from(DENIALS), VERBS, COUNTS, NOUNS, st.sampled_from(["WORK_DONE", "TXN_COMMITTED"]))
def test_a_denial_is_neither_work_nor_ready(form: str, verb: str, count: int, noun: str, category: str) -> None:
    text = form.format(verb=verb, count=count, noun=noun)
    for said in (text, text.capitalize(), f"worker-3: {text}"):
        event = _event(category, 1, said)
        assert not is_work(event) and not is_ready(event)


@given(st.sampled_from(SUCCESSES), VERBS, COUNTS, NOUNS)
def test_a_success_with_harmless_trouble_is_work(form: str, verb: str, count: int, noun: str) -> None:
    event = _event("WORK_DONE", 1, form.format(verb=verb, count=count, noun=noun))
    assert is_work(event)
    assert not is_work(event._replace(level="ERROR"))


@given(
    st.lists(
        st.tuples(st.sampled_from(["WORK_DONE", "INIT_PRODUCER_ID", "REBALANCE_DONE"]), st.booleans()), max_size=20
    )
)
def test_records_of_any_incident_prove_nothing(rows: Sequence[tuple[EventCategory, bool]]) -> None:
    events = [_event(category, second, f"delivered {second} rows") for second, (category, _) in enumerate(rows, 1)]
    noted = {event.offset for event, (_, is_evidence) in zip(events, rows, strict=True) if is_evidence}
    places = tuple(EvidenceLine(event.file, event.offset, event.line) for event in events if event.offset in noted)
    fault = Incident("producer_fenced", "unexplained", Severity.ERROR, 0.9, {}, 0, 0, places, "", "")
    timeline = LogTimeline(events, [])
    assert not noted & {event.offset for event in Proofs(timeline, [fault]).of(events)}
    assert len(Proofs(timeline).of(events)) == len(events)


@pytest.mark.parametrize("said", ["matcher: nothing consumed for 200s", "matcher: consumed 0 orders"])
def test_a_member_that_consumes_nothing_is_not_back(said: str, tmp_path: Path) -> None:
    log = f"{FENCED}2026-07-15 11:45:00,000 INFO {said}\n2026-07-15 11:50:00,000 INFO {said.replace('2', '5')}\n"
    found = judge(tmp_path, {"consumer.log": log})
    assert found
    assert all("continued" not in one.explanation and "works again" not in one.next_step for one in found)


def test_an_init_that_fences_another_is_not_a_return(tmp_path: Path) -> None:
    got = (
        "2026-01-26 08:{} INFO [Producer clientId=p-{id}, transactionalId=scores-{id}] ProducerId set to 77 with epoch "
        "{epoch}\n"
    )
    lost = (
        "2026-01-26 08:{} ERROR [Producer clientId=p-{id}, transactionalId=scores-{id}] "
        "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
        "transactionalId which fences the current one.\n"
    )
    blue = got.format("14:02,790", id=1, epoch=3) + lost.format("15:40,127", id=1)
    blue += got.format("15:50,644", id=2, epoch=5) + lost.format("16:28,902", id=2)
    green = got.format("15:39,931", id=1, epoch=4) + got.format("16:28,410", id=2, epoch=6)
    for one in judge(tmp_path, {"blue.log": blue, "green.log": green}):
        assert one.severity is Severity.ERROR
        assert "again at" not in one.explanation and "came back" not in one.explanation


@pytest.mark.parametrize(
    ("text", "is_denied"),
    [
        ("ProducerId set to 7714 with epoch 6", False),
        ("Successfully joined group with generation Generation{generationId=5, protocol='range'}", False),
        ("The broker has been unfenced. Transitioning from RECOVERY to RUNNING.", False),
        ("produced=100 errors=0, retries=0", False),
        ("Session establishment complete on server zk1:2181, negotiated timeout = 18000", False),
        ("Joined group at generation 5: Assignment{error=0, taskIds=[s3-0], delay=0}", False),
        ("delivered=184421007 failed=51388", True),
        ("commit refused, 12 records written before", True),
    ],
)
def test_words_of_denials(text: str, is_denied: bool) -> None:
    assert denies(text) is is_denied
