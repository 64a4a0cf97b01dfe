"""Two producers, one transactional id: the second fences the first in the middle of its transaction."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import TransactionFailed
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, ProducerIdentity, TransactionDialect, wait_until_ended
from eosctl.errors import EosctlError
from eosctl.lab.scenarios.steps.play import Step
from eosctl.model.transaction import TopicPartition
from eosctl.wire.error_codes import ErrorCode
from tests.lab.scenarios.stage.stage import Refusal, Stage, StepRecorder

FIRST: Final = "first instance"
SECOND: Final = "second instance"


@dataclass(frozen=True, slots=True)
class ZombieReport:
    """The fate of the two producers.

    Attributes:
        transactional_id: The id that both use.
        partition: Where they wrote.
        zombie: The first producer as it was when it was fenced.
        successor: The second producer when it took over.
        aborted_first_offset: Offset of the first record of the zombie's open transaction.
        aborted_record_count: How many records the takeover aborted.
        committed_offset: Offset of the successor's committed record.
        refusals: The cluster's responses to the zombie's next requests.
        steps: All steps.
    """

    transactional_id: str
    partition: TopicPartition
    zombie: ProducerIdentity
    successor: ProducerIdentity
    aborted_first_offset: int
    aborted_record_count: int
    committed_offset: int
    refusals: tuple[Refusal, ...]
    steps: tuple[Step, ...]


async def run_zombie(
    stage: Stage,
    *,
    topic: str = "payments",
    transactional_id: str = "payment-service",
    record_count: int = 3,
    dialect: TransactionDialect | None = TV1,
) -> ZombieReport:
    """Let a second producer take over in the middle of the first one's transaction.

    Args:
        stage: Where to play.
        topic: Created when it does not exist.
        transactional_id: The id that both producers use.
        record_count: Records in the transaction that is cut off.
        dialect: The protocol level of both; TV1 is what librdkafka speaks to every broker, None is what the cluster
            has finalized.

    Raises:
        EosctlError: The cluster cannot be reached or refuses what any producer may do.
    """
    scenario = StepRecorder(stage)
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(_client(stage, name)) for name in ("zombie", "successor")]
        found = await ensure_topic(clients[0], topic)
        partition = found.partitions[stage.chance.randrange(len(found.partitions))].partition
        first, second = (
            TransactionalProducer(client, transactional_id, now_ms=stage.now_ms, dialect=dialect) for client in clients
        )
        zombie = await first.init_transactions()
        scenario.did(FIRST, "initializes", _identity_text(zombie))
        await first.send(partition, [_payment(0)])
        zombie = await first.commit()
        scenario.did(FIRST, "commits a first transaction")
        open_offset = await first.send(partition, [_payment(number + 1) for number in range(record_count)])
        scenario.did(FIRST, f"writes {record_count} records to {partition} and pauses before it commits")

        successor = await second.init_transactions()
        scenario.did(SECOND, "initializes with the same transactional.id", _identity_text(successor))

        refusals = [
            await _refused(f"Produce to {partition}", first.write(partition, [_payment(98)])),
            await _refused("EndTxn (commit)", first.end(committed=True)),
        ]
        for refusal in refusals:
            scenario.did(FIRST, f"wakes up and sends {refusal.request}", refusal.error.name)
        committed_offset = await second.send(partition, [_payment(99)])
        await second.commit()
        await wait_until_ended(clients[1], transactional_id)
        scenario.did(SECOND, "writes and commits a transaction of its own")
    return ZombieReport(
        transactional_id,
        partition,
        zombie,
        successor,
        open_offset,
        record_count,
        committed_offset,
        tuple(refusals),
        tuple(scenario.steps),
    )


def _client(stage: Stage, name: str) -> AbstractAsyncContextManager[Client]:
    config = replace(stage.config, client_id=f"{stage.config.client_id}-{name}")
    return connect(config, connector=stage.connector, chance=stage.chance)


async def _refused(request: str, attempt: Awaitable[object]) -> Refusal:
    try:
        await attempt
    except TransactionFailed as error:
        return Refusal(request, ErrorCode(error.error_code))
    raise EosctlError(
        f"The fenced producer's {request} was accepted.",
        "A cluster that lets a zombie go on does not keep exactly-once.",
        "Check what answers at this address: Kafka refuses this with INVALID_PRODUCER_EPOCH or PRODUCER_FENCED.",
    )


def _payment(number: int) -> OutgoingRecord:
    return OutgoingRecord(f"payment-{number}".encode(), b'{"cents": %d}' % (100 + number))


def _identity_text(identity: ProducerIdentity) -> str:
    return f"producer id {identity.producer_id}, epoch {identity.producer_epoch}"
