"""A fault and its report by the other side, which does not know the client's names, are one incident."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

REASON = "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512"
REFUSED = (
    "[2026-05-08 {},220] INFO [SocketServer listenerType=ZK_BROKER, nodeId=1] Failed authentication with /10.8.0.44 "
    f"({REASON}) (org.apache.kafka.common.network.Selector)\n"
)
FAILED = (
    "2026-05-08 {},231 ERROR [main] org.apache.kafka.clients.NetworkClient - [Producer clientId={}] Connection to node "
    f"-1 (kb-1/10.8.0.21:9093) failed authentication due to: {REASON}\n"
)
NO_ID = "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId\n"
OF_TASK = (
    "2026-09-05 02:30:00,390 INFO  org.apache.kafka.clients.producer.KafkaProducer [] - [Producer "
    "clientId=producer-silo-0-8, transactionalId=silo-0-8] Instantiated a transactional producer.\n"
    "2026-09-05 02:31:00,400 WARN  org.apache.flink.runtime.taskmanager.Task [] - silo: Writer (1/1)#0 switched from "
    f"RUNNING to FAILED with failure cause:\n{NO_ID}"
)
OF_JOB = (
    "2026-09-05 02:31:{},460 INFO  org.apache.flink.runtime.executiongraph.ExecutionGraph [] - silo: Writer (1/1) "
    f"switched from RUNNING to FAILED on tm-1.\n{NO_ID}"
)


def test_a_refused_login_is_one_fault_of_both_sides(tmp_path: Path) -> None:
    times = ("06:00:11", "08:30:11")
    files = {
        "kb-1.log": "".join(map(REFUSED.format, times)),
        "reports.log": "".join(FAILED.format(at, "reports") for at in times),
    }
    (one,) = judge(tmp_path, files)
    assert (one.kind, one.subject["client.id"]) == ("authentication_failed", "reports")
    assert {Path(place.file).name for place in one.evidence} == set(files)


def test_a_login_that_one_of_two_clients_failed_stays_apart(tmp_path: Path) -> None:
    clients = {f"{name}.log": FAILED.format("06:00:11", name) for name in ("reports", "exports")}
    found = judge(tmp_path, {"kb-1.log": REFUSED.format("06:00:11"), **clients})
    assert len(found) == 3


def test_a_job_reports_the_fault_of_its_task(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"taskmanager.log": OF_TASK, "jobmanager.log": OF_JOB.format("00")})
    assert one.subject["transactional.id"] == "silo-0-8"
    assert len({place.file for place in one.evidence}) == 2


def test_a_later_fault_of_a_job_is_another_one(tmp_path: Path) -> None:
    assert len(judge(tmp_path, {"taskmanager.log": OF_TASK, "jobmanager.log": OF_JOB.format("50")})) == 2
