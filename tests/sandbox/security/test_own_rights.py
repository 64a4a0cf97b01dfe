"""The ACLs that `check acl doctor` prints are sufficient for a complete run, and all are necessary."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import GroupIdentity, OffsetToCommit
from eosctl.errors import ExitCode
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.security.acls import Acl, PatternType, Permission, ResourceType
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.testing import SandboxThread
from tests.commands import share_consumer
from tests.commands.conftest import eosctl, own_home
from tests.sandbox.security.authorization_cases import replace_acls
from tests.sandbox.security.conftest import USERS, password_of
from tests.sandbox.security.wire_client import WireClient

__all__ = ["own_home"]

SETTINGS = {
    "authorizer.class.name": STANDARD_AUTHORIZER,
    "super.users": "User:admin",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
TYPES = {
    "Cluster": ResourceType.CLUSTER,
    "Topic": ResourceType.TOPIC,
    "Group": ResourceType.GROUP,
    "TransactionalId": ResourceType.TRANSACTIONAL_ID,
}
RULES: list[dict[str, Any]] = eosctl("check", "acl", "doctor", "--principal", "User:alice", "-o", "json").json["items"]


@pytest.fixture(scope="module")
def guarded() -> Iterator[SandboxThread]:
    with SandboxThread(fast=False, sasl=("PLAIN",), users=USERS, config=SETTINGS) as running:
        run(lambda: _use(running))
        yield running


async def _use(sandbox: SandboxThread) -> None:
    """Commit a transaction with offsets, leave another one open, and join a share group."""
    admin = Connection(sandbox.bootstrap, sandbox.client_properties("admin"))
    config = resolve_connection(admin, lambda text: None, {}).config
    async with connect(config) as client:
        found = await ensure_topic(client, "orders", partition_count=1, replica_count=1)
        where = found.partitions[0].partition
        producer = TransactionalProducer(client, "app", now_ms=lambda: time.time_ns() // 1_000_000)
        await producer.init_transactions()
        await producer.send(where, [OutgoingRecord(b"k", b"v")])
        await producer.send_offsets(GroupIdentity("readers"), {where: OffsetToCommit(1)})
        await producer.commit()
        await producer.send(where, [OutgoingRecord(b"k", b"v")])
        await share_consumer.join(client)


def doctor(sandbox: SandboxThread, rules: list[dict[str, Any]]) -> Any:
    entries = [
        Acl(
            TYPES[item["resource_type"]],
            item["name"],
            PatternType[item["pattern_type"].upper()],
            item["principal"],
            "*",
            AclOperation[{"DescribeConfigs": "DESCRIBE_CONFIGS"}.get(item["operation"], item["operation"].upper())],
            Permission.ALLOW,
        )
        for item in rules
    ]
    with WireClient(sandbox.bootstrap) as client:
        client.log_in("admin", password_of(sandbox, "admin"))
        replace_acls(client.ask, entries)
    reached = ("-b", sandbox.bootstrap, "--command-config", str(sandbox.client_properties("alice")))
    return eosctl("doctor", *reached, "--require-complete")


def test_exactly_these_rules_give_a_complete_run(guarded: SandboxThread) -> None:
    done = doctor(guarded, RULES)
    assert done.code is not ExitCode.INCOMPLETE, done.out
    assert "0 skipped" in done.out


@pytest.mark.parametrize("left_out", RULES, ids=lambda rule: f"{rule['resource_type']}-{rule['operation']}")
def test_one_rule_less_is_incomplete_and_named(guarded: SandboxThread, left_out: dict[str, Any]) -> None:
    done = doctor(guarded, [rule for rule in RULES if rule is not left_out])
    assert done.code is ExitCode.INCOMPLETE, done.out
    what = {
        "Cluster": "the cluster",
        "Topic": "topic",
        "TransactionalId": "transactional id",
        "Group": "group",
    }[left_out["resource_type"]]
    assert f"Grant {left_out['operation']} on {what}" in " ".join((done.out + done.err).split())
