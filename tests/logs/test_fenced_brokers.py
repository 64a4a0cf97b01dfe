"""What clients report while their broker is fenced belongs to the fencing, which comes first in the headline."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

KAFKA = "[2026-09-05 10:{}] {} [{}] {}\n"
STALL = KAFKA.format(
    "56:08,931",
    "ERROR",
    "QuorumController id=1001",
    "processExpiredBrokerHeartbeat: controller event queue overloaded. Timed out heartbeat from broker 1001. "
    "(org.apache.kafka.controller.ReplicationControlManager)",
)
SILENT = KAFKA.format(
    "56:40,118",
    "INFO",
    "BrokerLifecycleManager id=1001",
    "Unable to send a heartbeat because the RPC got timed out before it could be sent. "
    "(kafka.server.BrokerLifecycleManager)",
)
FENCED = KAFKA.format(
    "56:40,553",
    "INFO",
    "QuorumController id=1001",
    "Fencing broker 1001 because its session has timed out. (org.apache.kafka.controller.ReplicationControlManager)",
)
BACK = KAFKA.format(
    "58:02,771",
    "INFO",
    "QuorumController id=1001",
    "The request from broker 1001 to unfence has been granted because it has caught up with the offset of its register "
    "broker record 7. (org.apache.kafka.controller.BrokerHeartbeatManager)",
)
AGAIN = STALL.replace("10:56:08", "11:04:44")
SENT = (
    "2026-09-05T10:56:31.020Z ERROR relay_kafka::producer: failed to produce message: Message production error: "
    "MessageTimedOut (Local: Message timed out)\n"
)
EVICTED = (
    "%4|1788605818.310|SESSTMOUT|rdkafka#consumer-1| [thrd:main]: Consumer group session timed out (in join-state "
    "steady) after 45012 ms without a successful response from the group coordinator (broker {}, last error was "
    "Success): revoking assignment and rejoining group\n"
)


@pytest.mark.parametrize(
    ("stall", "cause"), [(STALL, "controller-overloaded"), ("", "running-broker-missed-heartbeats")]
)
def test_clients_of_a_fenced_broker_are_its_effects(stall: str, cause: str, tmp_path: Path) -> None:
    files = {"kafka.log": stall + SILENT + FENCED + BACK, "relay.log": SENT, "snuba.log": EVICTED.format(1001)}
    (one,) = judge(tmp_path, files if stall else {**files, "relay.log": SENT.replace("56:31", "56:50")})
    assert (one.kind, one.root_cause, one.severity) == ("broker_fenced", cause, Severity.ERROR)
    assert one.subject["broker"] == "1001"
    assert "Effect (send_timeout)" in one.explanation and "Effect (member_evicted)" in one.explanation
    assert "does not show why" not in one.explanation
    assert one.explanation.split(". ")[0].endswith("timed out in it") is bool(stall)


def test_a_client_of_another_broker_has_its_own_fault(tmp_path: Path) -> None:
    files = {"kafka.log": STALL + SILENT + FENCED + BACK, "snuba.log": EVICTED.format(7)}
    assert {one.kind for one in judge(tmp_path, files)} == {"broker_fenced", "member_evicted"}


def test_a_later_timeout_has_its_own_fault(tmp_path: Path) -> None:
    late = SENT.replace("10:56:31", "12:30:31")
    found = judge(tmp_path, {"kafka.log": STALL + SILENT + FENCED + BACK, "relay.log": late})
    assert {one.kind for one in found} == {"broker_fenced", "send_timeout"}


def test_an_overload_that_returns_is_reported(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"kafka.log": STALL + SILENT + FENCED + BACK + AGAIN})
    assert "overloaded again at 2026-09-05T11:04:44.931Z" in one.explanation
