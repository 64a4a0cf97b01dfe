"""Delegation tokens of a sandbox with Kafka's own tool, and a login of a Java client with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.testing import SandboxThread
from tests.apache.conftest import KafkaTool
from tests.apache.test_authorization import guarded_broker
from tests.sandbox.security.token_conversation import SETTINGS, USERS, Conversation

TOOL = "org.apache.kafka.tools.DelegationTokenCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
RECORDED = Path(__file__).parents[1] / "fixtures" / "sandbox"
SCRAM = ("scram-sha-256", "scram-sha-512")
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule"


def test_java_clients_log_in_with_a_token(kafka_tool: KafkaTool, tmp_path: Path) -> None:
    settings = {"delegation.token.secret.key": "a-secret"}
    with SandboxThread(sasl=["SCRAM-SHA-512"], users=["admin", "alice"], config=settings, fast=False) as sandbox:
        own = tmp_path / "alice.properties"
        own.write_text(Path(sandbox.client_properties("alice")).read_text())
        access = ("--bootstrap-server", sandbox.bootstrap, "--command-config", str(own))
        create = ["--create", "--max-life-time-period", "-1", "--renewer-principal", "User:admin"]
        created = kafka_tool(TOOL, *access, *create)
        assert created.exit_code == 0, created.stdout + created.stderr
        row = next(line for line in created.stdout.splitlines() if "User:alice" in line)
        token_id, key = row.split()[:2]
        described = kafka_tool(TOOL, *access, "--describe", "--owner-principal", "User:alice")
        assert row.split()[:4] in [line.split()[:4] for line in described.stdout.splitlines()]
        by_token = tmp_path / "token.properties"
        by_token.write_text(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n"
            f'sasl.jaas.config={LOGIN} required username="{token_id}" password="{key}" tokenauth="true";\n'
        )
        access = ("--bootstrap-server", sandbox.bootstrap, "--command-config", str(by_token))
        listed = kafka_tool(TOPICS, *access, "--create", "--topic", "by-token")
        assert listed.exit_code == 0, listed.stdout + listed.stderr
        again = kafka_tool(TOOL, *access, *create)
        assert again.exit_code != 0
        assert "DelegationTokenDisabledException" not in again.stdout + again.stderr
        assert "Delegation Token requests are not allowed" in again.stdout + again.stderr


@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_tokens_are_still_served_as_recorded(version: str, tmp_path: Path) -> None:
    settings = {
        **SETTINGS,
        "sasl.enabled.mechanisms": ",".join(["PLAIN", *(name.upper() for name in SCRAM)]),
        **{f"listener.name.sasl_plaintext.{name}.sasl.jaas.config": f"{LOGIN} required;" for name in SCRAM},
    }
    passwords = {user: f"{user}-secret" for user in USERS}
    with guarded_broker(tmp_path, passwords, settings, version) as broker:
        steps = Conversation(broker.with_login, passwords, broker.open_to_all).run()
    assert steps == json.loads((RECORDED / f"delegation-tokens-{version[:3]}.json").read_text())
