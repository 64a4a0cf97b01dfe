"""On a real authorizer, the ACLs of `check acl doctor` give a complete run, and one less is named with exit code 4."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import ExitCode
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from tests.apache.test_authorization import LOGIN, PASSWORDS, guarded_broker
from tests.commands.conftest import eosctl, own_home
from tests.sandbox.security.command_rights import commands, is_complete, rules_of, run_command
from tests.sandbox.security.own_rights import RULES, SETTINGS, grant, names_right, run_doctor, use_everything

__all__ = ["own_home"]


def client_settings(folder: Path, user: str) -> Path:
    """Write the client settings of a user."""
    path = folder / f"{user}.properties"
    path.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={LOGIN} required username="{user}" password="{PASSWORDS[user]}";\n',
        "utf-8",
    )
    return path


@pytest.mark.parametrize("name", ["txn hanging", "group lag"])
def test_the_rights_of_a_command_are_exact(name: str, tmp_path: Path, own_home: Path) -> None:
    admin, alice = (client_settings(tmp_path, user) for user in ("admin", "alice"))
    (leaf,) = (one for one in commands() if one.name == name)
    rules = rules_of(leaf)
    with guarded_broker(tmp_path / "kafka", PASSWORDS, SETTINGS) as broker:
        address = broker.with_login
        run(lambda: use_everything(Connection(address, admin)))
        for left_out in rules:
            grant(address, PASSWORDS["admin"], [rule for rule in rules if rule is not left_out])
            done = run_command(leaf, ("-b", address, "--command-config", alice), tmp_path)
            assert not is_complete(done), (left_out, done.out, done.err)
        grant(address, PASSWORDS["admin"], rules)
        done = run_command(leaf, ("-b", address, "--command-config", alice), tmp_path)
        assert is_complete(done), done.out + done.err


def test_the_rights_of_doctor_are_sufficient_and_necessary(tmp_path: Path, own_home: Path) -> None:
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
