"""Errors of producers without a transactional id, and exceptions that are those of Kafka's clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.classifier.throwable import parse_throwable
from tests.logs.judging import judge

COORDINATOR = (
    "[2026-11-20 10:00:01,504] INFO [TransactionCoordinator id=1] Initialized transactionalId lock-2 with producerId "
    "3105 and producer epoch 0 on partition __transaction_state-3 "
    "(kafka.coordinator.transaction.TransactionCoordinator)\n"
)
REFUSED = (
    "[2026-11-20 10:00:06,491] ERROR [ReplicaManager broker=1] Error processing append operation on partition levels-4 "
    "(kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer {} at "
    "offset 908 in partition levels-4: 9 (incoming seq. number), 2 (current end sequence number)\n"
)
CLIENT = (
    "2026-11-20 10:00:0{},505 INFO  [a] o.a.k.c.p.i.TransactionManager - [Producer clientId={}] ProducerId set to {} "
    "with epoch 0\n"
)
FAILED = "2026-11-20 10:00:06,495 ERROR [a] com.example.Lock - probe failed\n{}: {}\n"
DIED = """\
fail: Streamiz.Kafka.Net.Processors.StreamThread[0]
      stream-thread[barley-7e01-stream-thread-0] Encountered the following {} during processing:
      {}
         at Barley.Program.Main()
"""


@pytest.mark.parametrize("is_first", [False, True])
def test_an_error_without_a_client_is_not_given_to_another(tmp_path: Path, is_first: bool) -> None:
    inits = [CLIENT.format(1, "move, transactionalId=lock-2", 3105), CLIENT.format(2, "probe", 3106)]
    error = "org.apache.kafka.common.errors.OutOfOrderSequenceException"
    failed = FAILED.format(error, "The broker received an out of order sequence number.")
    client = "".join(reversed(inits) if is_first else inits) + failed
    found = judge(tmp_path, {"server.log": COORDINATOR + REFUSED.format(3106), "lock.log": client})
    assert found
    assert all("transactional.id" not in one.subject for one in found)


def test_the_error_of_a_single_producer_has_its_id(tmp_path: Path) -> None:
    error = "org.apache.kafka.common.errors.OutOfOrderSequenceException"
    failed = FAILED.format(error, "The broker received an out of order sequence number.")
    (found,) = judge(tmp_path, {"lock.log": CLIENT.format(1, "move, transactionalId=lock-2", 3105) + failed})
    assert found.subject["transactional.id"] == "lock-2"


@pytest.mark.parametrize(
    ("thrown", "is_outside"),
    [
        ("Confluent.Kafka.KafkaException: Local: Erroneous state", False),
        ("Confluent.Kafka.ProduceException`2[System.Byte[],System.Byte[]]: Local: Erroneous state", False),
        (
            "System.AggregateException: failed\n       ---> Confluent.Kafka.KafkaException: Local: Erroneous state",
            False,
        ),
        ("Npgsql.PostgresException: 53300: too many connections", True),
        ("System.AggregateException: failed\n       ---> Npgsql.PostgresException: 53300: too many connections", True),
    ],
)
def test_exceptions_of_clients_are_not_those_of_other_systems(tmp_path: Path, thrown: str, is_outside: bool) -> None:
    (found,) = judge(tmp_path, {"app.log": DIED.format("error", thrown)})
    assert ("not of Kafka" in found.explanation) is is_outside


def test_an_exception_of_dotnet_has_its_type_and_cause() -> None:
    found = parse_throwable(
        "A.B.ProduceException`2[System.Byte[],System.String]: x\n ---> C.D.InnerException: y\n   at A.B()"
    )
    assert found is not None
    assert found.chain == ("A.B.ProduceException", "C.D.InnerException")
