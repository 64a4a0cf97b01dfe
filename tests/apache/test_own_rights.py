"""On a real authorizer, the ACLs of `check acl doctor` give a complete run, and one less is named with exit code 4."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Final

import pytest

from eosctl.errors import ExitCode
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from tests.apache.test_authorization import LOGIN, PASSWORDS, guarded_broker
from tests.commands.conftest import eosctl, run_scenario
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.sandbox.security.own_rights import RULES, SETTINGS, grant, names_right, run_doctor, use_everything
from tests.sandbox.security.rights_proof import is_complete

pytestmark = pytest.mark.usefixtures("own_home")

#: The last release in which only brokers may write markers, and the first ones since KIP-1037.
MARKERS: Final = {"3.7.2": "ClusterAction", "3.8.1": "Alter", "4.3.1": "Alter"}


def client_settings(folder: Path, user: str) -> Path:
    """Write the client settings of a user."""
    path = folder / f"{user}.properties"
    path.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={LOGIN} required username="{user}" password="{PASSWORDS[user]}";\n',
        "utf-8",
    )
    return path


def test_the_rights_of_doctor_are_sufficient_and_necessary(tmp_path: Path) -> None:
    admin, alice = (client_settings(tmp_path, user) for user in ("admin", "alice"))
    with guarded_broker(tmp_path / "kafka", PASSWORDS, SETTINGS) as broker:
        address = broker.with_login
        run(lambda: use_everything(Connection(address, admin)))
        grant(address, PASSWORDS["admin"], RULES)
        complete = run_doctor(address, alice, "-o", "json")
        assert complete.code in (ExitCode.DONE, ExitCode.FINDINGS), complete.err
        assert complete.json["counts"]["skipped"] == 0
        assert complete.json["evidence"]["gaps"] == []
        for left_out in RULES:
            grant(address, PASSWORDS["admin"], [rule for rule in RULES if rule is not left_out])
            done = run_doctor(address, alice)
            assert done.code is ExitCode.INCOMPLETE, (left_out, done.out)
            assert names_right(done, left_out), (left_out, done.out + done.err)
    # What the broker and its controller wrote about these denials is not an incident of the cluster.
    report = eosctl("logs", "report", tmp_path / "kafka" / "node" / "logs", "-o", "json")
    (found,) = report.json["incidents"]
    assert (found["kind"], found["severity"]) == ("observation_denied", "info")
    assert found["subject"]["principal"] == "User:alice"


@pytest.mark.long
@pytest.mark.parametrize("version", MARKERS)
def test_markers_need_the_right_of_their_release(version: str, tmp_path: Path) -> None:
    alice = client_settings(tmp_path, "alice")
    off = SETTINGS | {"transaction.partition.verification.enable": "false"}
    topic = f"orders-{uuid.uuid4().hex[:8]}"
    with guarded_broker(tmp_path / "kafka", PASSWORDS, off, version) as broker:
        found = run_scenario(broker.open_to_all, lambda stage: run_hanging(stage, topic=topic, patience_ms=10_000))
        planned = eosctl(
            "check", "acl", "txn-abort", "-b", broker.open_to_all, "--principal", "User:alice", "-o", "json"
        )
        rules = planned.json["items"]
        (writes,) = (rule for rule in rules if rule["resource_type"] == "Cluster")
        assert writes["operation"] == MARKERS[version]
        target = ("--topic", topic, "--partition", str(found.partition.partition), "--yes")
        other = writes | {"operation": "Describe" if writes["operation"] == "Alter" else "Alter"}
        sets = [[rule for rule in rules if rule is not left_out] for left_out in rules]
        for fewer in (*sets, [other if rule is writes else rule for rule in rules]):
            grant(broker.with_login, PASSWORDS["admin"], fewer)
            done = eosctl("txn", "abort", *target, "-b", broker.with_login, "--command-config", alice)
            assert not is_complete(done), (fewer, done.out, done.err)
        grant(broker.with_login, PASSWORDS["admin"], rules)
        done = eosctl("txn", "abort", *target, "-b", broker.with_login, "--command-config", alice)
        assert is_complete(done), done.out + done.err
