"""A cluster on virtual time writes its logs, and the log mining reads the truth out of them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import LogScan, scan_paths
from eosctl.model.log_event import LogEvent
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import Stage
from tests.lab.scenarios.stage.zombie import run_zombie

FEW = {"transaction.state.log.num.partitions": "3", "offsets.topic.num.partitions": "3"}
UNVERIFIED = FEW | {"transaction.partition.verification.enable": "false"}


def scanned(
    folder: Path,
    play: Callable[[Simulation, Stage], Awaitable[object]],
    *,
    release: str = "4.3",
    brokers: int = 3,
    settings: dict[str, str] | None = None,
) -> LogScan:
    """Play on a cluster that writes logs, stop it, and scan them."""
    shape = ClusterShape(brokers, Emulation(release), None, settings or FEW, logs_dir=folder / "logs")

    async def run() -> None:
        async with simulate(shape, folder / "data", seed=7) as simulation:
            stage = Stage(simulation.config, simulation.now_ms, random.Random(7), simulation.network)
            await play(simulation, stage)

    run_virtual(run())
    return scan_paths([folder / "logs"])


def events(scan: LogScan, category: str) -> list[LogEvent]:
    return [event for event in scan.events if event.category == category]


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_a_zombie_is_named_by_the_brokers_logs_alone(tmp_path: Path, release: str) -> None:
    async def play(_: Simulation, stage: Stage) -> None:
        await run_zombie(stage)
        await run_hanging(stage)

    scan = scanned(tmp_path, play, release=release, settings=UNVERIFIED)
    inits = [event.fields for event in events(scan, "INIT_PRODUCER_ID")]
    assert [(f["transactional_id"], f["producer_epoch"]) for f in inits[:2]] == [
        ("payment-service", "0"),
        ("payment-service", "2"),
    ]
    found = judge_incidents(scan.events, scan.sources)
    zombie = next(incident for incident in found if incident.kind == "invalid_producer_epoch")
    assert (zombie.root_cause, zombie.subject["transactional.id"]) == ("zombie-writer", "payment-service")
    assert all(incident.kind == "invalid_producer_epoch" for incident in found), "nothing else happened"


def test_a_transaction_that_times_out_is_logged(tmp_path: Path) -> None:
    async def play(simulation: Simulation, stage: Stage) -> None:
        async with connect(stage.config, connector=stage.connector, chance=stage.chance) as client:
            place = (await ensure_topic(client, "orders")).partitions[0].partition
            producer = TransactionalProducer(
                client, "slow", now_ms=stage.now_ms, dialect=TV1, transaction_timeout_ms=500
            )
            await producer.init_transactions()
            await producer.send(place, [OutgoingRecord(b"k", b"v")])
            await asyncio.sleep(3)

    scan = scanned(tmp_path, play, brokers=1)
    assert [event.fields["transactional_id"] for event in events(scan, "TXN_TIMEOUT_ABORT")] == ["slow"]


def test_a_crash_and_an_orderly_restart_are_distinguished(tmp_path: Path) -> None:
    async def play(simulation: Simulation, stage: Stage) -> None:
        async with connect(stage.config, connector=stage.connector, chance=stage.chance) as client:
            await ensure_topic(client, "orders")
            producer = TransactionalProducer(client, "app", now_ms=stage.now_ms, dialect=TV1)
            await producer.init_transactions()
        simulation.kill(2)
        await asyncio.sleep(25)
        simulation.restart(2)
        await asyncio.sleep(5)

    scan = scanned(tmp_path, play)
    found = judge_incidents(scan.events, scan.sources)
    assert [(incident.root_cause, incident.subject["broker"]) for incident in found] == [("broker-crash", "2")]
    assert events(scan, "BROKER_FENCED")[0].fields["fenced_broker"] == "2"
    assert events(scan, "ISR_EXPAND"), "broker 2 comes back into the ISRs"
    assert events(scan, "COORDINATOR_LOAD")
    ends = events(scan, "BROKER_STOPPED")
    assert len(ends) == 3, "at the end all are stopped in order, once each"
