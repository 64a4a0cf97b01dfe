"""A hanging transaction: data of a producer id appended after its transaction has ended.

A delayed Produce that arrives after the marker opens a transaction that the coordinator does not know, so it is never
ended, and the partition's last stable offset stays before it. Since KIP-890, brokers verify such a batch with the
coordinator and refuse it (``transaction.partition.verification.enable``, on by default since 3.6). With verification
off, every release accepts a batch in Produce 11 or lower (KAFKA-9144).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.consumer import IsolationLevel, list_offset
from eosctl.client.deadline import Deadline
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import TransactionFailed
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, ProducerIdentity, produce, wait_until_ended
from eosctl.errors import UnsupportedByBroker
from eosctl.lab.scenarios.steps.play import Step
from eosctl.model.transaction import TopicPartition
from eosctl.wire.error_codes import ErrorCode
from tests.lab.scenarios.stage.stage import ScenarioRefused, Stage, StepRecorder
from tests.lab.scenarios.stage.verification import VERIFICATION_SETTING, disable_verification

_PRODUCER: Final = "order-entry"
_LATER: Final = "another producer"
_NETWORK: Final = "the network"
# INVALID_TXN_STATE below Produce 11, TRANSACTION_ABORTABLE at 11: what a broker that verifies answers (KIP-890).
_VERIFIED: Final = frozenset({ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE})
_SETTING_SPREADS_MS: Final = 5_000
_MARKER_POLL_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class HangingReport:
    """The state of the partition afterwards.

    Attributes:
        transactional_id: The id whose transaction had ended.
        partition: The partition that hangs.
        producer: The producer of the late batch.
        first_offset: Offset of the late batch: the last stable offset stays here.
        late_record_count: Records in the late batch.
        hidden_record_count: Committed records behind it that read_committed readers cannot see.
        last_stable_offset: As the leader reports it afterwards.
        high_watermark: As the leader reports it afterwards.
        steps: All steps.
    """

    transactional_id: str
    partition: TopicPartition
    producer: ProducerIdentity
    first_offset: int
    late_record_count: int
    hidden_record_count: int
    last_stable_offset: int
    high_watermark: int
    steps: tuple[Step, ...]


async def run_hanging(
    stage: Stage,
    *,
    topic: str = "orders",
    transactional_id: str = "order-entry-late",
    late_record_count: int = 2,
    hidden_record_count: int = 5,
    switch_verification_off: bool = False,
    patience_ms: int = 0,
) -> HangingReport:
    """Append a batch of an ended transaction, and ordinary transactions behind it.

    Args:
        stage: Where to play.
        topic: Created when it does not exist.
        transactional_id: The id of the producer whose batch comes late.
        late_record_count: Records in the late batch.
        hidden_record_count: Records that other transactions commit behind it, one each.
        switch_verification_off: Set ``transaction.partition.verification.enable=false`` for the whole cluster first,
            as an administrator would; it stays off.
        patience_ms: How long to offer the late batch again while the broker still verifies: a change of the setting
            reaches the logs a moment after the broker reports it.

    Raises:
        ScenarioRefused: The broker verified the batch and refused it.
        EosctlError: The cluster cannot be reached or refuses what any producer may do.
    """
    scenario = StepRecorder(stage)
    config = replace(stage.config, client_id=f"{stage.config.client_id}-hanging")
    async with connect(config, connector=stage.connector, chance=stage.chance) as client:
        found = await ensure_topic(client, topic)
        partition = found.partitions[stage.chance.randrange(len(found.partitions))].partition
        if switch_verification_off:
            await disable_verification(client)
            scenario.did("an administrator", f"sets {VERIFICATION_SETTING}=false on all brokers")
            patience_ms = max(patience_ms, _SETTING_SPREADS_MS)

        producer = TransactionalProducer(client, transactional_id, now_ms=stage.now_ms, dialect=TV1)
        identity = await producer.init_transactions()
        await producer.send(partition, [_order("o-1")])
        late = producer.encode(partition, [_order(f"late-{number + 1}") for number in range(late_record_count)])
        scenario.did(_PRODUCER, f"writes to {partition} twice; the second batch is held up on its way")
        await producer.commit()
        await _wait_for_markers(client, partition, transactional_id)
        scenario.did(_PRODUCER, "commits; the marker is written, the coordinator's work is done")
        first_offset = await _deliver_late(client, partition, late, transactional_id, patience_ms)
        scenario.did(
            _NETWORK,
            "delivers the second batch at last",
            f"appended at offset {first_offset} for producer id {identity.producer_id}, epoch "
            f"{identity.producer_epoch}: a transaction that never ends",
        )

        await _commit_behind(client, stage, partition, transactional_id, hidden_record_count)
        scenario.did(_LATER, f"commits {hidden_record_count} transactions of one record behind it")
        last_stable_offset = await list_offset(client, partition, isolation=IsolationLevel.READ_COMMITTED)
        high_watermark = await list_offset(client, partition)
        scenario.did("read_committed readers", f"stop at offset {last_stable_offset} of {high_watermark}")
    return HangingReport(
        transactional_id,
        partition,
        identity,
        first_offset,
        late_record_count,
        hidden_record_count,
        last_stable_offset,
        high_watermark,
        tuple(scenario.steps),
    )


async def _wait_for_markers(client: Client, partition: TopicPartition, transactional_id: str) -> None:
    """Wait until a transaction has ended; before 3.0 no coordinator reports it, but the last stable offset does."""
    try:
        await wait_until_ended(client, transactional_id)
    except UnsupportedByBroker:
        while await list_offset(client, partition, isolation=IsolationLevel.READ_COMMITTED) < await list_offset(
            client, partition
        ):
            await asyncio.sleep(_MARKER_POLL_S)


async def _deliver_late(
    client: Client, partition: TopicPartition, batch: bytes, transactional_id: str, patience_ms: float
) -> int:
    deadline = Deadline.after(patience_ms)
    while True:
        try:
            return await produce(client, partition, batch, transactional_id=transactional_id, bounds=TV1.produce)
        except TransactionFailed as error:
            if error.error_code not in _VERIFIED:
                raise
            if not deadline.remaining_ms():
                raise _explain_refusal(client, partition, error) from error
        await asyncio.sleep(client.config.retry_backoff_ms / 1000)


def _explain_refusal(client: Client, partition: TopicPartition, error: TransactionFailed) -> ScenarioRefused:
    bootstrap = ",".join(map(str, client.config.bootstrap))
    return ScenarioRefused(
        f"The leader of {partition} refused the late batch ({ErrorCode(error.error_code).name}): no transaction hangs.",
        f"It asks the coordinator before it takes transactional data ({VERIFICATION_SETTING}=true, the default).",
        f"Where a hang may be made on purpose, set {VERIFICATION_SETTING}=false: kafka-configs.sh "
        f"--bootstrap-server {bootstrap} --entity-type brokers --entity-default --alter "
        f"--add-config {VERIFICATION_SETTING}=false",
    )


async def _commit_behind(
    client: Client, stage: Stage, partition: TopicPartition, transactional_id: str, count: int
) -> None:
    producer = TransactionalProducer(client, f"{transactional_id}-next", now_ms=stage.now_ms)
    await producer.init_transactions()
    for number in range(count):
        await producer.send(partition, [_order(f"o-{number + 2}")])
        await producer.commit()
    try:
        await wait_until_ended(client, producer.transactional_id)
    except UnsupportedByBroker:
        await producer.init_transactions()  # is refused until the markers are written


def _order(name: str) -> OutgoingRecord:
    return OutgoingRecord(name.encode(), b'{"order": "%s", "cents": 100}' % name.encode())
