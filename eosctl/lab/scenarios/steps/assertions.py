"""Assertions of scenarios: each queries the cluster and records the expected and the observed value."""

from __future__ import annotations

from typing import Any

from eosctl.client.consumer import IsolationLevel, Reader, list_offset
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.offsets import committed_offsets
from eosctl.client.outcome import Failure, any_error
from eosctl.errors import BrokerError
from eosctl.lab.scenarios.steps.judging import judge
from eosctl.lab.scenarios.steps.play import Play, partition_of
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_transactions import DescribeTransactionsRequest
from eosctl.wire.messages.list_transactions import ListTransactionsRequest

_UNTIL_A_SUCCESSOR = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.REQUEST_TIMED_OUT,
}
_ISOLATIONS = {"committed": IsolationLevel.READ_COMMITTED, "uncommitted": IsolationLevel.READ_UNCOMMITTED}


async def sees(play: Play, *, of: str, values: list[str], isolation: str = "committed", by: str = "") -> None:
    """Assert that consumers of a partition read exactly these values, in this order; `by` a client, or by any."""
    partition, reads = partition_of(of), play.client_of(by)
    start = play.starts.get(partition, 0)
    if start:
        reader = Reader(reads, _ISOLATIONS[isolation], {partition: start})
    else:
        reader = await Reader.open(reads, [partition], isolation=_ISOLATIONS[isolation])
    records = (await reader.drain(20_000)).get(partition, [])
    who = f"read_{isolation} readers of {of}" + (f" through {by}" if by else "")
    play.expect(f"{who} see", values, [(record.value or b"").decode() for record in records])


async def position(play: Play, *, group: str, of: str, at: int | None = None, unstable: bool = False) -> None:
    """Assert a group's stable offset, that it has none, or that an open transaction holds it back (`unstable`)."""
    partition = partition_of(of)
    seen: object
    try:
        patient = await play.open_client("asking", None)
        if unstable:
            play.expect(f"the offset of {group} in {of} is", "unstable", await _unstable(play, group, of))
            return
        seen = (await committed_offsets(patient, group, [partition]))[partition]
    except BrokerError as error:
        seen = ErrorCode(error.error_code).name
    play.expect(f"the offset of {group} in {of} is", at, seen)


async def _unstable(play: Play, group: str, of: str) -> str:
    from msgspec.structs import replace

    from eosctl.client import connect

    config = replace(play.engine.config, timeout_ms=500)
    async with connect(config, connector=play.engine.connector, chance=play.chance) as client:
        try:
            found = (await committed_offsets(client, group, [partition_of(of)]))[partition_of(of)]
        except BrokerError as error:
            unstable = error.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
            return "unstable" if unstable else ErrorCode(error.error_code).name
    return f"stable at {found}"


async def state(play: Play, *, id: str, now: str) -> None:
    """Assert the state of an id in its coordinator."""
    seen = await _describe(play, id)
    play.expect(f"{id} is in", now, seen.transaction_state if seen is not None else "no state")


async def epoch(play: Play, *, id: str, at: int, of_producer: str = "") -> None:
    """Assert the epoch of an id; with `of_producer`, relative to the epoch that the producer has."""
    seen = await _describe(play, id)
    base = play.producer(of_producer).identity.producer_epoch if of_producer else 0
    what = f"the epoch of {id} is above that of {of_producer} by" if of_producer else f"the epoch of {id} is"
    play.expect(what, at, None if seen is None else seen.producer_epoch - base)


async def new_producer_id(play: Play, *, id: str, than: str) -> None:
    """Assert that an id has another producer id than the producer."""
    seen = await _describe(play, id)
    other = seen is not None and seen.producer_id != play.producer(than).identity.producer_id
    play.expect(f"the producer id of {id} is another than that of {than}", True, other)


async def ids(play: Play, *, prefix: str, count: int) -> None:
    """Assert the number of transactional ids with a prefix in the coordinators."""
    brokers = [broker.node_id for broker in play.client.cluster.brokers]
    answers = await play.client.fan_out(brokers, ApiKey.LIST_TRANSACTIONS, lambda _: ListTransactionsRequest([], []))
    found = {
        each.transactional_id
        for answer in answers.values()
        if not isinstance(answer, Failure)
        for each in answer.transaction_states
        if each.transactional_id.startswith(prefix)
    }
    play.expect(f"transactional ids that begin with {prefix}", count, len(found))


async def stable_until(play: Play, *, of: str, hidden: int) -> None:
    """Assert the number of offsets at the end of a partition beyond its last stable offset."""
    partition = partition_of(of)
    stable = await list_offset(play.client, partition, isolation=IsolationLevel.READ_COMMITTED)
    end = await list_offset(play.client, partition)
    play.expect(f"offsets of {of} behind the last stable one", hidden, end - stable)


async def restored(play: Play, *, application: str, start: str, records: int) -> None:
    """Assert what an application's last process did with its store, and how many changelog records it read."""
    view = play.restored.get(application)
    seen = "nothing" if view is None else f"{view.start.value}, {view.restored_count} read"
    play.expect(f"what {application} did with its store", f"{start}, {records} read", seen)


async def counts(play: Play, *, application: str, words: dict[str, int]) -> None:
    """Assert the content of a Streams application's store after its restoration."""
    view = play.restored.get(application)
    play.expect(f"the restored store of {application} has", words, None if view is None else dict(view.content))


async def doctor(play: Play, *, fire: list[str] | None = None, silent: list[str] | None = None) -> None:
    """Assert that checks of `eosctl doctor` have findings now, or none."""
    await judge(play, fire or (), silent or ())


async def _describe(play: Play, transactional_id: str) -> Any | None:
    response = await play.client.request(
        transaction_coordinator(transactional_id),
        ApiKey.DESCRIBE_TRANSACTIONS,
        DescribeTransactionsRequest([transactional_id]),
        retry_on=_UNTIL_A_SUCCESSOR,
        error_of=any_error,
    )
    found = response.transaction_states[0]
    return found if found.error_code == ErrorCode.NONE else None
