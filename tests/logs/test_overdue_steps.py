"""A producer whose own work took longer than its transaction timeout, with its client's log alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from tests.logs.judging import judge

CLIENT = "[Producer clientId=pay-7, transactionalId=pay-7]"
LINE = "2026-03-01 {} {} [{}] {} - {}\n"
CONFIG = (
    LINE.format("10:00:00.000", "INFO", "main", "o.a.k.clients.producer.ProducerConfig", "ProducerConfig values: ")
    + "\tclient.id = pay-7\n\ttransaction.timeout.ms = {}\n\ttransactional.id = pay-7\n\n"
)
FACTORY = "o.s.k.core.DefaultKafkaProducerFactory"
MANAGER = "o.a.k.c.p.internals.TransactionManager"
SPRING = "CloseSafeProducer [delegate=org.apache.kafka.clients.producer.KafkaProducer@3f1a9c] beginTransaction()"
FENCED = (
    f"{CLIENT} Transiting to fatal error state due to org.apache.kafka.common.errors.ProducerFencedException: "
    "There is a newer producer with the same transactionalId which fences the current one."
)
AGAIN = f"{CLIENT} ProducerId set to 77 with epoch 5"


def read(folder: Path, timeout_ms: int, *lines: str) -> list[Incident]:
    """Judge the log of a producer that was fenced at 10:02:00, after some lines."""
    first = LINE.format("10:00:00.100", "INFO", "net", MANAGER, f"{CLIENT} ProducerId set to 77 with epoch 3")
    refused = LINE.format("10:02:00.000", "INFO", "net", MANAGER, FENCED)
    renewed = LINE.format("10:02:09.000", "INFO", "net", MANAGER, AGAIN)
    return judge(folder, {"pay.log": "".join((CONFIG.format(timeout_ms), first, *lines, refused, renewed))})


@pytest.mark.parametrize("begin", [SPRING, "Created Kafka transaction on producer [CloseSafeProducer [delegate=x]]"])
def test_a_long_transaction_of_spring_timed_out(begin: str, tmp_path: Path) -> None:
    (found,) = read(tmp_path, 60_000, LINE.format("10:00:30.000", "DEBUG", "web-1", FACTORY, begin))
    assert (found.kind, found.root_cause) == ("transaction_timeout", "transaction-longer-than-its-timeout")
    assert "had been open for 1 min 30 s" in found.explanation
    assert "A new producer was initialized at 2026-03-01T10:02:09.000Z" in found.explanation


def test_a_short_transaction_did_not_time_out(tmp_path: Path) -> None:
    (found,) = read(tmp_path, 60_000, LINE.format("10:01:58.000", "DEBUG", "web-1", FACTORY, SPRING))
    assert found.root_cause == "duplicate-transactional-id"
    assert "A new producer was initialized at 2026-03-01T10:02:09.000Z" in found.explanation


@pytest.mark.parametrize(
    "words",
    [
        *("call to ledger took 75300 ms", "batch completed in 75.3 s", "export took 2 min"),
        *("account 7: lock granted after 75300 ms", "the audit blocked the calling thread for 75300 ms"),
    ],
)
def test_a_step_longer_than_the_timeout_is_quoted(words: str, tmp_path: Path) -> None:
    (found,) = read(tmp_path, 60_000, LINE.format("10:01:59.800", "WARN", "web-1", "c.e.Ledger", words))
    assert found.kind == "transaction_timeout"
    assert "at least" in found.explanation
    assert f'"{words}"' in found.explanation


@pytest.mark.parametrize(
    ("timeout_ms", "at"), [(600_000, "10:01:59.800"), (60_000, "10:01:20.000")], ids=["within", "earlier"]
)
def test_a_step_that_explains_nothing(timeout_ms: int, at: str, tmp_path: Path) -> None:
    (found,) = read(tmp_path, timeout_ms, LINE.format(at, "WARN", "web-1", "c.e.Ledger", "call took 75300 ms"))
    assert found.root_cause == "duplicate-transactional-id"
