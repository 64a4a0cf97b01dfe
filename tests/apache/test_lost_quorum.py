"""Two of three combined nodes are killed: the third answers everything but what the controller would have to answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.checks.operations.quorum_of_two import quorum_of_two
from eosctl.checks.operations.replicas_out_of_sync import replicas_out_of_sync
from eosctl.checks.topic.partition_without_leader import partition_without_leader
from eosctl.lab.apache.nodes import ApacheNodes
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")
#: Checks of frozen evidence, or of what only the controller knows.
UNPROVEN = (partition_without_leader.id, replicas_out_of_sync.id, quorum_of_two.id)


def test_a_lost_majority_is_critical(
    tmp_path: Path, apache_running: Callable[..., AbstractContextManager[ApacheNodes]]
) -> None:
    with apache_running("4.3.1", tmp_path / "kafka", node_count=3) as engine:
        command = ("check", "run", "OPS", "TOP", "-b", engine.bootstrap, "-o", "json", "--exit-zero")
        before = {check["id"]: check["status"] for check in eosctl(*command).json["checks"]}
        for broker in engine.brokers()[1:]:
            asyncio.run(engine.kill(broker.broker_id))
        # A controller knows that it has lost its voters once they have missed fetches.
        for _ in range(300):
            after = {check["id"]: check["status"] for check in eosctl(*command).json["checks"]}
            if after["EOS-OPS-010"] != "passed":
                break
    assert {before[check_id] for check_id in ("EOS-OPS-010", *UNPROVEN)} <= {"passed", "failed"}
    assert before["EOS-OPS-010"] == "passed"
    assert after["EOS-OPS-010"] == "failed"
    assert {after[check_id] for check_id in UNPROVEN} == {"skipped"}
