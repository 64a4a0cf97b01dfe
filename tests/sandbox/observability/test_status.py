"""The status of a sandbox, as a value and as a page."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.sandbox import SandboxItem
from eosctl.render.live import show_live
from eosctl.render.page import PLAIN, Style, render_page
from eosctl.render.sandbox.status import status_blocks
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.status import describe_cluster

FEW = {"transaction.state.log.num.partitions": "3", "num.partitions": "2"}
ITEM = SandboxItem(
    name="play",
    running=True,
    bootstrap="127.0.0.1:9092",
    broker_count=3,
    emulate="4.3",
    kafka=None,
    transaction_version=None,
    pid=1,
    started_at_ms=0,
    data_dir="/d",
    log_file="/l",
    logs_dir="/d/logs",
    metrics_port=None,
    ephemeral=True,
    settings={},
    security_protocol="PLAINTEXT",
    client_config=None,
    cluster=None,
)


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A cluster with a transaction open and one broker of three dead."""

    async def play() -> dict[str, Any]:
        folder = tmp_path_factory.mktemp("status")
        async with (
            simulate(ClusterShape(3, settings=FEW, fast=True), folder, seed=3) as simulation,
            connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
        ):
            place = (await ensure_topic(client, "orders")).partitions[0].partition
            producer = TransactionalProducer(client, "app", now_ms=simulation.now_ms)
            await producer.init_transactions()
            await producer.send(place, [OutgoingRecord(b"k", b"v")] * 3)
            coordinator = simulation.core.broker(1).metadata
            leaders = {coordinator.topics[name].partitions[index].leader for name, index in [tuple(place)]}
            state = next(
                broker.node_id
                for broker in simulation.core.brokers()
                if broker.transactions.states.loaded_partitions()
                and any("app" in found.transactions for found in broker.transactions.states.loaded_partitions())
            )
            victim = next(node for node in simulation.core.broker_ids if node not in leaders | {state})
            simulation.kill(victim)
            await asyncio.sleep(5)
            addresses = {node: f"127.0.0.1:{node}" for node in simulation.core.broker_ids}
            return describe_cluster(simulation.core, addresses) | {"victim": victim, "place": str(place)}

    found: dict[str, Any] = run_virtual(play())
    return found


def test_the_core_lists_nodes_partitions_and_transactions(troubled: dict[str, Any]) -> None:
    assert troubled["controllers"] == [{"id": 100, "running": True, "active": True, "epoch": 1}]
    assert troubled["controller"] == 100
    assert [broker["running"] for broker in troubled["brokers"]] == [node != troubled["victim"] for node in (1, 2, 3)]
    (open_one,) = troubled["transactions"]
    assert (open_one["transactional_id"], open_one["state"]) == ("app", "Ongoing")
    assert open_one["partitions"] == [troubled["place"]]
    assert open_one["open_ms"] >= 5000
    held = next(row for row in troubled["partitions"] if f"{row['topic']}-{row['partition']}" == troubled["place"])
    assert (held["high_watermark"], held["last_stable_offset"], held["open_transactions"]) == (3, 0, 1)
    assert all(len(row["isr"]) == 2 for row in troubled["partitions"])


def test_the_page_names_what_is_wrong_first(troubled: dict[str, Any]) -> None:
    lines = render_page(status_blocks(ITEM, troubled)).splitlines()
    assert "not in sync" in lines[0]
    assert "1 held back by open transactions; 1 open transaction" in lines[0]
    page = "\n".join(lines)
    assert "controller 100 (active, epoch 1)" in page
    assert [line.split()[2] for line in lines if line.startswith(f"{troubled['victim']} ")] == ["down"]
    row = next(line for line in lines if line.startswith(troubled["place"])).split()
    assert row[-7:] == ["3", "1", "not", "in", "sync,", "readers", "wait"]
    assert "app" in page


def healthy() -> dict[str, Any]:
    row = {"leader": 1, "leader_epoch": 0, "replicas": [1], "isr": [1], "high_watermark": 5, "last_stable_offset": 5}
    offsets = {"log_end_offset": 5, "open_transactions": 0}
    names = [("orders", 0), *(("__transaction_state", index) for index in range(3))]
    return {
        "emulate": "3.9",
        "transaction_version": 0,
        "controllers": [{"id": 1, "running": True, "active": True, "epoch": 4}],
        "brokers": [{"id": 1, "address": "127.0.0.1:1", "running": True, "ready": True}],
        "partitions": [{"topic": name, "partition": index, **row, **offsets} for name, index in names],
        "transactions": [],
    }


def test_quiet_internal_topics_are_one_line_by_default() -> None:
    page = render_page(status_blocks(ITEM, healthy()))
    assert "__transaction_state-0" not in page
    assert "3 partitions of internal topics: in sync, nothing open" in page
    assert "__transaction_state-2" in render_page(status_blocks(ITEM, healthy(), everything=True))


def test_rows_that_do_not_fit_are_counted() -> None:
    page = render_page(status_blocks(ITEM, healthy(), everything=True, max_rows=1))
    assert "... and 3 partitions more" in page


def test_a_partition_without_leader_has_no_offsets() -> None:
    cluster = healthy()
    cluster["partitions"] = [
        {"topic": "t", "partition": 0, "leader": -1, "leader_epoch": 3, "replicas": [1, 2], "isr": [2]}
    ]
    page = render_page(status_blocks(ITEM, cluster))
    assert "1 without a leader" in page
    assert page.splitlines()[-1].split() == [
        "t-0",
        "none",
        "3",
        "2",
        "of",
        "1,2",
        *"?????",
        "offline,",
        "not",
        "in",
        "sync",
    ]


@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_watched_page_fits_the_terminal(troubled: dict[str, Any], width: int) -> None:
    page = render_page(status_blocks(ITEM, troubled), Style(width, True, fold=True))
    from rich.text import Text

    assert max(len(Text.from_ansi(line).plain) for line in page.splitlines()) <= width


def test_processes_are_shown_with_their_nodes_and_their_end(troubled: dict[str, Any]) -> None:
    processes = [
        {"worker": 1, "pid": 7, "nodes": [1, 100], "running": True, "ended": None},
        {"worker": 2, "pid": 8, "nodes": [2], "running": False, "ended": "ended by SIGKILL"},
    ]
    page = render_page(status_blocks(ITEM, troubled | {"processes": processes}), PLAIN)
    assert "1 (pid 7): nodes 1,100" in page
    assert "2 (process 8 ended by SIGKILL): nodes 2" in page


def test_watching_ends_with_ctrl_c(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = []

    def draw(_: Style, height: int | None) -> str:
        drawn.append(height)
        if len(drawn) == 3:
            raise KeyboardInterrupt
        return f"page {len(drawn)}\n"

    show_live(draw, lambda: PLAIN, 0.0)
    assert capsys.readouterr().out == "page 1\n\npage 2\n\n"
    assert drawn == [None] * 3
