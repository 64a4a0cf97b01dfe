"""For each command, the ACLs that `check acl COMMAND` prints are sufficient, and each is necessary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.analysis.own_access import own_rules
from eosctl.client import Client
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1
from eosctl.model.access import ApplicationKind
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.event_loop import run
from eosctl.testing import SandboxThread
from tests.commands.conftest import own_home
from tests.commands.every_command import Leaf
from tests.commands.open_transactions import now_ms, on, record, skip_marker
from tests.sandbox.security.command_rights import commands, is_complete, rules_of, run_command
from tests.sandbox.security.conftest import USERS, config_of, password_of
from tests.sandbox.security.own_rights import SETTINGS, grant, use_everything

__all__ = ["own_home"]

AUTHORIZER = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:admin"}
COMMANDS = commands()
OF_MARKERS = ("txn abort", "txn complete")
FENCE = "txn fence"


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
    producer = TransactionalProducer(client, "stalled", now_ms=now_ms)
    await producer.init_transactions()
    await producer.send(found.partitions[0].partition, [record("a")])
    cluster.fault("drop api=WRITE_TXN_MARKERS")
    await producer.end(committed=True)


@pytest.fixture(scope="module")
def three_guarded() -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, sasl=("PLAIN",), users=USERS, config=AUTHORIZER) as running:
        yield running


def prove(leaf: Leaf, cluster: SandboxThread, folder: Path, *more: str) -> None:
    """Run a command with each of its rules left out, then with all."""
    rules, admin = rules_of(leaf), password_of(cluster, "admin")
    connection = ("-b", cluster.bootstrap, "--command-config", cluster.client_properties("alice"))
    for left_out in rules:
        grant(cluster.bootstrap, admin, [rule for rule in rules if rule is not left_out])
        done = run_command(leaf, connection, folder, *more)
        assert not is_complete(done), (left_out, done.out, done.err)
    grant(cluster.bootstrap, admin, rules)
    done = run_command(leaf, connection, folder, *more)
    assert is_complete(done), done.out + done.err


@pytest.mark.parametrize(
    "leaf", [one for one in COMMANDS if one.name not in (*OF_MARKERS, FENCE)], ids=lambda leaf: leaf.name
)
def test_the_rules_of_a_command_are_exact(leaf: Leaf, guarded: SandboxThread, tmp_path: Path, own_home: Path) -> None:
    (tmp_path / "written").mkdir()
    prove(leaf, guarded, tmp_path / "written")


@pytest.mark.parametrize("name", OF_MARKERS)
def test_the_rules_for_markers_are_exact(
    name: str, three_guarded: SandboxThread, tmp_path: Path, own_home: Path
) -> None:
    (leaf,) = (one for one in COMMANDS if one.name == name)
    admin = Connection(three_guarded.bootstrap, three_guarded.client_properties("admin"))
    opened = skip_marker(
        resolve_connection(admin, lambda text: None, {}).config,
        three_guarded.stop_broker,
        three_guarded.start_broker,
        committed=name == "txn complete",
        dialect=TV1,
        transactional_id=name.replace(" ", "-"),
        topic=name.replace(" ", "-"),
    )
    where = ("--topic", opened.partition.topic, "--partition", str(opened.partition.partition))
    prove(leaf, three_guarded, tmp_path, *where)


def test_the_rules_for_fencing_are_exact(three_guarded: SandboxThread, tmp_path: Path, own_home: Path) -> None:
    (leaf,) = (one for one in COMMANDS if one.name == FENCE)
    admin = Connection(three_guarded.bootstrap, three_guarded.client_properties("admin"))
    run(lambda: use_everything(admin))
    prove(leaf, three_guarded, tmp_path)


def test_each_command_of_a_cluster_has_its_rules() -> None:
    planned = {kind.value for kind in ApplicationKind if own_rules(kind)} - {"repair"}
    assert planned == {"-".join(leaf.words) for leaf in COMMANDS}
