"""The client of an incident by its log, where its records name none, and sentences in which a name is missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.classifier.catalog import load_incidents
from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.incidents.remaining.sentences import filled
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent, SourceSummary
from tests.logs.judging import judge

LINE = "2026-05-04 {},000 {} {}\n"
UNMAPPED = "commit failed: InvalidPidMappingException: the producer id is not currently assigned"
LATE = "Application maximum poll interval (300000ms) exceeded by 212ms: leaving group"
BROKEN: Final = re.compile(
    r"[{}\[\]]| {2}| [.,;:](?![\w.])| \(\)|''|\"\"|,,|\bNone\b|\b(?:a|an|the) (?:a|an|the)\b"
    r"|\b(?:of|the|an?|from|than) ?[.,;:](?!\w)|^\s"
)
"""A placeholder that was not filled in, or the words around a name that is missing."""
NAMES: Final[tuple[EventField, ...]] = (
    *("transactional_id", "group", "group_instance_id", "partition", "topic", "connector_task", "client_id"),
    *("application_id", "producer_id", "producer_epoch", "broker", "store", "task", "principal", "operation"),
    *("peer", "pod", "process", "awaited", "component", "rdkafka_client", "stream_thread", "thrown", "source_offset"),
)


def test_the_only_id_of_a_log_names_its_client(tmp_path: Path) -> None:
    text = LINE.format("08:00:00", "INFO", "start with transactional.id=weir-2") + LINE.format(
        "08:10:00", "ERROR", UNMAPPED
    )
    (one,) = judge(tmp_path, {"one.log": text})
    assert one.subject["transactional.id"] == "weir-2"


def test_the_only_client_of_a_log_is_an_inference(tmp_path: Path) -> None:
    text = LINE.format("08:00:00", "INFO", "start with client.id=weir-eu") + LINE.format("08:10:00", "ERROR", UNMAPPED)
    (one,) = judge(tmp_path, {"one.log": text})
    assert one.subject["client.id"] == "weir-eu"


@pytest.mark.parametrize(
    "names",
    [("group.id=weir", "group.id=dam"), ("client.id=weir-eu", "client.id=weir-us")],
)
def test_a_log_with_two_names_gives_none(names: tuple[str, str], tmp_path: Path) -> None:
    text = "".join(LINE.format("08:00:00", "INFO", f"start with {name}") for name in names)
    (one,) = judge(tmp_path, {"one.log": text + LINE.format("08:10:00", "ERROR", UNMAPPED)})
    assert not {"transactional.id", "group", "client.id"} & one.subject.keys()
    assert "names only one" not in one.explanation


def test_a_name_that_a_library_makes_up_is_none(tmp_path: Path) -> None:
    text = LINE.format("08:00:00", "INFO", "start with client.id=producer-1") + LINE.format(
        "08:10:00", "ERROR", UNMAPPED
    )
    (one,) = judge(tmp_path, {"one.log": text})
    assert "client.id" not in one.subject


def test_a_group_in_quotes_is_that_of_the_member(tmp_path: Path) -> None:
    text = LINE.format("08:00:00", "INFO", "reader belongs to the 'weir-readers' consumer group") + LINE.format(
        "08:10:00", "WARN", f"[weir#consumer-1] [thrd:main]: {LATE}"
    )
    (one,) = judge(tmp_path, {"one.log": text})
    assert one.subject["group"] == "weir-readers"
    assert one.explanation.startswith("A member of weir-readers did not poll")


def test_a_member_without_a_group_is_named_by_its_client(tmp_path: Path) -> None:
    text = (
        f"%4|1777881600.301|MAXPOLL|weir#consumer-1| [thrd:main]: {LATE}\n"
        + LINE.format("08:12:00", "ERROR", f'KafkaError{{code=_MAX_POLL_EXCEEDED,val=-147,str="{LATE}"}}')
        + LINE.format("08:12:01", "ERROR", "commit failed: KafkaError{code=UNKNOWN_MEMBER_ID,val=25}")
    )
    for one in judge(tmp_path, {"one.log": text}):
        assert "its group" not in one.explanation


def test_a_producer_is_not_named_by_its_programs_group(tmp_path: Path) -> None:
    line = (
        '{{"time":"2026-05-04T08:1{0}:00.000Z","level":"error","clientId":"weir-node","groupId":"weir","msg":"{1}"}}\n'
    )
    text = "".join(line.format(minute, UNMAPPED) for minute in range(2))
    for one in judge(tmp_path, {"one.jsonl": text}):
        assert "producer id of weir." not in one.explanation


def _placeholders(text: str) -> list[str]:
    return re.findall(r"\{([^{}]+)\}", text)


TEXTS: Final = sorted(
    {
        text
        for known in load_incidents().values()
        for text in (known.what, known.unfinished, known.brief, known.next_step)
        if text
    }
)


@given(st.sampled_from(TEXTS), st.data())
def test_a_sentence_without_a_name_is_whole(text: str, data: st.DataObject) -> None:
    names = [name for name in _placeholders(text) if name != "who"]
    known = data.draw(st.sets(st.sampled_from(names))) if names else set()
    sentence = filled(text, {"who": "weir-2", **dict.fromkeys(known, "x7")})
    assert not BROKEN.search(sentence), sentence
    own_words = re.sub(r"\{[^{}]+\}", "", text)
    assert not [name for name in names if "." in name and name in sentence and name not in own_words], sentence


def _record(category: str, number: int, left_out: EventField | None) -> LogEvent:
    fields = {name: f"{name[:3]}7" for name in NAMES if name != left_out}
    fields |= {name: "7" for name in ("producer_id", "producer_epoch", "broker", "source_offset") if name in fields}
    message = f"record of {category.lower()}"
    return LogEvent(
        f"{category}.log", number, number + 1, number * 60_000, False, "ERROR", "", "", category.lower(), "",
        category, fields, None, message,  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("left_out", [None, *NAMES])
def test_incidents_without_a_field_have_whole_texts(left_out: EventField | None) -> None:
    events = [_record(category, number, left_out) for category in load_incidents() for number in range(6)]
    sources = [
        SourceSummary(f"{category}.log", category.lower(), "", 1, 6, 0, 0, 0, 0, 300_000, "")
        for category in load_incidents()
    ]
    incidents = judge_incidents(events, sources)
    assert len(incidents) > len(load_incidents()) // 3
    for one in incidents:
        assert not BROKEN.search(one.explanation), one.explanation
        assert not BROKEN.search(one.next_step), one.next_step


def test_the_context_of_a_connectors_records_names_its_task(tmp_path: Path) -> None:
    text = (
        "[2026-12-11 14:31:07,018] ERROR [archive|task-0] Failed to run query for table orders: {}"
        " (io.confluent.connect.jdbc.source.JdbcSourceTask:456)\norg.postgresql.util.PSQLException: ERROR: syntax\n"
        "[2026-12-11 14:31:20,118] INFO [cdc|task-0|offsets] WorkerSourceTask{id=cdc-0} Committing offsets for 418"
        " acknowledged messages (org.apache.kafka.connect.runtime.WorkerSourceTask:236)\n"
    )
    (one,) = judge(tmp_path, {"connect.log": text})
    assert one.subject["connector.task"] == "archive-0"
