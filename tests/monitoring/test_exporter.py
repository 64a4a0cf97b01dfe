"""The exporter reports a hanging transaction, survives a lost cluster, and follows Prometheus' format."""

from __future__ import annotations

import asyncio
import random
import socket
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.metrics.prometheus_text import parse_samples
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transaction_ends import EndCounter, TransactionEnd
from eosctl.command_line.values import parse_listen
from eosctl.errors import ClusterUnreachable, UsageError
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import ClusterSnapshot, CommittedOffset, Group, PartitionInfo, Topic
from eosctl.model.transaction import PartitionProducers, ProducerState, TopicPartition, TransactionLook
from eosctl.monitoring.cluster_gauges import (
    HANGING,
    HELP,
    LAST_WRITE,
    MOST_NAMED,
    WAITING,
    measure_cluster,
    measure_ends,
    unreachable,
)
from eosctl.monitoring.exporter import Exporter
from eosctl.render.prometheus import render_gauges
from eosctl.sandbox.core import ClusterShape
from eosctl.services.callbacks import SILENT
from eosctl.services.export_cluster import READ_FROM_CLUSTER, ClusterMeasurer, ExportRequest
from tests.commands.conftest import eosctl
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import Stage
from tests.monitoring.promtool import requires_promtool
from tests.render.unhappy_cluster import unhappy_cluster

HANG_ALLOWED = ClusterShape(3, settings={"transaction.partition.verification.enable": "false"}, fast=True)

Page = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def page_of(snapshot: ClusterSnapshot) -> Page:
    return parsed(render_gauges(measure_cluster(snapshot)))


def parsed(text: str) -> Page:
    return {(one.name, tuple(one.labels.items())): one.value for one in parse_samples(text)}


def verdicts(page: Page, status: str) -> float:
    return page["eosctl_open_transaction_partitions", (("status", status),)]


async def look(simulation: Simulation) -> ClusterSnapshot:
    observer = Observer(simulation.now_ms, second_look_after_ms=500)
    async with connect(
        simulation.config,
        connector=simulation.network,
        chance=simulation.chance,
        allowed_apis=READ_ONLY_APIS,
    ) as client:
        return await collect_snapshot(client, observer, READ_FROM_CLUSTER)


async def looks(folder: Path) -> tuple[Page, Page, Page]:
    """Poll an idle cluster, one with an open transaction, and one with a hanging transaction."""
    async with (
        simulate(HANG_ALLOWED, folder, seed=3) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        place = (await ensure_topic(client, "payments")).partitions[0].partition
        at_rest = page_of(await look(simulation))
        producer = TransactionalProducer(client, "app", now_ms=simulation.now_ms)
        await producer.init_transactions()
        await producer.send(place, [OutgoingRecord(b"k", b"v")] * 4)
        await asyncio.sleep(3)
        at_work = page_of(await look(simulation))
        await producer.commit()
        await run_hanging(Stage(simulation.config, simulation.now_ms, random.Random(7), simulation.network))
        hanging = page_of(await look(simulation))
    return at_rest, at_work, hanging


def test_open_and_hanging_transactions_are_distinguished(tmp_path: Path) -> None:
    at_rest, at_work, hanging = run_virtual(looks(tmp_path))
    gap = "eosctl_last_stable_offset_gap"
    assert all(page["eosctl_up", ()] == 1 for page in (at_rest, at_work, hanging))
    assert not [name for name, _ in at_rest if name == gap]
    assert (verdicts(at_work, "open"), verdicts(at_work, "hanging")) == (1, 0)
    assert at_work["eosctl_transactions", (("state", "Ongoing"),)] == 1
    assert at_work[gap, (("topic", "payments"), ("partition", "0"))] == 4
    ages = {dict(labels)["topic"]: v for (name, labels), v in at_work.items() if name.endswith("age_seconds")}
    assert ages["payments"] in (3, 4)
    assert (verdicts(hanging, "open"), verdicts(hanging, "hanging")) == (0, 1)
    assert [value for (name, _), value in hanging.items() if name == gap] == [pytest.approx(12)]
    ((labels, one),) = [(dict(labels), v) for (name, labels), v in hanging.items() if name == HANGING]
    assert (labels["topic"], labels["transactional_id"], one) == ("orders", "order-entry-late", 1)
    assert [name for name, _ in at_work if name in (HANGING, LAST_WRITE)] == []
    assert [name for name, _ in hanging].count(LAST_WRITE) == 1


async def read_twice(folder: Path) -> list[tuple[Page, Page]]:
    """Read a cluster over a kept connection and over a new one: at rest, at work, and hanging."""
    pages: list[tuple[Page, Page]] = []
    async with (
        simulate(HANG_ALLOWED, folder, seed=5) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        callbacks = SILENT._replace(now_ms=simulation.now_ms)
        kept = ClusterMeasurer(simulation.config, ExportRequest(), callbacks, simulation.network)

        async def read() -> None:
            pages.append((page_of(await kept.read()), page_of(await look(simulation))))

        place = (await ensure_topic(client, "payments")).partitions[0].partition
        for _ in range(2):
            await read()
        producer = TransactionalProducer(client, "app", now_ms=simulation.now_ms)
        await producer.init_transactions()
        await producer.send(place, [OutgoingRecord(b"k", b"v")] * 4)
        for _ in range(2):
            await asyncio.sleep(3)
            await read()
        await producer.commit()
        await run_hanging(Stage(simulation.config, simulation.now_ms, random.Random(7), simulation.network))
        for _ in range(2):
            await read()
        await kept.close()
        await read()
        await kept.close()
    return pages


def test_a_kept_connection_reads_what_a_new_one_reads(tmp_path: Path) -> None:
    pages = run_virtual(read_twice(tmp_path))
    moving = ("timestamp_seconds", "age_seconds")
    for kept, fresh in pages:
        for page in (kept, fresh):
            assert page["eosctl_up", ()] == 1
        assert {key: value for key, value in kept.items() if not key[0].endswith(moving)} == {
            key: value for key, value in fresh.items() if not key[0].endswith(moving)
        }
    assert [verdicts(kept, "hanging") for kept, _ in pages] == [0, 0, 0, 0, 1, 1, 1]
    assert [verdicts(kept, "open") for kept, _ in pages][2:4] == [1, 1]


async def ends_followed(folder: Path) -> list[dict[str, int]]:
    """Follow a transaction log from before it exists, over commits, an abort and a timeout."""
    seen: list[dict[str, int]] = []
    async with (
        simulate(HANG_ALLOWED, folder, seed=4) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        early, late = EndCounter(), EndCounter()

        async def follow(counter: EndCounter) -> None:
            assert await counter.follow(ReadOnly(client), await look(simulation)) == ()
            seen.append({end.value: count for end, count in counter.counts.items()})

        await follow(early)
        place = (await ensure_topic(client, "orders")).partitions[0].partition
        producer = TransactionalProducer(client, "app", now_ms=simulation.now_ms)
        await producer.init_transactions()
        for number in range(5):
            await producer.send(place, [OutgoingRecord(b"k", b"v")])
            await (producer.abort() if number == 2 else producer.commit())
        await follow(early)
        await follow(late)
        slow = TransactionalProducer(client, "slow", transaction_timeout_ms=5_000, now_ms=simulation.now_ms)
        await slow.init_transactions()
        await slow.send(place, [OutgoingRecord(b"k", b"v")])
        await asyncio.sleep(60)
        await follow(early)
        await follow(early)
        await follow(late)
    return seen


def test_ends_are_counted_from_the_transaction_log(tmp_path: Path) -> None:
    seen = run_virtual(ends_followed(tmp_path))
    once = {"committed": 4, "aborted": 1}
    assert seen == [{}, once, {}, once | {"timed-out": 1}, once | {"timed-out": 1}, {"timed-out": 1}]


def test_what_may_be_hidden_is_never_zero() -> None:
    gap = EvidenceGap(EvidenceKind.TRANSACTIONS, "names that this principal may not describe", GapReason.HIDDEN)
    seen = page_of(replace(unhappy_cluster(), gaps=()))
    hidden = page_of(replace(unhappy_cluster(), gaps=(gap,)))
    counts = [value for (name, _), value in hidden.items() if name == "eosctl_open_transaction_partitions"]
    assert 0 in seen.values()
    assert counts
    assert 0 not in counts


def test_series_with_names_are_bounded() -> None:
    places = [TopicPartition("t", number) for number in range(MOST_NAMED + 50)]
    partitions = tuple(
        PartitionInfo(place, 1, 0, (1,), (1,), high_watermark=100 + place.partition, last_stable_offset=10)
        for place in places
    )
    groups = (Group("g", 1, "Stable", offsets=tuple(CommittedOffset(place, 10) for place in places)),)
    seen = tuple(PartitionProducers(place, 1, (ProducerState(7, 0, 1, 1_000, 0, 10),)) for place in places)
    looks = (TransactionLook(0, 20, seen), TransactionLook(500, 520, seen))
    topics = (Topic("t", "t", False, partitions),)
    page = page_of(replace(unhappy_cluster(), topics=topics, groups=groups, looks=looks, gaps=()))
    for name, widest in ((HANGING, 1), (WAITING, 100 + places[-1].partition - 10)):
        values = {dict(labels)["partition"]: value for (found, labels), value in page.items() if found == name}
        assert len(values) == MOST_NAMED
        assert values[str(places[-1].partition)] == widest
        assert "0" not in values


def test_unstable_offsets_are_counted_by_group() -> None:
    offsets = tuple(CommittedOffset(TopicPartition("t", number), 5, unstable=number < 2) for number in range(3))
    groups = (Group('quoted"group', 1, "Stable", offsets=offsets), Group("well", 1, "Stable", offsets=offsets[2:]))
    page = page_of(replace(unhappy_cluster(), groups=groups))
    assert {k: v for k, v in page.items() if k[0] == "eosctl_unstable_offsets"} == {
        ("eosctl_unstable_offsets", (("group", 'quoted"group'),)): 2
    }


@requires_promtool
@pytest.mark.parametrize(
    "gauges",
    [
        (*measure_cluster(unhappy_cluster()), measure_ends({TransactionEnd.COMMITTED: 3})),
        unreachable(),
    ],
    ids=["measured", "unreachable"],
)
def test_the_page_is_what_prometheus_reads(gauges: tuple[object, ...]) -> None:
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=render_gauges(gauges),
        capture_output=True,
        text=True,
        check=False,  # type: ignore[arg-type]
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_gauge_is_explained() -> None:
    assert {gauge.name for gauge in measure_cluster(unhappy_cluster())} == HELP.keys()


def test_a_lost_and_a_restored_cluster_are_reported_once() -> None:
    answers = [unhappy_cluster(), ClusterUnreachable("gone"), ClusterUnreachable("gone"), unhappy_cluster()]
    remarks: list[str] = []

    async def next_look() -> ClusterSnapshot:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def run() -> list[float]:
        exporter = Exporter(next_look, remarks.append)
        seen = [parsed(render_gauges(exporter.gauges))["eosctl_up", ()]]
        for _ in range(4):
            await exporter.refresh()
            seen.append(parsed(render_gauges(exporter.gauges))["eosctl_up", ()])
        return seen

    assert asyncio.run(run()) == [0, 1, 0, 0, 1]
    assert remarks == ["gone", "the cluster can be asked again"]


def test_addresses_are_read() -> None:
    assert parse_listen("127.0.0.1:9308") == ("127.0.0.1", 9308)
    assert parse_listen("[::1]:9308") == ("::1", 9308)
    assert parse_listen("127.0.0.1:0") == ("127.0.0.1", 0)


@pytest.mark.parametrize("text", ["9308", "host", ":9308", "host:", "host:x", "::1:9308", "host:65536"])
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_listen(text)
    assert eosctl("exporter", "-b", "127.0.0.1:1", "--listen", text).code == 2


def test_an_address_in_use_is_reported() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = eosctl("exporter", "-b", "127.0.0.1:1", "--listen", f"127.0.0.1:{port}")
    assert done.code == 1
    assert "choose another --listen" in done.err


def test_once_reports_a_lost_cluster() -> None:
    done = eosctl("exporter", "-b", "127.0.0.1:1", "--once", "--timeout", "5s")
    assert done.code == 1
    assert "Traceback" not in done.err
