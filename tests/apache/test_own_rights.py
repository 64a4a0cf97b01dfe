"""On a real authorizer, the ACLs of `check acl doctor` give a complete run, and one less is named with exit code 4."""

from __future__ import annotations

from pathlib import Path

from eosctl.errors import ExitCode
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from tests.apache.test_authorization import LOGIN, PASSWORDS, guarded_broker
from tests.commands.conftest import eosctl, own_home
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
