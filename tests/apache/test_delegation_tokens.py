"""Delegation tokens of a sandbox with Kafka's own tool, and a login of a Java client with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.testing import SandboxThread
from tests.apache.conftest import KafkaTool
from tests.apache.test_authorization import guarded_broker
from tests.sandbox.security.token_conversation import DIGESTS, OTHER_EXTENSION, SETTINGS, USERS, Conversation, Step

TOOL = "org.apache.kafka.tools.DelegationTokenCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
RECORDED = Path(__file__).parents[1] / "fixtures" / "sandbox"
SCRAM = ("scram-sha-256", "scram-sha-512")
ORDERS = (OTHER_EXTENSION, "tokenauth=true,other=1")
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
        conversation = Conversation(broker.with_login, passwords, broker.open_to_all)
        steps = conversation.run()
        orders = {
            (name, extensions): conversation.accepts(name, extensions) for name in DIGESTS for extensions in ORDERS
        }
    recorded = json.loads((RECORDED / f"delegation-tokens-{version[:3]}.json").read_text())
    assert without_other_extensions(steps) == without_other_extensions(recorded)
    # Kafka signs the extensions in the order of its map. 4.x copies it with Map.copyOf, with a new order in each JVM.
    accepted = {extensions for extensions in ORDERS if all(orders[name, extensions] for name in DIGESTS)}
    assert len(accepted) == 1, orders
    assert sum(orders.values()) == len(DIGESTS)
    taken = [step["problem"] == "" for step in steps if step["name"] == OTHER_EXTENSION]
    assert taken == [OTHER_EXTENSION in accepted] * len(DIGESTS)
    if version == "3.9.2":
        assert steps == recorded


def without_other_extensions(steps: list[Step]) -> list[Step]:
    """Leave out the logins with an unknown extension, and the requests after those that succeeded."""
    at = [number for number, step in enumerate(steps) if step["name"] == OTHER_EXTENSION]
    left_out = {*at, *(number + 1 for number in at if not steps[number]["problem"])}
    return [step for number, step in enumerate(steps) if number not in left_out]
