"""A partition in memory that is read like one of a cluster, and lines in the formats of shippers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eosctl.logs.scan import scan_paths
from eosctl.logs.topics.address import Bound, Topics
from eosctl.logs.topics.shipped import TopicRecord
from eosctl.model.log_event import LogEvent

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
LOG = FIXTURES / "poison-record-392" / "stream-1.log"
HOST, PATH = "node-3", "/var/log/apps/stream-1.log"
STAMP = "2026-11-21T12:00:00.000Z"
TOPICS = Topics("127.0.0.1:1", ("logs",), {})


class Partition:
    """The records of ``logs-0``; ``low`` is the first one that retention has not deleted."""

    def __init__(self, records: Iterable[TopicRecord] = ()) -> None:
        self.all = list(records)
        self.low = 0

    def add(self, record: TopicRecord) -> None:
        self.all.append(record._replace(offset=len(self.all)))

    def partitions(self) -> list[tuple[str, int]]:
        return [("logs", 0)]

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        return self.low, self.all[-1].offset + 1 if self.all else 0

    def resolve(self, topic: str, partition: int, bound: Bound) -> int:
        return self.bounds(topic, partition)[bound.place == "latest"]

    def records(self, topic: str, partition: int, start: int) -> Iterator[TopicRecord]:
        assert start >= self.low
        return iter([record for record in self.all if record.offset >= start])


def plain(line: str) -> TopicRecord:
    headers = (("host", HOST.encode()), ("log.file.path", PATH.encode()))
    return TopicRecord(0, None, None, line.encode(), headers)


def as_json(values: Mapping[str, Any]) -> TopicRecord:
    return TopicRecord(0, 1_795_253_482_000, None, json.dumps(values).encode())


def filebeat(line: str) -> TopicRecord:
    log = {"offset": 7, "file": {"path": PATH}}
    beside = {"@metadata": {"beat": "filebeat"}, "host": {"name": HOST}, "agent": {"type": "filebeat", "name": HOST}}
    return as_json({"@timestamp": STAMP, "log": log, "message": line, "input": {"type": "filestream"}, **beside})


def vector(line: str) -> TopicRecord:
    return as_json({"file": PATH, "host": HOST, "message": line, "source_type": "file", "timestamp": STAMP})


def fluent_bit(line: str) -> TopicRecord:
    return as_json({"@timestamp": 1795253482.5, "log": line, "filename": PATH, "hostname": HOST})


def logstash(line: str) -> TopicRecord:
    return as_json({"@timestamp": STAMP, "@version": "1", "message": line, "path": PATH, "host": HOST})


SHIPPERS: Mapping[str, Callable[[str], TopicRecord]] = {
    "plain": plain,
    "Filebeat": filebeat,
    "Vector": vector,
    "Fluent Bit": fluent_bit,
    "Logstash": logstash,
}


def lines_of(path: Path = LOG) -> list[str]:
    return path.read_text("utf-8").splitlines()


def shipped(lines: Iterable[str], shipper: Callable[[str], TopicRecord] = plain) -> list[TopicRecord]:
    return [shipper(line)._replace(offset=offset) for offset, line in enumerate(lines)]


def without_place(events: Iterable[LogEvent]) -> list[LogEvent]:
    return [event._replace(file="", offset=0, line=0) for event in events]


def expected(path: Path = LOG) -> Sequence[LogEvent]:
    """Return the events of a file, with the machine and name that shippers report."""
    return [event._replace(host=HOST) for event in scan_paths([path]).events]
