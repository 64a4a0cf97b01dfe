"""`verify run` with other client libraries: clean histories, and the known bug of old ones."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from eosctl.client.access import program_access
from eosctl.errors import EosctlError
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.verify.driver import start_driver
from eosctl.lab.verify.drivers.programs import prepare_driver
from eosctl.lab.verify.plan import ClientKind
from eosctl.settings.clusters.client_resolution import resolve_client
from eosctl.testing import SandboxThread
from tests.commands.conftest import Done, eosctl

TOOLS = {"librdkafka": None, "java": "javac", "java-3.9": "javac", "franz-go": "go"}
#: Java's older client logs in as the newer one does.
WITH_SECURITY = [pytest.param(one, marks=pytest.mark.long if one == "java-3.9" else ()) for one in TOOLS]
WRONG_PASSWORD = re.compile("invalid credentials|SASL_AUTHENTICATION_FAILED|authentication", re.IGNORECASE)
pytestmark = pytest.mark.usefixtures("own_home")
MILD = ("proxy:delay", "proxy:disconnect")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def secured() -> Iterator[SandboxThread]:
    with SandboxThread(brokers=1, sasl=("SCRAM-SHA-512",), tls=True, users=("admin",), fast=False) as cluster:
        yield cluster


def need(clients: str) -> None:
    """Skip a test whose client cannot be built here."""
    tool = TOOLS[clients]
    if tool is not None and shutil.which(tool) is None:
        pytest.skip(f"{tool} is missing: the program that speaks with {clients} must be compiled")


def run(kafka: ApacheNodes | SandboxThread, clients: str, *arguments: str, faults: Sequence[str]) -> Done:
    """Verify a cluster through a proxy that disturbs the clients."""
    need(clients)
    cluster_id = AdminClient({"bootstrap.servers": kafka.bootstrap}).list_topics(timeout=20).cluster_id
    nemesis = ("--nemesis", "proxy", *(f"--fault={kind}" for kind in faults), "--i-own-this-cluster")
    return eosctl(
        *("verify", "run", "-b", kafka.bootstrap, "--clients", clients, *arguments),
        *(*nemesis, cluster_id, "--seed", "7", "-o", "json"),
    )


def item_of(done: Done) -> dict[str, Any]:
    (item,) = done.json["items"]
    return dict(item)


def moved_offsets(done: Done) -> set[str]:
    """Return the groups that committed transactions have moved."""
    history = Path(done.err.split("run: ")[1].split()[0]) / "history.jsonl"
    events = [json.loads(line) for line in history.read_text().splitlines()]
    committed = {event["transaction"] for event in events if event.get("outcome") == "committed"}
    return {e["group"][-5:] for e in events if e["event"] == "OffsetsSent" and e["transaction"] in committed}


@pytest.mark.parametrize(
    ("clients", "cluster"),
    [
        ("java", "apache_4_3"),
        pytest.param("java-3.9", "apache_3_9", marks=pytest.mark.long),
        ("librdkafka", "apache_4_3"),
        ("franz-go", "sandbox"),
        # Each client plays once each time; `make prove real-kafka` has all pairs.
        pytest.param("franz-go", "apache_4_3", marks=pytest.mark.long),
        *(pytest.param(clients, "sandbox", marks=pytest.mark.long) for clients in TOOLS if clients != "franz-go"),
    ],
)
def test_every_workload_of_every_client_leaves_a_clean_history(
    clients: str, cluster: str, request: pytest.FixtureRequest
) -> None:
    kafka = request.getfixturevalue(cluster)
    done = run(kafka, clients, "--duration", "20s", "--fault-gap", "2s", "--rate", "10", faults=MILD)
    assert done.code == 0, done.out + done.err
    item = item_of(done)
    assert (item["verdict"], item["clients"], len(item["workloads"])) == ("clean", clients, 8)
    assert item["fault_count"] > 0
    assert item["committed_count"] >= 10
    assert item["aborted_count"] >= 1
    assert item["read_count"] > item["committed_count"]
    assert moved_offsets(done) >= {"hop-0", "hop-1"}


@pytest.mark.parametrize("clients", WITH_SECURITY)
def test_a_login_over_tls_is_handed_to_every_client(clients: str, secured: SandboxThread) -> None:
    need(clients)
    settings = ("--command-config", str(secured.client_properties("admin")))
    work = ("--workload", "chain", "--workload", "appends", "--hops", "1", "--duration", "8s", "--rate", "6")
    done = eosctl("verify", "run", *settings, "--clients", clients, *work, "--seed", "7", "-o", "json")
    assert done.code == 0, done.out + done.err
    assert item_of(done)["committed_count"] >= 3
    assert moved_offsets(done) == {"hop-0"}


@pytest.mark.parametrize("clients", WITH_SECURITY)
def test_a_wrong_password_gets_the_clients_own_message(clients: str, secured: SandboxThread, tmp_path: Path) -> None:
    need(clients)
    right = program_access(resolve_client({}, command_config=secured.client_properties("admin")).config)

    async def greet() -> None:
        command = prepare_driver(ClientKind(clients), tmp_path)
        access = {**right, "password": "wrong"}
        async with start_driver(command, tmp_path / "stderr", access) as driver:
            await driver.greet("first")

    with pytest.raises(EosctlError, match="cannot use the cluster") as raised:
        asyncio.run(greet())
    assert WRONG_PASSWORD.search(raised.value.why), raised.value.why


@pytest.mark.parametrize(("clients", "code"), [pytest.param("java-3.9", 3, marks=pytest.mark.long), ("java", 0)])
def test_a_late_end_txn_tears_transactions_of_old_clients_alone(
    apache_4_3: ApacheNodes, clients: str, code: int
) -> None:
    arguments = ("--workload", "appends", "--duration", "30s", "--fault-gap", "1s", "--ids", "5")
    done = run(apache_4_3, clients, *arguments, faults=("proxy:late-end-txn",))
    assert done.code == code, done.out + done.err
    assert ("KAFKA-17754" in done.out) is (code == 3)
