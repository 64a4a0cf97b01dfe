"""Steps of producers, consumers, and administrators."""

from __future__ import annotations

import asyncio
from typing import Any

from eosctl.client import Role
from eosctl.client.consumer import list_offset
from eosctl.client.deadline import Deadline
from eosctl.client.destinations import group_coordinator
from eosctl.client.offsets import committed_offsets
from eosctl.client.outcome import any_error, error_for_code
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import TransactionFailed
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import (
    TV1,
    TV2,
    GroupIdentity,
    OffsetToCommit,
    end_txn,
    produce,
    produce_unacknowledged,
    wait_until_ended,
)
from eosctl.errors import UsageError
from eosctl.lab.scenarios.steps.faults import broker_named
from eosctl.lab.scenarios.steps.play import HeldBatch, Play, partition_of
from eosctl.sandbox.faults.order import parse_ms
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record

_LEVELS = {"auto": None, "tv1": TV1, "tv2": TV2}
_TOPIC, _BROKER, _SET = 2, 4, 0
# INVALID_TXN_STATE below Produce 11, TRANSACTION_ABORTABLE at 11: errors of a broker with verification (KIP-890).
_VERIFIED = {ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE}
_COORDINATOR_AGAIN = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}


async def topic(
    play: Play, *, name: str, partitions: int = 1, replicas: int | None = None, settings: dict[str, str] | None = None
) -> None:
    """Create a topic. Existing records of the topic are ignored later."""
    found = await ensure_topic(
        play.client, name, partition_count=partitions, replica_count=replicas, settings=dict(settings or {})
    )
    play.starts |= {each.partition: await list_offset(play.client, each.partition) for each in found.partitions}


async def client(play: Play, *, name: str, reaches: list[str], gives_up: str | None = None) -> None:
    """Start a client whose network has only these brokers: `{leader:orders}` and the like, as in a `fault`.

    Args:
        play: The run.
        name: Its name, for `by`.
        reaches: The brokers; it sees what these know, also while they are cut off from the others.
        gives_up: How long it retries.
    """
    nodes = [await broker_named(play, each) for each in reaches]
    known = {broker.node_id: broker.endpoint for broker in play.client.cluster.brokers}
    deadline_ms = None if gives_up is None else int(parse_ms(gives_up))
    reachable = frozenset(known[node] for node in nodes)
    play.others[name] = await play.open_client(name, deadline_ms=deadline_ms, reachable=reachable)


async def producer(
    play: Play, *, name: str, id: str, level: str = "auto", timeout: str = "60s", patience: str | None = None
) -> None:
    """Start a transactional producer with a separate client, and initialize it; `patience` limits its requests."""
    if level not in _LEVELS:
        raise UsageError(f"There is no level {level!r}.", f"There are: {', '.join(_LEVELS)}.", "Choose one.")
    client = await play.open_client(name, None if patience is None else int(parse_ms(patience)))
    made = TransactionalProducer(
        client, id, now_ms=play.engine.now_ms, transaction_timeout_ms=int(parse_ms(timeout)), dialect=_LEVELS[level]
    )
    play.producers[name], play.producer_clients[name] = made, client
    await made.init_transactions()


async def init(play: Play, *, by: str) -> None:
    """Initialize a producer again: its epoch is bumped, its open transaction aborted."""
    await play.producer(by).init_transactions()


async def init_until(play: Play, *, by: str, epoch: int) -> None:
    """Initialize a producer until its epoch has a value."""
    while play.producer(by).identity.producer_epoch < epoch:
        await play.producer(by).init_transactions()


async def new_producers(play: Play, *, count: int) -> None:
    """Initialize several producers, each with its own transactional id."""
    client = await play.open_client("many", 1_000)
    for number in range(count):
        name = f"new-{play.chance.getrandbits(40):x}-{number}"
        await TransactionalProducer(client, name, now_ms=play.engine.now_ms).init_transactions()


async def send(play: Play, *, by: str, to: str, values: list[str], key: str | None = None) -> None:
    """Write records in the open transaction as one batch; add the partition first if the level requires it."""
    await play.producer(by).send(partition_of(to), _records(values, key))


async def write_undeclared(play: Play, *, by: str, to: str, values: list[str]) -> None:
    """Write records in the open transaction without adding the partition."""
    await play.producer(by).write(partition_of(to), _records(values))


async def hold(play: Play, *, by: str, to: str, values: list[str], name: str) -> None:
    """Hold a batch of the open transaction back."""
    made = play.producer(by)
    data = made.encode(partition_of(to), _records(values))
    play.held[name] = HeldBatch(partition_of(to), made.transactional_id, data)


async def deliver(play: Play, *, batch: str, level: str = "tv1", within: str = "0s") -> None:
    """Deliver a held batch unchanged.

    Args:
        play: The run.
        batch: Its name.
        level: The protocol level of the request.
        within: How long to retry while the broker verifies, since a changed setting takes a moment to apply.
    """
    if batch not in play.held:
        raise UsageError(f"No batch {batch!r} is held back.", "A step 'hold' creates one.", "Fix the scenario.")
    held = play.held[batch]
    bounds = (TV2 if level == "tv2" else TV1).produce
    deadline = Deadline.after(parse_ms(within))
    while True:
        try:
            id = held.transactional_id
            await produce(play.client, held.partition, held.data, transactional_id=id, bounds=bounds)
            return
        except TransactionFailed as error:
            if error.error_code not in _VERIFIED or not deadline.remaining_ms():
                raise
        await asyncio.sleep(play.client.config.retry_backoff_ms / 1000)


async def lose(play: Play, *, by: str, to: str, records: int) -> None:
    """Drop a producer's records, so that its next batch has a sequence gap."""
    play.producer(by).lose(partition_of(to), records)


async def plain(
    play: Play, *, to: str, values: list[str], by: str = "", acks: int = -1, gives_up: str | None = None
) -> None:
    """Write records without an id and a transaction.

    Args:
        play: The run.
        to: The partition.
        values: The records' values.
        by: A client of the step `client`; without it, one that reaches every broker.
        acks: As the producer's setting; with 0, the step succeeds when the records are sent.
        gives_up: How long to retry.
    """
    now_ms = play.engine.now_ms()
    data = encode_batch([Record(0, now_ms, *record) for record in _records(values)])
    sender = play.client_of(by)
    if gives_up is not None:
        sender = await play.open_client("hasty", deadline_ms=int(parse_ms(gives_up)))
    if acks == 0:
        await produce_unacknowledged(sender, partition_of(to), data)
    else:
        await produce(sender, partition_of(to), data, transactional_id=None, bounds=TV1.produce, acks=acks)


async def offsets(play: Play, *, by: str, group: str, of: str, at: int, member: str = "") -> None:
    """Commit a group's offset in the open transaction, as a `member` of its last generation or without member."""
    identity = play.member(member).identity if member else GroupIdentity(group)
    await play.producer(by).send_offsets(identity, {partition_of(of): OffsetToCommit(at)})


async def commit_offset(play: Play, *, group: str, of: str, at: int) -> None:
    """Commit a group's offset outside of a transaction."""
    partition = partition_of(of)
    topics = [
        OffsetCommitRequestTopic(partition.topic, partitions=[OffsetCommitRequestPartition(partition.partition, at)])
    ]
    response = await play.client.request(
        group_coordinator(group),
        ApiKey.OFFSET_COMMIT,
        OffsetCommitRequest(group, topics=topics),
        cap=8,
        retry_on=_COORDINATOR_AGAIN,
        error_of=any_error,
    )
    code = any_error(response)
    if code:
        raise error_for_code(code, f"OffsetCommit of {group}")


async def commit(play: Play, *, by: str) -> None:
    """Commit the transaction unconditionally."""
    await play.producer(by).end(committed=True)


async def abort(play: Play, *, by: str) -> None:
    """Abort the transaction unconditionally."""
    await play.producer(by).end(committed=False)


async def commit_as_before(play: Play, *, by: str) -> None:
    """Send a TV1 producer's EndTxn with its present identity, again or too early."""
    client, made = play.producer_clients[by], play.producer(by)
    await end_txn(client, made.identity, committed=True, dialect=TV1)


async def wait_ended(play: Play, *, id: str) -> None:
    """Wait until the transaction of an id has all its markers."""
    await wait_until_ended(play.client, id)


async def copy(play: Play, *, by: str, source: str, to: str, group: str, fails: bool = False) -> None:
    """Consume, transform, and produce once: copy a group's new records and its offset in one transaction.

    Args:
        play: The run.
        by: The producer.
        source: The input (committed records only).
        to: The output, in capitals.
        group: The group.
        fails: Whether the application fails before the commit and aborts.
    """
    from eosctl.client.consumer import IsolationLevel, Reader

    partition = partition_of(source)
    position = (await committed_offsets(play.client, group, [partition]))[partition] or 0
    reader = Reader(play.client, IsolationLevel.READ_COMMITTED, {partition: position})
    found = (await reader.poll(max_wait_ms=500)).get(partition, ())
    values = [(record.value or b"").decode().upper() for record in found]
    made = play.producer(by)
    if values:
        await made.send(partition_of(to), _records(values))
        await made.send_offsets(GroupIdentity(group), {partition: OffsetToCommit(found[-1].offset + 1)})
    await (made.abort() if fails else made.commit())


async def set_topic(play: Play, *, name: str, settings: dict[str, str]) -> None:
    """Change settings of a topic."""
    await _alter(play, _TOPIC, name, settings)


async def set_brokers(play: Play, *, settings: dict[str, str]) -> None:
    """Change dynamic settings of all brokers."""
    await _alter(play, _BROKER, "", settings)


async def delete_records(play: Play, *, of: str, before: int) -> None:
    """Delete records, as retention does."""
    partition = partition_of(of)
    topics = [DeleteRecordsTopic(partition.topic, [DeleteRecordsPartition(partition.partition, before)])]
    response = await play.client.request(partition, ApiKey.DELETE_RECORDS, DeleteRecordsRequest(topics, 10_000))
    code = any_error(response)
    if code:
        raise error_for_code(code, f"DeleteRecords of {partition}")


async def _alter(play: Play, kind: int, name: str, settings: dict[str, str]) -> None:
    changes = [AlterableConfig(key, _SET, value) for key, value in settings.items()]
    request: Any = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, changes)])
    code = any_error(await play.client.request(Role.CONTROLLER, ApiKey.INCREMENTAL_ALTER_CONFIGS, request))
    if code:
        raise error_for_code(code, f"Setting {', '.join(settings)}")


def _records(values: list[str], key: str | None = None) -> list[OutgoingRecord]:
    return [OutgoingRecord(None if key is None else key.encode(), value.encode()) for value in values]
