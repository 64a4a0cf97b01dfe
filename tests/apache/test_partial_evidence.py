"""Partial evidence under limited permissions is reported, never a pass, and never a reason to abort."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.engine import MissingTool
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.apache.conftest import SETTINGS
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
HIDDEN = "hidden-app"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheNodes]:
    """A 4.3.1 broker with an authorizer that allows everything by default."""
    config = ApacheConfig("4.3.1", settings=SETTINGS | AUTHORIZER)
    engine = ApacheNodes(config, tmp_path_factory.mktemp("guarded"), random.Random())
    try:
        try:
            asyncio.run(engine.up())
        except MissingTool as missing:
            pytest.skip(f"{missing.tool} is missing: {missing.what}")
        yield engine
    finally:
        asyncio.run(engine.down())


def deny(engine: ApacheNodes, kind: ResourceType, name: str, operation: AclOperation) -> None:
    """Forbid one operation; a resource with a rule is closed to all that no rule allows, so the rest is allowed."""

    def rule(what: AclOperation, permission: AclPermissionType) -> AclBinding:
        return AclBinding(kind, name, ResourcePatternType.LITERAL, "User:ANONYMOUS", "*", what, permission)

    rules = [rule(AclOperation.ALL, AclPermissionType.ALLOW), rule(operation, AclPermissionType.DENY)]
    admin = AdminClient({"bootstrap.servers": engine.bootstrap})
    for created in admin.create_acls(rules).values():
        created.result(20)


async def leave_open(bootstrap: str) -> TopicPartition:
    """Start a live transaction that stays open."""
    config = ClientConfig(parse_endpoints(bootstrap, "test"))
    async with connect(config) as client:
        found = await ensure_topic(client, "secrets")
        where = found.partitions[0].partition
        producer = TransactionalProducer(
            client, HIDDEN, now_ms=lambda: time.time_ns() // 1_000_000, transaction_timeout_ms=600_000, dialect=TV1
        )
        await producer.init_transactions()
        await producer.send(where, [OutgoingRecord(b"k", b"v")])
    return where


def verdicts(engine: ApacheNodes) -> list[dict[str, Any]]:
    done = eosctl("txn", "hanging", "--all", "-b", engine.bootstrap, "-o", "json")
    found: list[dict[str, Any]] = done.json["items"]
    return found


def test_a_live_transaction_behind_a_hidden_id_is_never_aborted(guarded: ApacheNodes) -> None:
    where = asyncio.run(leave_open(guarded.bootstrap))
    (before,) = verdicts(guarded)
    assert (before["status"], before["transactional_id"]) == ("open", HIDDEN)

    deny(guarded, ResourceType.TRANSACTIONAL_ID, HIDDEN, AclOperation.DESCRIBE)
    listed = ("txn", "list", "-b", guarded.bootstrap, "-o", "json")
    eventually(lambda: not eosctl(*listed).json["items"])
    assert [gap["subject"] for gap in eosctl(*listed).json["evidence"]["gaps"]] == [HIDDEN]
    (hidden,) = verdicts(guarded)
    assert (hidden["status"], hidden["can_abort"]) == ("undecided", False)
    assert HIDDEN in hidden["explanation"]

    # Without the transaction log nothing names the id any more.
    deny(guarded, ResourceType.TOPIC, "__transaction_state", AclOperation.READ)
    eventually(lambda: HIDDEN not in verdicts(guarded)[0]["explanation"])
    (unknown,) = verdicts(guarded)
    assert (unknown["status"], unknown["can_abort"]) == ("undecided", False)
    refused = eosctl(
        "txn", "abort", "--topic", where.topic, "--partition", str(where.partition), "-b", guarded.bootstrap, "--yes"
    )
    assert refused.code == 4
    assert "nothing was changed" in refused.err


def test_a_refused_request_is_a_skip_with_its_reason(guarded: ApacheNodes) -> None:
    deny(guarded, ResourceType.BROKER, "kafka-cluster", AclOperation.DESCRIBE_CONFIGS)

    def diagnose() -> dict[str, Any]:
        done = eosctl("check", "run", "BRK", "-b", guarded.bootstrap, "-o", "json", "--require-complete")
        checks = {check["id"]: check for check in done.json["checks"]}
        return {"code": done.code, **checks}

    eventually(lambda: diagnose()["EOS-BRK-002"]["status"] == "skipped")
    found = diagnose()
    assert "CLUSTER_AUTHORIZATION_FAILED" in found["EOS-BRK-002"]["reason"]
    assert found["EOS-BRK-004"]["status"] == "passed"
    assert found["code"] == 4


def eventually(holds: Any) -> None:
    """Repeat a question until the answer is yes: rules reach the broker a moment after they are accepted."""
    for _ in range(100):
        if holds():
            return
    pytest.fail("it never came to be")
