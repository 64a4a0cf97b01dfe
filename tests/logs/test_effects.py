"""Effects of an incident: they are a part of it, and only the cause is an incident."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from eosctl.render.logs.verdict import headline
from eosctl.services.log_findings import judge_scan
from tests.logs.judging import judge

DENIED = (
    "[2026-09-12 10:15:21,995] ERROR [mirror|task-3] [Producer clientId=connector-producer-mirror-3, "
    "transactionalId=mm2-mirror-3] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.TransactionalIdAuthorizationException: Transactional Id authorization failed. "
    "(org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)
KILLED = (
    "[2026-09-12 10:15:{second},993] ERROR [{task}] ExactlyOnceWorkerSourceTask{{id={connector}-{number}}} Task threw "
    "an uncaught and unrecoverable exception. Task is being killed and will not recover until manually restarted "
    "(org.apache.kafka.connect.runtime.WorkerTask:234)\n"
)
EXPIRED = (
    "2026-05-15 06:58:12.530 ERROR 1 --- [ad | producer-2] o.a.k.clients.producer.internals.Sender  : [Producer "
    "clientId=producer-2, transactionalId=orders-tx-0] Aborting producer batches due to fatal error\n\n"
    "org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a producer id which is "
    "not currently assigned to its transactional id.\n\n"
)
REFUSED = (
    "2026-05-15 {clock} ERROR 1 --- [nio-8080-exec-9] o.a.c.c.C.[.[.[/].[dispatcherServlet]    : Servlet.service() "
    "for servlet [dispatcherServlet] threw exception [Request processing failed; nested exception is "
    "org.springframework.transaction.CannotCreateTransactionException: Could not create Kafka transaction; nested "
    "exception is org.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an "
    "error state] with root cause\n"
)


def found(folder: Path, text: str) -> list[Incident]:
    return judge(folder, {"app.log": text})


def killed(task: str = "mirror|task-3", number: int = 3, second: int = 22) -> str:
    return KILLED.format(task=task, connector=task.partition("|")[0], number=number, second=second)


def test_a_killed_task_is_an_effect_of_its_denial(tmp_path: Path) -> None:
    (one,) = found(tmp_path, DENIED + killed())
    assert one.kind == "transactional_id_authorization"
    assert one.explanation.endswith("Effect: task mirror-3 has failed and does nothing until it is restarted.")
    assert len(one.evidence) == 2


@pytest.mark.parametrize("other", [killed("jdbc|task-0", 0), killed(second=59)])
def test_a_later_or_other_task_is_not_an_effect(other: str, tmp_path: Path) -> None:
    kinds = {one.kind for one in found(tmp_path, DENIED + other)}
    assert "connect_task_failed" in kinds


@pytest.mark.parametrize("clock", ["06:58:40.000", "07:03:40.098"])
def test_calls_in_the_error_state_are_effects(clock: str, tmp_path: Path) -> None:
    (one,) = found(tmp_path, EXPIRED + REFUSED.format(clock=clock))
    assert (one.kind, len(one.evidence)) == ("transactional_id_expired", 2)


def test_a_call_without_its_cause_stays_an_incident(tmp_path: Path) -> None:
    (one,) = found(tmp_path, REFUSED.format(clock="06:58:40.000"))
    assert one.kind == "transaction_rolled_back_by_framework"


def test_a_dead_streams_client_makes_its_cause_critical(tmp_path: Path) -> None:
    text = (
        "2026-05-02 09:14:11,201 ERROR [t] o.a.k.s.p.internals.StreamThread - stream-thread [r-1-StreamThread-1] "
        "Encountered the following exception during processing and the thread is going to shut down: \n"
        "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [r-repartition]\n"
        "2026-05-02 09:14:11,231 ERROR [t] org.apache.kafka.streams.KafkaStreams - stream-client [r-1] All stream "
        "threads have died. The instance will be in error state and should be closed.\n"
    )
    (one,) = found(tmp_path, text)
    assert (one.kind, one.severity) == ("topic_authorization", Severity.CRITICAL)


def test_records_outside_the_catalog_are_not_an_all_clear(tmp_path: Path) -> None:
    path = tmp_path / "operator.log"
    path.write_text(
        "2026-10-16 02:12:00 INFO  KafkaRoller:327 - Reconciliation #7(watch) Kafka(shop/prod): ready\n" * 3
    )
    findings = judge_scan(scan_paths([path]))
    assert headline(findings).startswith("None of 3 records is in the log catalog")
