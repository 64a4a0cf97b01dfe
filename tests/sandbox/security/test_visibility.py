"""Hidden resources never result in an all-clear, and the required permissions give a complete run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eosctl.sandbox.authorization import AclOperation as Op
from eosctl.sandbox.security.acls import CLUSTER_NAME, Acl, PatternType, Permission, ResourceType
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.testing import SandboxThread
from tests.commands.conftest import Done, eosctl
from tests.sandbox.security.authorization_cases import replace_acls, rule
from tests.sandbox.security.conftest import USERS, password_of
from tests.sandbox.security.least_rights import prepare, run_consumer, transact
from tests.sandbox.security.test_clients import librdkafka
from tests.sandbox.security.wire_client import WireClient

pytestmark = pytest.mark.usefixtures("own_home")
SETTINGS = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:admin"}
CLUSTER, TOPIC, GROUP, ID = (
    ResourceType.CLUSTER,
    ResourceType.TOPIC,
    ResourceType.GROUP,
    ResourceType.TRANSACTIONAL_ID,
)
SEES_EVERYTHING = [
    rule(CLUSTER, CLUSTER_NAME, Op.DESCRIBE),
    rule(CLUSTER, CLUSTER_NAME, Op.DESCRIBE_CONFIGS),
    rule(TOPIC, "*", Op.READ),
    rule(TOPIC, "*", Op.DESCRIBE_CONFIGS),
    rule(ID, "*", Op.DESCRIBE),
    rule(GROUP, "*", Op.DESCRIBE),
]
HANGING = "EOS-TXN-001"


@pytest.fixture(scope="module")
def guarded() -> Iterator[SandboxThread]:
    """A cluster with a topic, a transactional id, and a group."""
    with SandboxThread(fast=False, sasl=("PLAIN",), users=USERS, config=SETTINGS) as running:
        prepare(librdkafka(running))
        transact(librdkafka(running))
        run_consumer(librdkafka(running))
        yield running


def grant(sandbox: SandboxThread, *rules: Acl) -> None:
    with WireClient(sandbox.bootstrap) as client:
        client.log_in("admin", password_of(sandbox))
        replace_acls(client.ask, list(rules))


def ask(sandbox: SandboxThread, *command: str, user: str = "alice") -> Done:
    return eosctl(*command, "--command-config", sandbox.client_properties(user), "--require-complete")


def skipped(done: Done) -> set[str]:
    return {check["id"] for check in done.json["checks"] if check["status"] == "skipped"}


COMMANDS = [
    ("txn", "hanging"),
    ("txn", "list"),
    ("txn", "producers"),
    ("group", "lag"),
    ("group", "pending"),
    ("timeline",),
    ("doctor", "--fail-on", "critical"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_principal_that_sees_nothing_gets_no_all_clear(command: tuple[str, ...], guarded: SandboxThread) -> None:
    grant(guarded)
    done = ask(guarded, *command)
    assert done.code == 4
    assert not any(words in done.out for words in ("Nothing hangs", "No transactions", "No group", "No offset"))
    assert "this principal may not describe" in done.out


def test_checks_that_depend_on_lists_are_skipped_by_name(guarded: SandboxThread) -> None:
    grant(guarded)
    done = ask(guarded, "doctor", "-o", "json")
    assert {HANGING, "EOS-TXN-003", "EOS-TXN-010", "EOS-TOP-001", "EOS-GRP-003", "EOS-OPS-006"} <= skipped(done)
    reasons = {check["id"]: check["reason"] for check in done.json["checks"]}
    assert "may not describe hidden" in reasons[HANGING]
    assert done.json["grade"]["letter"] != "A"


@pytest.mark.parametrize("user", ["admin", "alice"])
def test_who_sees_everything_gets_a_complete_run(user: str, guarded: SandboxThread) -> None:
    grant(guarded, *(SEES_EVERYTHING if user == "alice" else ()))
    done = ask(guarded, "doctor", "-o", "json", "--exit-zero", user=user)
    assert skipped(done) == set()
    assert done.json["evidence"]["gaps"] == []
    for command in COMMANDS[:-1]:
        assert ask(guarded, *command, user=user).code == 0


@pytest.mark.parametrize("missing", SEES_EVERYTHING, ids=str)
def test_one_right_less_is_an_incomplete_run(missing: Acl, guarded: SandboxThread) -> None:
    grant(guarded, *(one for one in SEES_EVERYTHING if one is not missing))
    assert ask(guarded, "doctor", "--fail-on", "critical").code == 4


def test_only_lists_are_complete_without_cluster_permissions(guarded: SandboxThread) -> None:
    grant(guarded, *(rule(kind, "*", Op.DESCRIBE) for kind in (TOPIC, ID)))
    done = ask(guarded, "txn", "list")
    assert (done.code, "app-1" in done.out) == (0, True)


def test_rights_on_some_ids_are_not_all(guarded: SandboxThread) -> None:
    grant(guarded, rule(TOPIC, "*", Op.DESCRIBE), rule(ID, "app", Op.DESCRIBE, pattern=PatternType.PREFIXED))
    done = ask(guarded, "txn", "list")
    assert (done.code, "app-1" in done.out) == (4, True)


def test_a_rule_that_denies_one_id_is_named(guarded: SandboxThread) -> None:
    grant(guarded, *SEES_EVERYTHING, rule(ID, "app-1", Op.DESCRIBE, Permission.DENY))
    done = ask(guarded, "txn", "hanging")
    assert done.code == 4
    assert "transactions of app-1: " in done.out
