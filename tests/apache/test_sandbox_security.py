"""Kafka's own tools as clients of a secured sandbox, with the client file that lies ready there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from eosctl.lab.apache.java import ToolResult
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.testing import SandboxThread

SETTINGS = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:admin"}


@pytest.fixture(scope="module")
def secured() -> Iterator[SandboxThread]:
    with SandboxThread(
        fast=False, sasl=("SCRAM-SHA-512",), tls=True, users=("admin", "alice"), config=SETTINGS
    ) as running:
        yield running


def test_the_java_client_logs_in_and_is_held_to_the_entries(
    secured: SandboxThread, kafka_tool: Callable[..., ToolResult]
) -> None:
    def tool(main_class: str, user: str, *arguments: str) -> ToolResult:
        server = ("--bootstrap-server", secured.bootstrap)
        return kafka_tool(main_class, *server, "--command-config", str(secured.client_properties(user)), *arguments)

    topics, acls = "org.apache.kafka.tools.TopicCommand", "org.apache.kafka.tools.AclCommand"
    created = tool(topics, "admin", "--create", "--topic", "orders", "--partitions", "1")
    assert created.exit_code == 0, created.complaint
    added = tool(
        acls, "admin", "--add", "--allow-principal", "User:alice", "--consumer", "--topic", "orders", "--group", "app"
    )
    assert added.exit_code == 0, added.complaint
    seen = tool(topics, "alice", "--list")
    assert "orders" in seen.stdout, seen.complaint
    refused = tool(acls, "alice", "--list")
    assert refused.exit_code != 0
    assert "ClusterAuthorizationException" in refused.stderr + refused.stdout
    users = tool("kafka.admin.ConfigCommand", "admin", "--describe", "--entity-type", "users")
    assert "SCRAM credential configs for user-principal 'alice' are SCRAM-SHA-512=iterations=4096" in users.stdout, (
        users
    )
