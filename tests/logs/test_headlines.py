"""The headline of a report of logs: the incident that it is about, and its punctuation."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.render.logs.floods import worst_first
from eosctl.render.logs.verdict import headline
from eosctl.services.mine_logs import MineRequest, mine_logs

UNSURE = (
    "2025-02-02T09:00:01.000Z ERROR [rdkafka#producer-1] commit_transaction timed out: _TIMED_OUT: Transactional API "
    "operation (commit_transaction) timed out\n"
)
SURE = "2025-02-02T09:40:01.000Z ERROR stockroom: cannot produce: Local: Fatal error\n"
REFUSED = (
    "%3|1739000400.100|FAIL|rdkafka#producer-1| [thrd:sasl_ssl://bus.example.net:9093/bootstrap]: "
    "sasl_ssl://bus.example.net:9093/bootstrap: SASL authentication error: The request was refused. Ask for a rule. "
    "(after {}ms in state AUTH_REQ)\n"
)
OVERCOME = (
    '{{"level":"ERROR","timestamp":"2025-04-07T09:00:01.000Z","logger":"kafkajs","message":"[Connection] Response '
    'Heartbeat(key: 12, version: 3){}","groupId":"carts","error":"The group is rebalancing, so a rejoin is needed"}}\n'
)
UNREAD = "".join(f"row {number} of a table without a time\n" for number in range(12))


def said(tmp_path: Path, **files: str) -> str:
    for name, text in files.items():
        (tmp_path / f"{name}.log").write_text(text)
    return headline(mine_logs(MineRequest((tmp_path,))).findings)


def test_the_headline_is_about_the_first_incident(tmp_path: Path) -> None:
    (tmp_path / "stockroom.log").write_text(UNSURE + SURE)
    findings = mine_logs(MineRequest((tmp_path,))).findings
    first, second = worst_first(findings.incidents)
    assert (first.severity, first.confidence < second.confidence) == (second.severity, True)
    assert first.explanation.partition(". ")[0].removesuffix(".") in headline(findings)


def test_a_reason_in_brackets_does_not_end_the_headline(tmp_path: Path) -> None:
    text = said(tmp_path, sender="".join(REFUSED.format(number) for number in (4, 5, 6)))
    assert "(The request was refused. Ask for a rule), so brokers refuse" in text
    assert text.count("(") == text.count(")")


@pytest.mark.parametrize(("more", "end"), [("", "is needed."), (" from the broker of rack seven" * 8, " …")])
def test_a_quoted_record_ends_as_a_sentence(more: str, end: str, tmp_path: Path) -> None:
    assert f"{end} Log records were recognized in only" in said(tmp_path, scanner=OVERCOME.format(more) + UNREAD)


JUL = (
    "M\u00e4r 07, 2025 8:15:0{0} AM org.apache.kafka.clients.Metadata update\n"
    "INFORMATION: [Consumer clientId=consumer-shelves-1, groupId=shelves] Cluster ID: 5L6g3nShT-eMCtK--X86s{0}\n"
)
STARTED = "".join(JUL.format(number) for number in range(9))
FRAMEWORK = 'time=2025-03-07T08:15:30.000+01:00 level=INFO module=shelves msg="ready" id=4\n'
FRAMES = (
    "at Confluent.Kafka.Consumer`2.Consume(CancellationToken cancellationToken)",
    "at shelves.Reader.<Run>d__4.MoveNext()",
    "at org.apache.kafka.clients.consumer.KafkaConsumer.poll(KafkaConsumer.java:1210)",
    "Caused by: java.net.SocketException: Broken pipe",
)
FAILED = "2025-03-07 08:15:30,{:03d} WARN shelves.Reader poll failed, again in 5 s: DisconnectException\n"


def test_a_message_below_its_header_is_recognized(tmp_path: Path) -> None:
    assert "recognized in only" not in said(tmp_path, shelves="Loading modules\nRunning\n\n" + STARTED + FRAMEWORK)


@pytest.mark.parametrize("sign", ["", "| ", "> ", "|   "])
def test_lines_of_a_trace_behind_a_sign_are_recognized(sign: str, tmp_path: Path) -> None:
    trace = "".join(f"{sign}{frame}\n" for frame in FRAMES)
    text = "".join(FAILED.format(number) + trace for number in range(6))
    assert "recognized in only" not in said(tmp_path, shelves=text)


def test_lines_between_such_records_are_not_recognized(tmp_path: Path) -> None:
    rows = "".join(f"shelf {number};full;{number * 7}\nshelf {number};empty;0\n" for number in range(12))
    assert "recognized in only" in said(tmp_path, shelves=STARTED + rows + FRAMEWORK)


@pytest.mark.parametrize(
    ("ordinary", "expected"),
    [
        (8, "No incident found."),
        (30, "No incident found, with only 1 of 31 records in the log catalog."),
    ],
)
def test_a_log_of_few_known_records_is_described_so(tmp_path: Path, ordinary: int, expected: str) -> None:
    known = "[2026-11-20 10:00:00,000] INFO Kafka version: 3.9.0 (org.apache.kafka.common.utils.AppInfoParser)\n"
    other = "[2026-11-20 10:00:01,000] WARN The shop has no oranges (com.acme.Shop)\n"
    assert said(tmp_path, shop=known + other * ordinary) == expected


def test_a_name_that_old_clients_drop_is_named(tmp_path: Path) -> None:
    dropped = (
        "[2026-11-20 10:00:00,000] WARN Removing server kafka-7:9092 from bootstrap.servers as DNS resolution failed "
        "for kafka-7 (org.apache.kafka.clients.ClientUtils)\n"
    )
    assert "cannot resolve kafka-7" in said(tmp_path, shop=dropped)
