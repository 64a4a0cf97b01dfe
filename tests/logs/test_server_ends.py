"""The end of a broker's process is a part of the fault that it ends because of, with the controllers' own answer."""

from __future__ import annotations

from pathlib import Path

from eosctl.model.incident import Incident
from tests.logs.judging import judge

REFUSED = (
    "[2026-03-20 13:40:{},911] ERROR [BrokerLifecycleManager id=2] Unable to register broker 2 because the controller "
    "returned error DUPLICATE_BROKER_REGISTRATION (kafka.server.BrokerLifecycleManager)\n"
)
GAVE_UP = (
    "[2026-03-20 13:45:10,610] ERROR [BrokerLifecycleManager id=2] Shutting down because we were unable to register "
    "with the controller quorum. (kafka.server.BrokerLifecycleManager)\n"
)
WAITED = (
    "[2026-03-20 13:45:10,640] ERROR [BrokerServer id={}] Received a fatal error while waiting for the controller to "
    "acknowledge that we are caught up (kafka.server.BrokerServer)\n"
)
OTHER_CLUSTER = (
    "[2026-07-03 09:30:17,702] ERROR Fatal error during KafkaServer startup. Prepare to shutdown "
    "(kafka.server.KafkaServer)\nkafka.common.InconsistentClusterIdException: The Cluster ID 8tqJ4f doesn't match "
    "stored clusterId Some(kYc1vX) in meta.properties.\n"
)
EXITING = "[2026-07-03 09:30:17,926] ERROR Exiting Kafka. (kafka.Kafka$)\n"


def found(tmp_path: Path, text: str) -> list[Incident]:
    return list(judge(tmp_path, {"server.log": text}))


def test_the_answer_of_controllers_is_the_cause(tmp_path: Path) -> None:
    (one,) = found(tmp_path, REFUSED.format(10) + REFUSED.format(11) + GAVE_UP + WAITED.format(2))
    assert (one.kind, one.root_cause) == ("server_ended_by_a_fault", "registration-refused")
    assert "DUPLICATE_BROKER_REGISTRATION" in one.explanation
    assert len(one.evidence) == 4
    assert one.t_end_ms - one.t_start_ms == 299_729


def test_without_an_answer_they_were_not_reached(tmp_path: Path) -> None:
    (one,) = found(tmp_path, GAVE_UP + WAITED.format(2))
    assert one.root_cause == "controllers-not-reached"


def test_the_end_of_another_broker_is_its_own_fault(tmp_path: Path) -> None:
    assert len(found(tmp_path, GAVE_UP + WAITED.format(3))) == 2


def test_an_exit_belongs_to_the_start_that_failed(tmp_path: Path) -> None:
    (one,) = found(tmp_path, OTHER_CLUSTER + EXITING)
    assert (one.root_cause, len(one.evidence)) == ("data-of-another-cluster", 2)


LEVELS = (
    "[2026-03-20 13:40:{},900] INFO [QuorumController id=90] registerBroker: event failed with "
    "UnsupportedVersionException in 250 microseconds. Exception message: Unable to register because the broker does "
    "not support finalized version 27 of metadata.version. The broker wants a version between 3 and 19, inclusive. "
    "(org.apache.kafka.controller.QuorumController)\n"
)
UNSUPPORTED = REFUSED.replace("DUPLICATE_BROKER_REGISTRATION", "UNSUPPORTED_VERSION")
CANDIDATE = (
    "2026-03-20 13:44:{} INFO  [kafka-7-raft-io-thread] KafkaRaftClient:3136 - [RaftManager id=7] Election timed out "
    "before receiving sufficient vote responses to become candidate. Current epoch election state: EpochElection(a)\n"
    "2026-03-20 13:44:{} WARN  [kafka-7-raft-outbound-request-thread] NetworkClient:870 - [RaftManager id=7] "
    "Connection to node 8 (ctl-8/10.9.0.8:9090) could not be established. Node may not be available.\n"
)


def test_a_release_below_the_finalized_level(tmp_path: Path) -> None:
    answers = "".join(UNSUPPORTED.format(second) for second in range(10, 58))
    controller = "".join(LEVELS.format(second) for second in range(10, 58))
    (one,) = judge(tmp_path, {"server.log": answers + GAVE_UP, "controller.log": controller})
    assert (one.kind, one.root_cause) == ("server_ended_by_a_fault", "registration-refused")
    assert "finalized level 27 of metadata.version, and the broker supports only levels 3 to 19" in one.explanation
    assert "They answered so 48 times" in one.explanation


def test_refusals_that_only_the_controller_logs(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"controller.log": "".join(map(LEVELS.format, range(10, 40)))})
    assert (one.kind, one.root_cause) == ("broker_without_controller", "registration-refused")
    assert "levels 3 to 19" in one.explanation


def test_a_broker_that_a_lost_quorum_did_not_admit(tmp_path: Path) -> None:
    lost = "".join(CANDIDATE.format(second, second) for second in ("10", "12", "14", "16"))
    (one,) = judge(tmp_path, {"controller.log": lost, "server.log": GAVE_UP})
    assert one.kind == "controller_quorum_lost"
    assert "broker 2 waited for the controller and did not start" in one.explanation


def test_a_broker_that_starts_too_soon_is_admitted_later(tmp_path: Path) -> None:
    moment = REFUSED.format(10) + REFUSED.format(12)
    later = "[2026-03-20 13:50:00,000] INFO [BrokerServer id=2] Transition from STARTING to STARTED (kafka.server.X)\n"
    assert found(tmp_path, moment + later) == []
