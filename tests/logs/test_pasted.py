"""Logs as users provide them: pasted, prefixed by tools, exported, cut, or recoded, always with the same result."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident
from eosctl.services.log_findings import collect_log_findings

COORDINATOR = "[2026-11-20 {}] INFO [TransactionCoordinator id=2] {} (kafka.coordinator.transaction.Coordinator)"
INIT = (
    "Initialized transactionalId till-9 with producerId 7001 and producer epoch 14 on partition __transaction_state-31"
)
ROLLBACK = "Completed rollback of ongoing transaction for transactionalId till-9 due to timeout"
LINES = (
    COORDINATOR.format("10:00:00,101", INIT),
    "[2026-11-20 10:00:40,000] ERROR [KafkaApi-2] Unexpected error (kafka.server.KafkaApis)",
    "java.lang.IllegalStateException: an answer that nobody awaits",
    "\tat kafka.server.KafkaApis.handle(KafkaApis.scala:88)",
    COORDINATOR.format("10:01:12,440", ROLLBACK),
)
TEXT = "".join(f"{line}\n" for line in LINES)
RECORDS = (LINES[0], "\n".join(LINES[1:4]), LINES[4])
NANOS = ("1795168800101000000", "1795168840000000000", "1795168872440000000")
STAMPS = ("2026-11-20T10:00:00.101Z", "2026-11-20T10:00:40.000Z", "2026-11-20T10:01:12.440Z")
KIBANA = ("Nov 20, 2026 @ 10:00:00.101", "Nov 20, 2026 @ 10:00:40.000", "Nov 20, 2026 @ 10:01:12.440")


def each(form: str, *, also: str = "") -> bytes:
    return (
        also + "".join(f"{form.format(line=line, number=number)}\n" for number, line in enumerate(LINES, 1))
    ).encode()


def table(delimiter: str, names: tuple[str, ...], *columns: tuple[str, ...]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(names)
    # Consoles show the newest first.
    writer.writerows(reversed(list(zip(*columns, strict=True))))
    return text.getvalue().encode()


def dumped(value: object, indent: int | None = None) -> bytes:
    return json.dumps(value, indent=indent).encode()


def journal_entry(record: str, nanos: str) -> bytes:
    names = {"__CURSOR": f"s=1;i={nanos}", "__REALTIME_TIMESTAMP": nanos[:16], "SYSLOG_IDENTIFIER": "kafka"}
    head = "".join(f"{name}={value}\n" for name, value in names.items()).encode()
    if "\n" not in record:
        return head + f"MESSAGE={record}\n\n".encode()
    return head + b"MESSAGE\n" + len(record.encode()).to_bytes(8, "little") + record.encode() + b"\n\n"


PASTED: dict[str, bytes] = {
    "one space": each(" {line}"),
    "a tab": each("\t{line}"),
    "four spaces": each("    {line}"),
    "a YAML block": each("      {line}", also="apiVersion: v1\ndata: |\n"),
    "a quote": each("> {line}"),
    "cat -n": each("{number:6}\t{line}"),
    "grep -n": each("{number}:{line}"),
    "grep -H": each("/var/log/kafka/server.log:{line}"),
    "grep -Hn": each("logs/server.log:{number}:{line}"),
    "grep of Windows": each("C:\\kafka\\logs\\server.log:{line}"),
    "grep -C": each("server.log-{number}-{line}"),
    "grep -n on a terminal": each("{number}:{line}", also="$ ls\nserver.log\n$ grep -n -A 2 till-9 *\n"),
    "pdsh": each("kafka-2: {line}"),
    "kubetail": each("[kafka-7d9f8b6c5-x2x8p kafka] {line}"),
    "aws logs tail": each("2026-11-20T10:00:00.101000+00:00 kafka-2 {line}"),
    "ts": each("Nov 20 10:00:00 {line}"),
    "epoch seconds": each("1795168800 {line}"),
    "Grafana": each("2026-11-20 10:00:00.101\t{line}"),
    "a list": each("- {line}"),
    "code in text": each("`{line}`"),
    "an added file": each("+{line}"),
    "a host and a tab": each("kafka-2\t{line}"),
    "a host and a blank": each("kafka-2 {line}"),
    "a host in angle brackets": each("<kafka-2> {line}"),
    "nomad": each("alloc-1 kafka> {line}"),
    "less -N": each("{number:7} {line}"),
    "stern": each("kafka-7d9f8b6c5-x2x8p kafka {line}"),
    "a padded pod": each("kafka-2                {line}"),
    "a padded pod and container": each("kafka-2                broker          {line}"),
    "padded kubetail": each("[kafka-2]              {line}"),
    "a padded host": each("kafka-2:               {line}"),
    "heroku": each("2026-11-20T10:00:00.101000+00:00 app[web.1]: {line}"),
    "logcli": each('2026-11-20T10:00:00Z {{app="kafka", pod="kafka-2"}} {line}'),
    "docker service": each("kafka_broker.1.x8a7@node-1    | {line}"),
    "journalctl short": each("Nov 20 10:00:00 kafka-2 kafka[812]: {line}"),
    "journalctl short-monotonic": each("[ 8123.440101] kafka-2 kafka[812]: {line}"),
    "ansible": ("kafka-2 | CHANGED | rc=0 >>\n" + TEXT).encode(),
    "pssh": ("[1] 10:02:00 [SUCCESS] kafka-2\n" + TEXT).encode(),
    "CRLF": TEXT.replace("\n", "\r\n").encode(),
    "CR": TEXT.replace("\n", "\r").encode(),
    "NULs": b"\0" * 3000 + TEXT.encode(),
    "many NULs": b"\0" * 600_000 + TEXT.encode(),
    "UTF-8 with a mark": b"\xef\xbb\xbf" + TEXT.encode(),
    **{
        f"{name} with a mark": mark + TEXT.encode(name)
        for name, mark in (
            ("utf-16-le", b"\xff\xfe"),
            ("utf-16-be", b"\xfe\xff"),
            ("utf-32-le", b"\xff\xfe\0\0"),
            ("utf-32-be", b"\0\0\xfe\xff"),
        )
    },
    **{f"{name} without a mark": TEXT.encode(name) for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")},
    "Kibana's CSV": table(",", ("@timestamp", "host.name", "message"), KIBANA, ("kafka-2",) * 3, RECORDS),
    "Splunk's CSV": table(",", ("_raw", "_time", "host", "sourcetype"), RECORDS, STAMPS, ("kafka-2",) * 3, ("k",) * 3),
    "CloudWatch's CSV": table(",", ("timestamp", "message"), tuple(one[:13] for one in NANOS), RECORDS),
    "a table of Azure": table("\t", ("TimeGenerated", "Computer", "LogEntry"), STAMPS, ("kafka-2",) * 3, RECORDS),
    "Elastic's answer": dumped(
        {
            "took": 3,
            "hits": {
                "total": {"value": 3},
                "hits": [
                    {"_index": "logs", "_source": {"@timestamp": stamp, "host": {"name": "kafka-2"}, "message": record}}
                    for stamp, record in zip(STAMPS, RECORDS, strict=True)
                ],
            },
        },
        2,
    ),
    "CloudWatch Insights": dumped(
        {
            "results": [
                [{"field": "@timestamp", "value": stamp.replace("T", " ")[:-1]}, {"field": "@message", "value": record}]
                for stamp, record in zip(STAMPS, RECORDS, strict=True)
            ],
            "status": "Complete",
        }
    ),
    "CloudWatch events": dumped(
        {
            "events": [
                {"timestamp": int(nanos[:13]), "message": record, "ingestionTime": int(nanos[:13])}
                for nanos, record in zip(NANOS, RECORDS, strict=True)
            ]
        },
        1,
    ),
    "Loki's answer": dumped(
        {
            "status": "success",
            "data": {
                "resultType": "streams",
                "result": [
                    {
                        "stream": {"app": "kafka"},
                        "values": [list(pair) for pair in zip(NANOS, RECORDS, strict=True)][::-1],
                    }
                ],
            },
        }
    ),
    "Azure's answer": dumped(
        {
            "tables": [
                {
                    "name": "PrimaryResult",
                    "columns": [{"name": "TimeGenerated"}, {"name": "LogEntry"}],
                    "rows": [list(pair) for pair in zip(STAMPS, RECORDS, strict=True)],
                }
            ]
        }
    ),
    "journald as JSON": b"".join(
        dumped({"__REALTIME_TIMESTAMP": nanos[:16], "SYSLOG_IDENTIFIER": "kafka", "MESSAGE": list(record.encode())})
        + b"\n"
        for nanos, record in zip(NANOS, RECORDS, strict=True)
    ),
    "journald's export": b"".join(map(journal_entry, RECORDS, NANOS)),
}
SUFFIXES = {"Kibana's CSV": ".csv", "Splunk's CSV": ".csv", "CloudWatch's CSV": ".csv", "a table of Azure": ".tsv"}


def judged(path: Path) -> tuple[Incident, ...]:
    scan = scan_paths([path])
    assert [one for one in scan.unread if one.is_failure] == []
    return judge_incidents(scan.events, scan.sources)


@pytest.mark.parametrize("form", PASTED)
def test_a_log_gives_the_same_result_in_every_form(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"server{SUFFIXES.get(form, '.log')}"
    file.write_bytes(PASTED[form])
    scan = scan_paths([tmp_path])
    assert {"INIT_PRODUCER_ID", "TXN_TIMEOUT_ABORT"} <= {event.category for event in scan.events}
    assert sum(event.exception is not None for event in scan.events) == 1
    assert [event.time_ms for event in scan.events if event.category == "TXN_TIMEOUT_ABORT"] == [1795168872440]
    assert all(source.unmatched_line_count <= 2 for source in scan.sources)
    (found,) = judge_incidents(scan.events, scan.sources)
    assert (found.kind, found.subject["transactional.id"]) == ("transaction_timeout", "till-9")


def test_evidence_is_the_line_of_the_file_that_was_given(tmp_path: Path) -> None:
    pretty = PASTED["Elastic's answer"].decode().splitlines()
    (line_number,) = (number for number, text in enumerate(pretty, 1) if "Completed rollback" in text)
    for form, line in (("grep -Hn", 5), ("a YAML block", 7), ("Elastic's answer", line_number), ("NULs", 5), ("CR", 5)):
        file = tmp_path / "server.log"
        file.write_bytes(PASTED[form])
        (found,) = judged(file)
        assert [place.line for place in found.evidence] == [line], form


@pytest.mark.parametrize(
    "text",
    [
        "id,name,amount,created\n1,a,3,2026-11-20T10:00:00Z\n",
        '{\n  "tables": "none"\n}\n',
        "    just some words\n    that are indented\n",
        "a.b: 3\nc.d: 4\n",
    ],
)
def test_text_that_is_not_a_log_stays_unrecognized(text: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(text)
    assert scan_paths([tmp_path]).events == ()


def test_a_timestamp_is_not_read_as_a_prefix(tmp_path: Path) -> None:
    """Dates with slashes or dots before a clock look like a path before a line number."""
    for date in ("2026/11/20 10:00:00", "20.11.2026 10:00:00", "2026-11-20 10:00:00.101"):
        (tmp_path / "app.log").write_text(f"{date} ERROR [main] a.b.Relay - cannot go on\n" * 30)
        (source,) = scan_paths([tmp_path]).sources
        assert "grep" not in source.layout
        assert "numbered" not in source.layout


JUL = "{} a.b.Relay send\n{}: org.apache.kafka.common.errors.ProducerFencedException: newer\n"


@pytest.mark.parametrize(
    ("stamp", "level", "time_ms"),
    [
        ("Mar 02, 2026 10:01:12 PM", "SEVERE", 1772488872000),
        ("März 02, 2026 10:01:12 NACHM.", "SCHWERWIEGEND", 1772488872000),
        ("mars 02, 2026 10:01:12 PM", "GRAVE", 1772488872000),
        ("3月 02, 2026 10:01:12 午後", "致命的", 1772488872000),
        ("mar. 02, 2026 10:01:12 AM", "GRAVE", 1772445672000),
        ("Dez. 31, 2025 12:00:00 AM", "SCHWERWIEGEND", 1767139200000),
    ],
)
def test_java_util_logging_speaks_the_users_language(stamp: str, level: str, time_ms: int, tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(JUL.format(stamp, level), "utf-8")
    (event,) = scan_paths([tmp_path]).events
    assert (event.time_ms, event.level, event.category) == (time_ms, "ERROR", "PRODUCER_FENCED")


def test_a_truncated_export_is_read_to_its_end_and_reported(tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_bytes(PASTED["Elastic's answer"][:-40])
    scan = scan_paths([file])
    assert "INIT_PRODUCER_ID" in {event.category for event in scan.events}
    (source,) = scan.sources
    assert "not read to its end" in source.error


def test_search_hits_may_have_a_line_each(tmp_path: Path) -> None:
    sources = [{"@timestamp": stamp, "message": one} for stamp, one in zip(STAMPS, RECORDS, strict=True)]
    hits = [{"_index": "x", "_source": source} for source in sources]
    (tmp_path / "dump.json").write_bytes(b"".join(dumped(hit) + b"\n" for hit in hits))
    (found,) = judged(tmp_path / "dump.json")
    assert found.subject["transactional.id"] == "till-9"


def test_nuls_between_lines_hide_none(tmp_path: Path) -> None:
    first, *rest = TEXT.encode().splitlines(keepends=True)
    (tmp_path / "server.log").write_bytes(first + b"\0" * 5_000 + b"".join(rest))
    (found,) = judged(tmp_path / "server.log")
    assert found.subject["transactional.id"] == "till-9"


def test_a_file_of_indented_text_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("    just words\n    and more\n")
    findings = collect_log_findings([tmp_path / "notes.txt"])
    assert [one.recognition.value for one in findings.coverage] == ["none"]


@pytest.mark.parametrize(
    "tail", ["$ kafka-acls.sh --list\nCurrent ACLs:\n(none)\n", "\nroot@box:~# df -h\n/dev/vda1 9G 2G\n"]
)
def test_commands_after_a_log_leave_its_records_alone(tail: str, tmp_path: Path) -> None:
    form = "Nov 20 10:05:00 b-2 kafka[77]: {line}"
    text = each(form).decode().replace("2026-11-20", "2019-11-20")
    (tmp_path / "session.txt").write_text(text + tail)
    scan = scan_paths([tmp_path / "session.txt"])
    assert [one.time_ms for one in scan.events if one.fields.get("transactional_id") == "till-9"] == [
        1574244000101,
        1574244072440,
    ]
