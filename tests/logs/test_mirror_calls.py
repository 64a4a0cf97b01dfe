"""Calls of MirrorMaker 2 that take longer than their timeout, and tasks that a Connect worker cannot configure."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

CALL = (
    "[2024-11-19 10:21:18,903] ERROR [Mirror{0}Connector|worker] Scheduler for Mirror{0}Connector: "
    "west->east|Mirror{0}Connector timed out running task: {1} (org.apache.kafka.connect.mirror.Scheduler:67)\n"
)
TASKS = (
    "[2024-11-19 10:{},941] ERROR [Worker clientId=connect-1, groupId=mirrors] Failed to reconfigure connector's tasks "
    "({}), retrying after backoff. (org.apache.kafka.connect.runtime.distributed.DistributedHerder:2195)\n{}\n"
)
GROUPS = "org.apache.kafka.connect.errors.RetriableException: Timeout while loading consumer groups."
TABLES = "org.apache.kafka.connect.errors.ConnectException: Could not list the tables of the database"
STARTED = (
    "[2024-11-19 10:21:{},344] INFO [Mirror{}Connector|worker] Started Mirror{}Connector with 212 of them. "
    "(org.apache.kafka.connect.mirror.MirrorConnector:181)\n"
)
CHECKPOINTS = CALL.format("Checkpoint", "loading initial consumer groups")


def test_a_call_and_its_effect_on_tasks_are_one_incident(tmp_path: Path) -> None:
    again = "".join(
        TASKS.format(at, "MirrorCheckpointConnector", GROUPS) for at in ("21:18", "21:19", "22:20", "23:20")
    )
    (one,) = judge(tmp_path, {"mm2.log": CHECKPOINTS + again})
    assert (one.kind, one.severity) == ("mirror_call_timeout", Severity.ERROR)
    assert one.subject["connector"] == "MirrorCheckpointConnector" and one.subject["group"] == "mirrors"
    assert "cannot configure the connector's tasks" in one.explanation and "admin.timeout.ms" in one.next_step
    assert len(one.evidence) == 5 and one.t_end_ms - one.t_start_ms > 120_000


def test_a_single_call_that_takes_too_long_is_a_warning(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"mm2.log": CALL.format("Source", "syncing topic ACLs")})
    assert (one.kind, one.severity) == ("mirror_call_timeout", Severity.WARNING)


@pytest.mark.parametrize(("name", "is_back"), [("Checkpoint", True), ("Source", False)])
def test_only_the_connector_itself_shows_its_return(name: str, is_back: bool, tmp_path: Path) -> None:
    log = CHECKPOINTS + TASKS.format("21:18", "MirrorCheckpointConnector", GROUPS) + STARTED.format(43, name, name)
    (one,) = judge(tmp_path, {"mm2.log": log})
    assert ("continued its work" in one.explanation) == is_back


def test_tasks_that_are_never_configured_are_an_incident(tmp_path: Path) -> None:
    log = "".join(TASKS.format(at, "erp-source", TABLES) for at in ("21:18", "21:19", "22:20", "23:20"))
    (one,) = judge(tmp_path, {"connect.log": log})
    assert (one.kind, one.subject["connector"]) == ("connector_tasks_not_configured", "erp-source")
    assert "Could not list the tables" in one.explanation and "Effect:" not in one.explanation


def test_two_attempts_in_a_moment_are_not_an_incident(tmp_path: Path) -> None:
    log = "".join(TASKS.format(at, "erp-source", TABLES) for at in ("21:18", "21:19"))
    later = "[2024-11-19 10:51:18,903] INFO [erp-source|task-0] Polling (com.erp.Task)\n"
    assert judge(tmp_path, {"connect.log": log + later}) == []
