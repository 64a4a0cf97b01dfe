"""The rules on the metrics of simulated clusters: silent under load, loud when a fault was injected."""

from __future__ import annotations

import asyncio
import itertools
import random
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.destinations import CoordinatorKind
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, GroupIdentity, OffsetToCommit, produce
from eosctl.lab.simulation import Simulation
from eosctl.lab.virtual_loop import run_virtual
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.network import FaultAction, LinkFault
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import Stage
from tests.monitoring.prometheus import FASTER
from tests.monitoring.promtool import prove_moments, requires_promtool
from tests.monitoring.simulated import Fault, moment_of, record

pytestmark = requires_promtool

SHAPE = ClusterShape(
    3,
    settings={
        "transaction.state.log.num.partitions": "3",
        "offsets.topic.num.partitions": "3",
        "transaction.state.log.min.isr": "2",
        "transaction.partition.verification.enable": "false",
    },
)

#: For the long cases: several brokers over a quarter of an hour would take longer than all other cases.
ONE_BROKER = SHAPE._replace(broker_count=1, settings={**SHAPE.settings, "transaction.state.log.min.isr": "1"})


async def hang(simulation: Simulation, client: Client) -> None:
    """Hang a transaction."""
    await run_hanging(Stage(simulation.config, simulation.now_ms, random.Random(7), simulation.network))


async def hold_offsets(simulation: Simulation, client: Client) -> None:
    """Leave a transaction open that holds a group's offsets, within its timeout of a quarter of an hour."""
    place = (await ensure_topic(client, "orders")).partitions[0].partition
    producer = TransactionalProducer(client, "stream-app", now_ms=simulation.now_ms, transaction_timeout_ms=15 * 60_000)
    await producer.init_transactions()
    await producer.send_offsets(GroupIdentity("stream-app"), {place: OffsetToCommit(1)})
    await producer.commit()
    await producer.send_offsets(GroupIdentity("stream-app"), {place: OffsetToCommit(2)})


async def lose_the_partition_of_a_decided_transaction(simulation: Simulation, client: Client) -> None:
    """End a transaction whose only replica is gone: its marker waits for the leader that never comes."""
    places = (await ensure_topic(client, "single", replica_count=1)).partitions
    coordinators = await client.find_coordinators(CoordinatorKind.TRANSACTION, ["a", "b", "c", "d", "e", "f"])
    name, info = next(
        (name, info) for name, node_id in coordinators.items() for info in places if info.leader_id != node_id
    )
    producer = TransactionalProducer(client, name, now_ms=simulation.now_ms)
    await producer.init_transactions()
    await producer.send(info.partition, [OutgoingRecord(b"k", b"v")])
    assert info.leader_id is not None
    simulation.kill(info.leader_id)
    await producer.end(committed=True)


async def lose_markers(simulation: Simulation, client: Client) -> None:
    """Lose every marker on its way: a transaction that is decided does not end."""
    producer = TransactionalProducer(client, "decided", now_ms=simulation.now_ms)
    await producer.init_transactions()
    for info in (await ensure_topic(client, "orders")).partitions:
        await producer.send(info.partition, [OutgoingRecord(b"k", b"v")])
    simulation.core.network.add_fault(LinkFault(FaultAction.DROP, api_key=ApiKey.WRITE_TXN_MARKERS))
    await producer.end(committed=True)


async def begin_too_early(simulation: Simulation, client: Client) -> asyncio.Task[None]:
    """Begin transactions right behind each other while markers take long."""
    delay = LinkFault(FaultAction.DELAY, api_key=ApiKey.WRITE_TXN_MARKERS, requests=True, delay_ms=400)
    simulation.core.network.add_fault(delay)
    places = (await ensure_topic(client, "orders")).partitions
    producer = TransactionalProducer(client, "back-to-back", now_ms=simulation.now_ms, dialect=TV1)
    await producer.init_transactions()

    async def work() -> None:
        while True:
            for _ in range(3):
                await producer.send(places[0].partition, [OutgoingRecord(b"k", b"v")])
                await producer.send(places[1].partition, [OutgoingRecord(b"k", b"v")])
                await producer.commit()
            await asyncio.sleep(5)

    return asyncio.create_task(work())


async def run_into_timeouts(simulation: Simulation, client: Client) -> asyncio.Task[None]:
    """Begin two transactions a second that do not end within their timeout of a second."""
    place = (await ensure_topic(client, "orders")).partitions[0].partition
    producers = [
        TransactionalProducer(client, f"slow-{number}", now_ms=simulation.now_ms, transaction_timeout_ms=1_000)
        for number in range(40)
    ]

    async def work() -> None:
        while True:
            for producer in producers:
                await producer.init_transactions()
                await producer.send(place, [OutgoingRecord(b"k", b"v")])
                await asyncio.sleep(0.5)

    return asyncio.create_task(work())


async def write_with_new_ids(simulation: Simulation, client: Client) -> asyncio.Task[None]:
    """Write with a new producer id each time: 10,050 in a burst, then fifty per quarter of a minute."""
    places = [info.partition for info in (await ensure_topic(client, "ids", partition_count=50)).partitions]
    ids = itertools.count(1_000_000)

    async def write() -> None:
        record = [Record(0, simulation.now_ms(), b"k", b"v")]
        data = [
            PartitionProduceData(
                place.partition, encode_batch(record, producer_id=next(ids), producer_epoch=0, base_sequence=0)
            )
            for place in places
        ]
        request = ProduceRequest(None, -1, 30_000, [TopicProduceData(name="ids", partition_data=data)])
        answer = await client.request(places[0], ApiKey.PRODUCE, request, cap=11)
        assert {part.error_code for part in answer.responses[0].partition_responses} == {ErrorCode.NONE}

    for _ in range(201):
        await write()

    async def work() -> None:
        while True:
            await write()
            await asyncio.sleep(15)

    return asyncio.create_task(work())


async def wait_for_a_paused_follower(simulation: Simulation, client: Client) -> asyncio.Task[None]:
    """Pause a follower that stays in the ISR, while a thousand clients write."""
    places = (await ensure_topic(client, "orders")).partitions
    simulation.core.pause_node(next(node for node in places[0].replicas if node != places[0].leader_id))

    async def write() -> None:
        config = replace(simulation.config, request_timeout_ms=3_600_000, timeout_ms=3_600_000)
        async with connect(config, connector=simulation.network, chance=simulation.chance) as one:
            batch = encode_batch([Record(0, simulation.now_ms(), b"k", b"v")])
            await produce(one, places[0].partition, batch, transactional_id=None, bounds=TV1.produce)

    async def work() -> None:
        await asyncio.gather(*(write() for _ in range(1_010)))

    return asyncio.create_task(work())


async def lose_a_broker(simulation: Simulation, client: Client) -> None:
    """Lose one of three brokers."""
    simulation.kill(simulation.core.broker_ids[1])


async def lose_two_brokers(simulation: Simulation, client: Client) -> None:
    """Lose two of three brokers."""
    for broker in simulation.core.broker_ids[1:]:
        simulation.kill(broker)


async def lose_every_broker(simulation: Simulation, client: Client) -> None:
    """Lose every broker."""
    for broker in simulation.core.broker_ids:
        simulation.kill(broker)


async def lose_the_quorum(simulation: Simulation, client: Client) -> None:
    """Lose two of three controllers."""
    for controller in simulation.core.controller_ids[1:]:
        simulation.core.stop_node(controller, clean=False)


class Case(NamedTuple):
    """A fault, how long it is watched, and which alerts must fire then: these and no other."""

    fault: Fault | None
    minutes: float
    firing: frozenset[str]
    shape: ClusterShape = SHAPE


FAULTS = {
    "healthy": Case(None, 10, frozenset()),
    "a hanging transaction": Case(hang, 5, frozenset({"EosLastStableOffsetStalled", "EosHangingTransaction"})),
    "a hanging transaction, for long": Case(
        hang,
        13,
        frozenset({"EosLastStableOffsetStalled", "EosHangingTransaction", "EosLateTransactions"}),
        ONE_BROKER._replace(settings={**ONE_BROKER.settings, "transaction.max.timeout.ms": "60000"}),
    ),
    "offsets held by an open transaction": Case(
        hold_offsets, 12, frozenset({"EosUnstableOffsets", "EosLastStableOffsetStalled"}), ONE_BROKER
    ),
    "a decided transaction in a partition without a leader": Case(
        lose_the_partition_of_a_decided_transaction,
        7,
        frozenset({"EosMarkersStuck", "EosPartitionsOffline"}),
        # 4.x skips the marker instead (KAFKA-20734).
        SHAPE._replace(emulation=Emulation("3.9")),
    ),
    "markers lost on their way": Case(
        lose_markers,
        7,
        frozenset({"EosTransactionLate", "EosLastStableOffsetStalled"}),
    ),
    "transactions that begin before the last one is complete": Case(
        begin_too_early, 12, frozenset({"EosConcurrentTransactionsHigh"})
    ),
    "two transactions a second reach their timeout": Case(
        run_into_timeouts, 9, frozenset({"EosTransactionsTimeOut"}), ONE_BROKER
    ),
    "a new producer id with every write": Case(write_with_new_ids, 31, frozenset({"EosProducerIdsGrow"}), ONE_BROKER),
    "a follower that stands still while a thousand clients write": Case(
        wait_for_a_paused_follower,
        6,
        frozenset({"EosProduceWaits"}),
        SHAPE._replace(
            settings=SHAPE.settings
            | {
                "replica.lag.time.max.ms": "3600000",
                "broker.session.timeout.ms": "3600000",
            }
        ),
    ),
    "a broker lost": Case(lose_a_broker, 17, frozenset({"EosUnderReplicated"})),
    "two brokers lost": Case(lose_two_brokers, 3, frozenset({"EosInternalTopicUnderMinIsr"})),
    "every broker lost": Case(lose_every_broker, 7, frozenset({"EosPartitionsOffline", "EosExporterBlind"})),
    "two of three controllers lost": Case(
        lose_the_quorum, 4, frozenset({"EosNoController"}), SHAPE._replace(controller_count=3)
    ),
}


#: Recorded once among the fixtures (`tests.monitoring.incidents`); they are made again when there is time.
LONG = frozenset({"a new producer id with every write"})


@pytest.mark.parametrize("name", [name for name in FAULTS if FASTER == 1 or name not in LONG])
def test_the_right_alerts_fire(name: str, tmp_path: Path) -> None:
    fault, minutes, firing, shape = FAULTS[name]
    series = run_virtual(record(tmp_path / "cluster", shape, minutes, fault))
    assert series.count > 10
    done = prove_moments([moment_of(series, firing)], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
