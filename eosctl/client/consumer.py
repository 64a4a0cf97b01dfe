"""Read partitions without a group: offsets and records under either isolation level."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from eosctl.client.client import Client
from eosctl.client.deadline import Deadline
from eosctl.client.outcome import any_error, error_for_code
from eosctl.client.visibility import AbortedRange, visible_batches
from eosctl.errors import BrokerError, DecodeError
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from eosctl.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from eosctl.wire.records.record import Record

LATEST: Final = -1
EARLIEST: Final = -2

# Version 13 uses topic ids; this reader uses names.
_FETCH_CAP: Final = 12
#: How often a throttled fetch is repeated: the quota allows more data after one of its windows of a second each.
_MOST_THROTTLED: Final = 20
_AGAIN: Final = frozenset({ErrorCode.OFFSET_NOT_AVAILABLE, ErrorCode.NETWORK_EXCEPTION, ErrorCode.REQUEST_TIMED_OUT})


class IsolationLevel(IntEnum):
    """`isolation.level` of a consumer."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class FetchedRecords(NamedTuple):
    """The result of fetching a partition.

    `next_offset` is the next fetch offset, after control records and aborted data. `last_stable_offset` limits
    read_committed readers; it is -1 below Fetch 4.
    """

    partition: TopicPartition
    records: tuple[Record, ...]
    next_offset: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int


async def list_offset(
    client: Client,
    partition: TopicPartition,
    timestamp: int = LATEST,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> int:
    """Return an offset of a partition: LATEST (the last stable one for READ_COMMITTED), EARLIEST, or by timestamp.

    Args:
        client: The client.
        partition: The partition.
        timestamp: LATEST, EARLIEST, or ms since the epoch for the first record not older than that (-1 without one).
        isolation: Determines the meaning of LATEST.
    """
    asked = [ListOffsetsPartition(partition.partition, timestamp=timestamp)]
    request = ListOffsetsRequest(-1, isolation, [ListOffsetsTopic(partition.topic, asked)])
    # Version 1 is the first that returns a single offset; isolation levels exist from version 2.
    response = await client.request(
        partition, ApiKey.LIST_OFFSETS, request, floor=1 + isolation, retry_on=_AGAIN, error_of=any_error
    )
    answer = response.topics[0].partitions[0]
    if answer.error_code:
        raise error_for_code(answer.error_code, f"ListOffsets of {partition}", api_key=ApiKey.LIST_OFFSETS)
    return int(answer.offset)


async def fetch(
    client: Client,
    partition: TopicPartition,
    offset: int,
    *,
    isolation: IsolationLevel = IsolationLevel.READ_COMMITTED,
    max_wait_ms: int = 0,
    max_bytes: int = 1024 * 1024,
) -> FetchedRecords:
    """Fetch once from a partition's leader.

    Args:
        client: The client.
        partition: The partition.
        offset: First offset.
        isolation: Whether to return records of open and aborted transactions.
        max_wait_ms: Maximum time for which the broker waits for the first byte.
        max_bytes: Maximum number of bytes; one batch is returned even if it is larger.

    Raises:
        BrokerError: The leader returned an error, e.g. OFFSET_OUT_OF_RANGE.
        DecodeError: A batch is damaged.
    """
    asked = [FetchPartition(partition.partition, fetch_offset=offset, partition_max_bytes=max_bytes)]
    request = FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=max_bytes,
        isolation_level=isolation,
        topics=[FetchTopic(partition.topic, partitions=asked)],
    )
    response = await unthrottled(
        lambda: client.request(
            partition, ApiKey.FETCH, request, floor=4, cap=_FETCH_CAP, retry_on=_AGAIN, error_of=any_error
        )
    )
    if response.error_code:
        raise error_for_code(response.error_code, f"Fetch of {partition}", api_key=ApiKey.FETCH)
    if is_throttled(response):
        raise BrokerError(f"Fetch of {partition} returned no data.", THROTTLED, "Raise the quota of this client.")
    answer = response.responses[0].partitions[0]
    if answer.error_code:
        raise error_for_code(answer.error_code, f"Fetch of {partition} at offset {offset}", api_key=ApiKey.FETCH)
    return _parse(partition, offset, answer, isolation)


THROTTLED: Final = "A quota throttles this client: the broker answers its fetches without data."


def is_throttled(response: FetchResponse) -> bool:
    """Return whether a broker left out all data because of a quota of the client (KIP-219)."""
    return response.throttle_time_ms > 0 and not response.responses and not response.error_code


async def unthrottled(ask: Callable[[], Awaitable[FetchResponse]]) -> FetchResponse:
    """Ask again while a quota empties the response, and return the first other one, or the last.

    The broker reads nothing from the connection during the throttle time, so asking again waits for its end.
    """
    response = await ask()
    for _ in range(_MOST_THROTTLED):
        if not is_throttled(response):
            break
        response = await ask()
    return response


def _parse(partition: TopicPartition, offset: int, answer: Any, isolation: IsolationLevel) -> FetchedRecords:
    aborted = None
    if isolation is IsolationLevel.READ_COMMITTED:
        aborted = [AbortedRange(found.first_offset, found.producer_id) for found in answer.aborted_transactions or ()]
    records: list[Record] = []
    next_offset = offset
    try:
        for batch in visible_batches(answer.records or b"", offset, aborted):
            records += batch.records
            next_offset = batch.next_offset
    except WireError as error:
        raise DecodeError(
            f"{partition} holds a damaged batch after offset {next_offset}: {error}.",
            "The leader sent it as it stands in its log.",
            "Check the broker's disk and the other replicas.",
        ) from error
    return FetchedRecords(
        partition=partition,
        records=tuple(records),
        next_offset=next_offset,
        high_watermark=answer.high_watermark,
        last_stable_offset=answer.last_stable_offset,
        log_start_offset=answer.log_start_offset,
    )


@dataclass(slots=True)
class Reader:
    """Reads a set of partitions from tracked positions, without a group and without commits.

    Args:
        client: A separate client if reads wait for data, since other requests queue behind them.
        isolation: Whether to return records of open and aborted transactions.
    """

    client: Client
    isolation: IsolationLevel
    positions: dict[TopicPartition, int]

    @classmethod
    async def open(
        cls,
        client: Client,
        partitions: Iterable[TopicPartition],
        *,
        isolation: IsolationLevel = IsolationLevel.READ_COMMITTED,
        start: int = EARLIEST,
    ) -> Reader:
        """Return a reader at the EARLIEST or LATEST offset of every partition."""
        return cls(client, isolation, {p: await list_offset(client, p, start, isolation) for p in partitions})

    async def poll(self, max_wait_ms: int = 0) -> dict[TopicPartition, tuple[Record, ...]]:
        """Fetch once from every partition and return the new records; omit partitions without records."""
        found: dict[TopicPartition, tuple[Record, ...]] = {}
        for partition, offset in self.positions.items():
            fetched = await fetch(
                self.client, partition, offset, isolation=self.isolation, max_wait_ms=max_wait_ms if not found else 0
            )
            self.positions[partition] = fetched.next_offset
            if fetched.records:
                found[partition] = fetched.records
        return found

    async def drain(self, timeout_ms: float) -> dict[TopicPartition, list[Record]]:
        """Read every partition up to its current end.

        Raises:
            BrokerError: The ends were not reached in time because of an open transaction.
        """
        deadline = Deadline.after(timeout_ms)
        ends = {p: await list_offset(self.client, p, LATEST, self.isolation) for p in self.positions}
        found: dict[TopicPartition, list[Record]] = defaultdict(list)
        while behind := [p for p, end in ends.items() if self.positions[p] < end]:
            if not deadline.remaining_ms():
                raise BrokerError(
                    f"{_names(behind)} could not be read to the end within {timeout_ms:.0f} ms.",
                    "An open transaction may hold readers of committed records back, or there is more than fits.",
                    "Look for open transactions: eosctl txn hanging. Then allow more time.",
                )
            before = dict(self.positions)
            for partition, records in (await self.poll(max_wait_ms=100)).items():
                found[partition] += records
            if self.positions == before:
                await asyncio.sleep(self.client.config.retry_backoff_ms / 1000)
        return dict(found)


def _names(partitions: Sequence[TopicPartition]) -> str:
    return ", ".join(map(str, partitions))
