"""Commands whose rights follow from their arguments: the ACLs of `check acl` are sufficient, and each is necessary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from eosctl.actions.verification import VERIFICATION_SETTING
from eosctl.analysis.minimal_access import IMPLYING
from eosctl.analysis.own_access import reading_rules
from eosctl.client import Client
from eosctl.client.destinations import group_coordinator
from eosctl.client.outcome import any_error
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1
from eosctl.collect.reader import _RIGHTS
from eosctl.model.access import ApplicationKind
from eosctl.runbooks.changes import CHANGES
from eosctl.runbooks.probe_kind import ProbeKind
from eosctl.runbooks.probes import PROBES
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.services.callbacks import system_now_ms
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.commands.conftest import Done, eosctl
from tests.commands.every_command import leaves
from tests.commands.open_transactions import on, record, skip_marker
from tests.runbooks.conftest import FAILED, NO_ACTION, VERIFIED
from tests.sandbox.security.conftest import USERS, config_of, password_of
from tests.sandbox.security.own_rights import NAMED, SETTINGS, Rule, grant, use_everything

pytestmark = pytest.mark.usefixtures("own_home")

AUTHORIZER: Final = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:admin"}

#: The inputs with which a probe finds something on the cluster of `use_everything`.
ARGUMENTS: Final = {
    "transactions.one": "{transactional_id: app}",
    "feature": "{feature: transaction.version}",
    "group": "{group: readers}",
    "topic": "{topic: orders}",
    "access": "{principal: 'User:alice', successor: 'User:bob'}",
    "replicas": "{broker: 1}",
    "brokers": "{broker: 1}",
}
#: A name that an authorizer hides, and that no list has, may not exist either.
HIDDEN: Final = ("may also hide it from this principal", "this principal may not describe it")
NO_RIGHTS: Final = ("profile add", "sandbox proxy")
PROBE: Final = """\
format: eosctl/v1
id: one-probe
title: One probe
about: Reads one kind of evidence.
symptoms: [a test reads evidence]
steps:
  - {{id: look, type: probe, say: Looking., run: {name}, with: {arguments}, next: no-action}}
"""
CHANGE: Final = """\
format: eosctl/v1
id: one-change
title: One change
about: Changes one thing.
symptoms: [a test changes something]
steps:
  - {{id: look, type: probe, say: Looking., run: feature, with: {{feature: transaction.version}}}}
  - {{id: ask, type: confirm, say: Change it?, expect: "yes"}}
  - id: change
    type: action
    say: Changing it.
    run: {name}
    with: {arguments}
    verify: {{run: feature, with: {{feature: transaction.version}}, until: after.known, within: 1s}}
    next: verified
"""


@pytest.fixture(scope="module")
def guarded() -> Iterator[SandboxThread]:
    """A cluster with open transactions, one of them decided and without its marker, so that all evidence is read."""
    with SandboxThread(fast=False, sasl=("PLAIN",), users=USERS, config=SETTINGS | AUTHORIZER) as running:
        admin = Connection(running.bootstrap, running.client_properties("admin"))
        run(lambda: use_everything(admin))
        on(config_of(running), lambda client: decide(client, running))
        yield running


async def decide(client: Client, cluster: SandboxThread) -> None:
    """Commit a transaction whose marker is lost on its way."""
    found = await ensure_topic(client, "stalled", partition_count=1, replica_count=1)
    producer = TransactionalProducer(client, "stalled", now_ms=system_now_ms)
    await producer.init_transactions()
    await producer.send(found.partitions[0].partition, [record("a")])
    cluster.fault("drop api=WRITE_TXN_MARKERS")
    await producer.end(committed=True)


@pytest.fixture(scope="module")
def three_guarded() -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, sasl=("PLAIN",), users=USERS, config=AUTHORIZER) as running:
        yield running


@pytest.fixture(scope="module")
def changeable() -> Iterator[SandboxThread]:
    """A cluster on which every change of a runbook has something to change, but the markers of transactions."""
    config = {**AUTHORIZER, VERIFICATION_SETTING: "false", "auto.leader.rebalance.enable": "false"}
    with SandboxThread(brokers=3, sasl=("PLAIN",), users=USERS, config=config, transaction_version=1) as running:
        admin = Connection(running.bootstrap, running.client_properties("admin"))
        run(lambda: use_everything(admin))
        on(config_of(running), misplace)
        running.stop_broker(1)
        running.start_broker(1)
        yield running


async def misplace(client: Client) -> None:
    """Commit a position of a group out of range."""
    position = OffsetCommitRequestPartition(partition_index=0, committed_offset=99, committed_metadata="")
    request = OffsetCommitRequest(
        group_id="lost", topics=[OffsetCommitRequestTopic(name="orders", partitions=[position])]
    )
    answer = await client.request(group_coordinator("lost"), ApiKey.OFFSET_COMMIT, request, cap=9, error_of=any_error)
    assert not any_error(answer)


def planned(*words: str | Path) -> list[Rule]:
    """Return the rules that `check acl` prints for a command."""
    rules: list[Rule] = eosctl("check", "acl", *words, "--principal", "User:alice", "-o", "json").json["items"]
    return rules


def names_one(done: Done, rule: Rule) -> bool:
    """Return whether an output names a right that is missing: by the rule, or by the error of the broker."""
    text = " ".join((done.out + done.err).split())
    operation = rule["operation"]
    implied = (one for one, implying in IMPLYING.items() if operation in implying)
    operations = (operation, *IMPLYING.get(operation, ()), *implied)
    wanted = [f"Grant {one} on {NAMED[rule['resource_type']]}" for one in operations]
    return any(one in text for one in (*wanted, rule["without_it"], *HIDDEN))


def each_is_needed(
    cluster: SandboxThread,
    rules: Sequence[Rule],
    attempt: Callable[[tuple[str | Path, ...]], Done],
    is_complete: Callable[[Done], bool],
) -> None:
    """Run a command with each of its rules left out, then with all."""
    admin = password_of(cluster, "admin")
    connection = ("-b", cluster.bootstrap, "--command-config", cluster.client_properties("alice"))
    for left_out in rules:
        grant(cluster.bootstrap, admin, [rule for rule in rules if rule is not left_out])
        done = attempt(connection)
        assert not is_complete(done), (left_out, done.out, done.err)
        assert names_one(done, left_out), (left_out, done.out, done.err)
    grant(cluster.bootstrap, admin, list(rules))
    done = attempt(connection)
    assert is_complete(done), done.out + done.err


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_the_rules_of_a_probe_are_exact(probe: ProbeKind, guarded: SandboxThread, tmp_path: Path) -> None:
    book = tmp_path / "one-probe.yaml"
    book.write_text(PROBE.format(name=probe.name, arguments=ARGUMENTS.get(probe.name, "{}")), "utf-8")
    each_is_needed(
        guarded,
        planned("runbook-run", book),
        lambda connection: eosctl("runbook", "run", book, *connection),
        lambda done: done.code == NO_ACTION and "evidence is missing" not in done.out + done.err,
    )


@pytest.mark.parametrize("name", ["producer-fenced", "post-incident", "controller-failover"])
def test_the_rules_of_a_runbook_are_exact(name: str, changeable: SandboxThread) -> None:
    each_is_needed(
        changeable,
        planned("runbook-run", name),
        lambda connection: eosctl("runbook", "run", name, *connection),
        lambda done: "evidence is missing" not in done.out + done.err,
    )


@pytest.mark.parametrize("name", NO_RIGHTS)
def test_commands_without_requests_need_no_rules(name: str) -> None:
    done = eosctl("check", "acl", name.replace(" ", "-"))
    assert (done.code, "needs no right" in done.err) == (0, True)


def test_every_command_with_a_cluster_is_planned() -> None:
    connecting = {leaf.name for leaf in leaves() if any("--bootstrap-server" in one.opts for one in leaf.parameters)}
    kinds = {kind.value for kind in ApplicationKind}
    assert {name for name in connecting if name.replace(" ", "-") not in kinds} == set()


def test_the_rules_of_evidence_are_those_that_gaps_name() -> None:
    for kind, named in _RIGHTS.items():
        operation, _, resource = named.partition(" on ")
        found = [rule for rule in reading_rules({kind}) if NAMED[rule.resource_type] == resource.split(" '")[0]]
        assert any(operation in (rule.operation, *IMPLYING.get(rule.operation, ())) for rule in found), kind


CHANGED: Final = {
    "txn.fence": "{transactional_id: app}",
    "leaders.elect": "{}",
    "feature.raise": "{feature: transaction.version, level: 2}",
    "verification.enable": "{}",
    "group.move": "{group: lost}",
}


def test_every_change_is_proven() -> None:
    """Those of markers are proven by the runbook for hanging transactions."""
    assert {change.name for change in CHANGES} == {*CHANGED, "txn.abort", "txn.complete"}


@pytest.mark.parametrize("name", CHANGED)
def test_the_rules_of_a_change_are_exact(name: str, changeable: SandboxThread, tmp_path: Path) -> None:
    book = tmp_path / "one-change.yaml"
    book.write_text(CHANGE.format(name=name, arguments=CHANGED[name]), "utf-8")
    each_is_needed(
        changeable,
        planned("runbook-run", book),
        lambda connection: eosctl("runbook", "run", book, "--yes", "--confirm", "yes", *connection),
        lambda done: done.code == VERIFIED,
    )


def test_the_rules_for_a_hanging_transaction(three_guarded: SandboxThread) -> None:
    """The runbook's rules are for all of its ways: on this one, only the right to write markers changes anything."""
    admin = Connection(three_guarded.bootstrap, three_guarded.client_properties("admin"))
    name = "runbook"
    opened = skip_marker(
        resolve_connection(admin, lambda text: None, {}).config,
        three_guarded.stop_broker,
        three_guarded.start_broker,
        committed=False,
        dialect=TV1,
        transactional_id=name,
        topic=name,
    )
    place = ("-i", f"topic={name}", "-i", f"partition={opened.partition.partition}")
    where = (*place, "--yes", "--confirm", str(opened.partition))
    rules = planned("runbook-run", "hanging-transaction")
    connection = ("--command-config", three_guarded.client_properties("alice"), "-b", three_guarded.bootstrap)
    admin_password = password_of(three_guarded, "admin")
    reading = [rule | {"operation": "Describe"} if rule["operation"] == "Alter" else rule for rule in rules]
    grant(three_guarded.bootstrap, admin_password, reading)
    denied = eosctl("runbook", "run", "hanging-transaction", *where, *connection)
    assert denied.code == FAILED, denied.out + denied.err
    assert "CLUSTER_AUTHORIZATION_FAILED" in denied.out
    grant(three_guarded.bootstrap, admin_password, rules)
    done = eosctl("runbook", "run", "hanging-transaction", *where, *connection)
    assert done.code == VERIFIED, done.out + done.err
    assert "evidence is missing" not in done.out + done.err
