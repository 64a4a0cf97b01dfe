"""Errors that the catalog does not have: those of Kafka are incidents without a name, in any program's form."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

ERRORS = {
    "zap": (
        (
            '{"level":"error","ts":1770109202.1,"caller":"app/main.go:40","msg":"fetch failed","error":"kafka: the '
            'quux of topic bids partition 3 is odd","topic":"bids","partition":3}\n'
        ),
        ("topic-partition", "bids-3"),
        "the quux of topic bids",
    ),
    "logrus": (
        (
            'time="2026-02-03T09:00:02Z" level=error msg="unable to poll" error="kafka server: the quux is odd" '
            "topic=bids partition=3 group=bidders\n"
        ),
        ("group", "bidders"),
        "the quux is odd",
    ),
    "zerolog": (
        (
            '{"level":"error","error":"kafka: odd quux while attempting to create topic bids.v2",'
            '"time":"2026-02-03T09:00:02Z","message":"startup"}\n'
        ),
        ("topic", "bids.v2"),
        "odd quux",
    ),
    "pino": (
        (
            '{"level":50,"time":1770109202100,"pid":7,"hostname":"h","name":"bids","err":{"type":"KafkaJSProtocolError",'
            '"message":"The quux is odd","stack":"KafkaJSProtocolError: The quux is odd\\n    at x (/a/y.js:1:1)"},'
            '"msg":"send failed"}\n'
        ),
        ("application", "bids"),
        "KafkaJSProtocolError: The quux is odd",
    ),
    "serilog": (
        (
            '{"@t":"2026-02-03T09:00:02.123Z","@mt":"Consuming {Topic} failed","@l":"Error","@x":"Confluent.Kafka.'
            'ConsumeException: Broker: The quux is odd\\n   at Confluent.Kafka.Consumer.Consume()","Topic":"bids"}\n'
        ),
        ("topic", ""),
        '"Consuming bids failed", because of ConsumeException: Broker: The quux is odd',
    ),
    "dotnet": (
        (
            "2026-02-03 09:00:02.123 +00:00 [ERR] Consuming failed for group bidders\n"
            "Confluent.Kafka.ConsumeException: Broker: The quux is odd\n"
            "   at Acme.Worker.Run() in /src/Worker.cs:line 12\n"
        ),
        ("group", "bidders"),
        "The quux is odd",
    ),
    "java": (
        (
            "2026-02-03 09:00:02,123 ERROR [main] c.s.Bids - batch failed\n"
            "org.springframework.kafka.KafkaException: wrapped\n\tat a.b.C.d(C.java:1)\n"
            "Caused by: org.apache.kafka.common.errors.QuuxException: The quux of partition bids-3 is odd.\n"
        ),
        ("topic-partition", "bids-3"),
        "QuuxException",
    ),
}
LATER = {
    "zap": '{"level":"info","ts":1770110202.1,"caller":"app/main.go:40","msg":"tick"}\n',
    "logrus": 'time="2026-02-03T09:20:02Z" level=info msg="tick"\n',
    "zerolog": '{"level":"info","time":"2026-02-03T09:20:02Z","message":"tick"}\n',
    "pino": '{"level":30,"time":1770110202100,"pid":7,"hostname":"h","name":"bids","msg":"tick"}\n',
    "serilog": '{"@t":"2026-02-03T09:20:02.123Z","@mt":"tick"}\n',
    "dotnet": "2026-02-03 09:20:02.123 +00:00 [INF] tick\n",
    "java": "2026-02-03 09:20:02,123 INFO [main] c.s.Bids - tick\n",
}
FENCED = (
    "2026-02-03 09:00:03,123 ERROR [main] c.s.Bids - [Producer clientId=b, transactionalId=b-1] Transiting to fatal "
    "error state due to org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the "
    "same transactionalId\n"
)


@pytest.mark.parametrize("form", ERRORS)
def test_an_unknown_error_of_kafka_is_an_incident(form: str, tmp_path: Path) -> None:
    text, (name, value), words = ERRORS[form]
    (found,) = judge(tmp_path, {"shop.log": text + LATER[form]})
    assert (found.kind, found.severity) == ("error_outside_catalog", Severity.WARNING)
    assert found.subject.get(name, "") == value and words in found.explanation


def test_a_panic_of_a_program_in_go_is_an_incident(tmp_path: Path) -> None:
    text = "2026-02-03T09:00:02Z connecting\npanic: kafka: the quux is odd\n\ngoroutine 1 [running]:\nmain.main()\n"
    (found,) = judge(tmp_path, {"shop.log": text})
    assert (found.kind, found.severity) == ("error_outside_catalog", Severity.ERROR)
    assert '"panic: kafka: the quux is odd"' in found.explanation


@pytest.mark.parametrize(
    "error", ["payment 12 refused: card expired", "could not read row\njava.sql.SQLException: lock"]
)
def test_an_error_of_another_system_is_not_kafkas(error: str, tmp_path: Path) -> None:
    text = f"2026-02-03 09:00:02,123 ERROR [main] c.s.Bids - {error}\n"
    assert judge(tmp_path, {"shop.log": text + LATER["java"]}) == []


def test_an_unknown_error_next_to_an_incident_is_not_another_one(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"shop.log": ERRORS["java"][0] + FENCED + LATER["java"]})
    assert found.kind == "producer_fenced"


def test_layers_of_one_unknown_error_are_one_incident(tmp_path: Path) -> None:
    second = "2026-02-03 09:00:03,123 ERROR [main] c.s.Shop - the Kafka listener did not take the batch\n"
    (found,) = judge(tmp_path, {"shop.log": ERRORS["java"][0] + second + LATER["java"]})
    assert len(found.evidence) == 2


def test_an_unknown_error_that_the_program_overcomes_is_none(tmp_path: Path) -> None:
    failed = "2026-02-03T09:00:02Z ERROR async write of the Kafka feed failed: read tcp 10.1.7.2:91: i/o timeout{}\n"
    again = "2026-02-03T09:00:{:02d}Z INFO Connected to broker at kb-1.int:9092 (registered as #2)\n"
    work = "2026-02-03T09:05:00Z INFO 14 bids written\n"
    assert judge(tmp_path / "again", {"shop.log": failed.format("") + again.format(11) + work}) == []
    assert judge(tmp_path / "repeats", {"shop.log": failed.format(", will retry") + work}) == []
    (one,) = judge(tmp_path / "open", {"shop.log": failed.format("") + work})
    assert one.kind == "error_outside_catalog"
