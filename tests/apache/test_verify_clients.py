"""`verify run` with the clients of other languages on real brokers: a clean history, and the bug that old ones meet."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from eosctl.lab.apache.engine import ApacheEngine
from tests.commands.conftest import Done, eosctl

WORK = [f"--workload={name}" for name in ("appends", "bank", "zombies", "aborts", "mixed", "lists")]


def run(kafka: ApacheEngine, clients: str, *arguments: str, faults: Sequence[str]) -> Done:
    """Verify a broker through a proxy that disturbs the clients."""
    for tool in ("go",) if clients == "franz-go" else ("javac",):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing: the program that speaks with {clients} must be compiled")
    cluster_id = AdminClient({"bootstrap.servers": kafka.bootstrap}).list_topics(timeout=20).cluster_id
    nemesis = ("--nemesis", "proxy", *(f"--fault={kind}" for kind in faults), "--i-own-this-cluster")
    return eosctl(
        *("verify", "run", "-b", kafka.bootstrap, "--clients", clients, *arguments),
        *(*nemesis, cluster_id, "--seed", "7", "-o", "json"),
    )


def item_of(done: Done) -> dict[str, Any]:
    (item,) = done.json["items"]
    return dict(item)


@pytest.mark.parametrize(
    ("clients", "broker"), [("java", "apache_4_3"), ("java-3.9", "apache_3_9"), ("franz-go", "apache_4_3")]
)
def test_a_client_of_another_language_leaves_a_clean_history(
    clients: str, broker: str, request: pytest.FixtureRequest
) -> None:
    faults = ("proxy-delay", "proxy-disconnect")
    done = run(request.getfixturevalue(broker), clients, *WORK, "--duration", "15s", "--fault-gap", "2s", faults=faults)
    assert done.code == 0, done.out + done.err
    item = item_of(done)
    assert (item["verdict"], item["clients"]) == ("clean", clients)
    assert item["fault_count"] > 0
    assert item["committed_count"] >= 10
    assert item["aborted_count"] >= 1
    assert item["read_count"] > item["committed_count"]


@pytest.mark.parametrize(("clients", "code"), [("java-3.9", 3), ("java", 0)])
def test_a_late_end_txn_tears_transactions_of_old_clients_alone(
    apache_4_3: ApacheEngine, clients: str, code: int
) -> None:
    arguments = ("--workload", "appends", "--duration", "30s", "--fault-gap", "1s", "--ids", "5")
    done = run(apache_4_3, clients, *arguments, faults=("proxy-late-end-txn",))
    assert done.code == code, done.out + done.err
    assert ("KAFKA-17754" in done.out) is (code == 3)
