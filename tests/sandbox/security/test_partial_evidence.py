"""What a principal may not see: partial evidence is said, never a pass, and never a reason to abort.

The same as ``tests/apache/test_partial_evidence.py`` shows on a real broker, here in every test run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.security.acls import CLUSTER_NAME, Acl, Permission, ResourceType
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.create_acls import AclCreation, CreateAclsRequest
from tests.commands.conftest import eosctl
from tests.sandbox.security.authorization_cases import known_acls, rule
from tests.sandbox.security.wire_client import WireClient

pytestmark = pytest.mark.usefixtures("own_home")

HIDDEN = "hidden-app"
EVERYBODY_MAY = {"authorizer.class.name": STANDARD_AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}


@pytest.fixture
def guarded() -> Iterator[SandboxThread]:
    with SandboxThread(fast=False, config=EVERYBODY_MAY) as running:
        yield running


def deny(sandbox: SandboxThread, kind: ResourceType, name: str, operation: AclOperation) -> None:
    """Forbid one operation; a resource with a rule is closed to all that no rule allows, so the rest is allowed."""

    def entry(what: AclOperation, permission: Permission) -> Acl:
        return rule(kind, name, what, permission, principal="User:ANONYMOUS")

    entries = [entry(AclOperation.ALL, Permission.ALLOW), entry(operation, Permission.DENY)]
    with WireClient(sandbox.bootstrap) as client:
        request = CreateAclsRequest([AclCreation(*one) for one in entries])
        created = client.ask(ApiKey.CREATE_ACLS, 3, request)
        assert created is not None
        assert not any(result.error_code for result in created.results), created
        while not set(entries) <= set(known_acls(client.ask)):
            pass  # the broker follows the controller


async def leave_open(bootstrap: str) -> TopicPartition:
    """Begin a transaction that is alive and stays open."""
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        found = await ensure_topic(client, "secrets")
        where = found.partitions[0].partition
        producer = TransactionalProducer(
            client, HIDDEN, now_ms=lambda: time.time_ns() // 1_000_000, transaction_timeout_ms=600_000, dialect=TV1
        )
        await producer.init_transactions()
        await producer.send(where, [OutgoingRecord(b"k", b"v")])
    return where


def verdict(sandbox: SandboxThread) -> dict[str, Any]:
    (found,) = eosctl("txn", "hanging", "--all", "-b", sandbox.bootstrap, "-o", "json").json["items"]
    assert isinstance(found, dict)
    return found


def test_a_live_transaction_behind_a_hidden_id_is_never_aborted(guarded: SandboxThread) -> None:
    where = asyncio.run(leave_open(guarded.bootstrap))
    before = verdict(guarded)
    assert (before["status"], before["transactional_id"]) == ("open", HIDDEN)

    deny(guarded, ResourceType.TRANSACTIONAL_ID, HIDDEN, AclOperation.DESCRIBE)
    listed = eosctl("txn", "list", "-b", guarded.bootstrap, "-o", "json").json
    assert listed["items"] == []
    assert [gap["subject"] for gap in listed["evidence"]["gaps"]] == [HIDDEN]
    hidden = verdict(guarded)
    assert (hidden["status"], hidden["can_abort"]) == ("undecided", False)
    assert HIDDEN in hidden["explanation"]

    deny(guarded, ResourceType.TOPIC, "__transaction_state", AclOperation.READ)
    unknown = verdict(guarded)
    assert (unknown["status"], unknown["can_abort"]) == ("undecided", False)
    assert HIDDEN not in unknown["explanation"]
    place = ("--topic", where.topic, "--partition", str(where.partition))
    refused = eosctl("txn", "abort", *place, "-b", guarded.bootstrap, "--yes")
    assert refused.code == 4
    assert "nothing was changed" in refused.err
    assert "Grant " in refused.err


def test_what_was_refused_is_named_with_its_reason(guarded: SandboxThread) -> None:
    deny(guarded, ResourceType.CLUSTER, CLUSTER_NAME, AclOperation.DESCRIBE_CONFIGS)
    done = eosctl("check", "run", "BRK", "-b", guarded.bootstrap, "-o", "json", "--require-complete")
    checks = {check["id"]: check for check in done.json["checks"]}
    assert checks["EOS-BRK-002"]["status"] == "skipped"
    assert "CLUSTER_AUTHORIZATION_FAILED" in checks["EOS-BRK-002"]["reason"]
    assert checks["EOS-BRK-004"]["status"] == "passed"
    assert done.code == 4
