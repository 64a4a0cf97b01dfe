"""A protected cluster is recognized by its id and its addresses."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from eosctl.testing import SandboxThread
from tests.commands.conftest import Done, eosctl
from tests.commands.open_transactions import leave_open, on


def fence(bootstrap: str, *options: str) -> Done:
    return eosctl("txn", "fence", "shop-0", "-b", bootstrap, *options)


@pytest.fixture
def cluster(one_broker: SandboxThread) -> SandboxThread:
    on(one_broker.bootstrap, lambda client: leave_open(client, "shop-0"))
    return one_broker


def add_profile(bootstrap: str, *options: str) -> None:
    assert eosctl("profile", "add", "prod", "-b", bootstrap, *options).code == 0


def test_the_address_of_a_protected_profile_is_protected(cluster: SandboxThread) -> None:
    add_profile(cluster.bootstrap, "--protected")
    refused = fence(cluster.bootstrap, "--yes")
    assert refused.code == 2
    assert "prod is protected" in refused.err
    assert "--confirm shop-0" in refused.err
    assert fence(cluster.bootstrap, "--yes", "--confirm", "shop-0").code == 0


def test_another_address_is_protected_once_the_id_is_known(cluster: SandboxThread, own_home: Path) -> None:
    port = cluster.bootstrap.partition(":")[2]
    add_profile(f"localhost:{port}", "--protected")
    assert eosctl("txn", "list", "--profile", "prod").code == 0
    refused = fence(cluster.bootstrap, "--yes")
    assert (refused.code, "prod is protected" in refused.err) == (2, True)
    assert "refused" in (own_home / "state" / "eosctl" / "audit.jsonl").read_text("utf-8")
    assert eosctl("profile", "remove", "prod").code == 0
    assert fence(cluster.bootstrap, "--yes").code == 0


def test_the_cluster_of_an_open_profile_is_not_protected(cluster: SandboxThread) -> None:
    add_profile(cluster.bootstrap)
    assert eosctl("txn", "list", "--profile", "prod").code == 0
    assert fence(cluster.bootstrap, "--yes").code == 0


def test_a_runbook_does_not_begin_on_a_protected_cluster(cluster: SandboxThread, own_home: Path) -> None:
    add_profile(cluster.bootstrap, "--protected")
    refused = eosctl("runbook", "run", "hanging-transaction", "-b", cluster.bootstrap, "--yes")
    assert (refused.code, "prod is protected" in refused.err) == (2, True)
    assert "runbook hanging-transaction refused" in (own_home / "state" / "eosctl" / "audit.jsonl").read_text("utf-8")


def test_a_change_of_a_cluster_out_of_reach_is_audited(own_home: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        assert fence(f"127.0.0.1:{held.getsockname()[1]}", "--yes", "--timeout", "1s").code == 1
    assert "txn fence refused" in (own_home / "state" / "eosctl" / "audit.jsonl").read_text("utf-8")


def test_nothing_is_changed_without_readable_ids(cluster: SandboxThread, own_home: Path) -> None:
    known = own_home / "state" / "eosctl" / "protected-clusters.json"
    known.parent.mkdir(parents=True)
    known.write_text("[", "utf-8")
    refused = fence(cluster.bootstrap, "--yes")
    assert (refused.code, "protected-clusters.json" in refused.err) == (2, True)
