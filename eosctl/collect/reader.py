"""Query a cluster without changing it, and convert errors to evidence gaps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Generic, NamedTuple, Protocol, TypeVar, cast

from eosctl.client.deadline import Deadline
from eosctl.client.destinations import FORWARDED
from eosctl.client.outcome import Failure, failure_for_code, failure_for_error
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.steps import Steps
from eosctl.errors import AuthenticationFailed, ClusterUnreachable, EosctlError, RequestTimedOut
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.request import Answer, Request

REQUESTS_IN_FLIGHT_PER_BROKER: Final = 2

T = TypeVar("T")

_NEXT_STEPS: Final = {
    GapReason.NOT_AUTHORIZED: "Grant the permission, or run as a principal that has it.",
    GapReason.LOADING: "Try again in a moment; the coordinator is loading its log.",
    GapReason.TIMED_OUT: "Try again with a longer --timeout.",
    GapReason.UNREACHABLE: "Check that the broker runs and that this host reaches it.",
    GapReason.NO_LEADER: "Bring a replica of the partition back.",
    GapReason.UNSUPPORTED: "A newer broker release serves this request.",
}
_ON_CLUSTER: Final = "Describe on the cluster"
_READ_TOPICS: Final = "Read on topic '*'"
_RIGHTS: Final = {
    EvidenceKind.ACCESS_RULES: _ON_CLUSTER,
    EvidenceKind.QUORUM: _ON_CLUSTER,
    EvidenceKind.REASSIGNMENTS: _ON_CLUSTER,
    EvidenceKind.LOG_DIRS: _ON_CLUSTER,
    EvidenceKind.BROKER_CONFIGS: "DescribeConfigs on the cluster",
    EvidenceKind.CLIENT_QUOTAS: "DescribeConfigs on the cluster",
    EvidenceKind.TOPICS: _READ_TOPICS,
    EvidenceKind.TOPIC_CONFIGS: "DescribeConfigs on topic '*'",
    EvidenceKind.OFFSETS: _READ_TOPICS,
    EvidenceKind.PRODUCERS: _READ_TOPICS,
    EvidenceKind.TRANSACTION_HISTORY: _READ_TOPICS,
    EvidenceKind.ABORTED_RANGES: _READ_TOPICS,
    EvidenceKind.HIDDEN_RECORDS: _READ_TOPICS,
    EvidenceKind.READABLE_RECORDS: _READ_TOPICS,
    EvidenceKind.PENDING_OFFSETS: _READ_TOPICS,
    EvidenceKind.SHARE_STATE: _READ_TOPICS,
    EvidenceKind.TRANSACTIONS: "Describe on transactional id '*'",
    EvidenceKind.GROUPS: "Describe on group '*'",
    EvidenceKind.GROUP_OFFSETS: "Describe on group '*'",
    EvidenceKind.REBALANCES: "Describe on group '*'",
}
"""The right that each kind of evidence needs (analysis.own_access)."""
# KIP-664; ListTransactions and DescribeTransactions were added after DescribeProducers.
_SINCE: Final = {
    EvidenceKind.TRANSACTIONS: "Coordinators list their transactions since Kafka 3.0.",
    EvidenceKind.PRODUCERS: "Leaders describe the producers of their partitions since Kafka 2.8.",
}


class Asks(Protocol):
    """The client interface for collecting; both methods raise `EosctlError` without a response."""

    async def request(
        self, node_id: int, api_key: ApiKey, message: Request[Answer], *, cap: int | None = None
    ) -> Answer:
        """Send a request to a broker, in at most version `cap`, and return its response."""

    async def request_any(self, api_key: ApiKey, message: Request[Answer]) -> Answer:
        """Send a request that any broker can handle to the first one that responds."""


class Probed(NamedTuple, Generic[T]):
    """The results of a probe, and its gaps."""

    value: T
    gaps: tuple[EvidenceGap, ...] = ()


class Memory:
    """What was made of answers in the last reading, for a client that returns unchanged answers as the same objects."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[object, object]] = {}
        self._last: dict[int, tuple[object, object]] = {}

    def begin(self) -> None:
        """Begin a reading: what the last one did not use is dropped."""
        self._last, self._kept = self._kept, {}

    def derived(self, answer: object, make: Callable[[], T]) -> T:
        """Return what was made of an answer; make it if that answer is new."""
        place = id(answer)  # Kept with the answer itself, so that no other object gets this id.
        found = self._kept.get(place) or self._last.get(place)
        if found is None:
            found = answer, make()
        self._kept[place] = found
        return cast(T, found[1])


class ReadOnly:
    """A client that sends only the requests of `READ_ONLY_APIS`, with limited concurrency per broker.

    A broker that is unreachable, rejects this client, or does not answer in time is not tried again: later requests to
    it fail immediately with the same error, so that it costs one timeout in total.

    Args:
        client: Sends the requests.
        deadline: The end of the collection; requests fail from then on. None for no limit.
        memory: What was made of the answers of earlier collections; None to make everything.

    Attributes:
        steps: Counts the requests; None for nothing.
    """

    def __init__(self, client: Asks, deadline: Deadline | None = None, memory: Memory | None = None) -> None:
        self._client = client
        self._memory = memory
        self._deadline = deadline
        self._lanes: dict[int, asyncio.Semaphore] = {}
        self._lost: dict[int, EosctlError] = {}
        self.steps: Steps | None = None

    async def request(
        self, node_id: int, api_key: ApiKey, message: Request[Answer], *, cap: int | None = None
    ) -> Answer:
        """Send a read request to a broker.

        Raises:
            AssertionError: The API is not on the list: a bug in a probe.
            EosctlError: As raised by the client.
        """
        _check_allowed(api_key)
        lane = self._lanes.setdefault(node_id, asyncio.Semaphore(REQUESTS_IN_FLIGHT_PER_BROKER))
        with self._counted():
            async with lane:
                if node_id in self._lost:
                    raise self._lost[node_id]
                try:
                    return await self._in_time(self._client.request(node_id, api_key, message, cap=cap))
                except (AuthenticationFailed, ClusterUnreachable, RequestTimedOut) as error:
                    if api_key not in FORWARDED or not isinstance(error, RequestTimedOut):
                        self._lost[node_id] = error
                    raise

    async def request_any(self, api_key: ApiKey, message: Request[Answer]) -> Answer:
        """Send a read request to the first broker that responds.

        Raises:
            EosctlError: As for `request`.
        """
        _check_allowed(api_key)
        with self._counted():
            return await self._in_time(self._client.request_any(api_key, message))

    @contextmanager
    def _counted(self) -> Iterator[None]:
        steps = self.steps
        number = 0 if steps is None else steps.plan()
        try:
            yield
        finally:
            if steps is not None:
                steps.answer(number)

    def derived(self, answer: object, make: Callable[[], T]) -> T:
        """Return what a function of an answer, and of its request, returns; called again only for a new answer."""
        return make() if self._memory is None else self._memory.derived(answer, make)

    async def pause(self, seconds: float) -> bool:
        """Sleep, but not beyond the deadline; return whether time is left for further requests."""
        if self._deadline is None:
            await asyncio.sleep(seconds)
            return True
        await asyncio.sleep(min(seconds, self._deadline.remaining_ms() / 1000))
        return self._deadline.remaining_ms() > 0

    async def _in_time(self, answer: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout_at(None if self._deadline is None else self._deadline.at):
                return await answer
        except TimeoutError:
            raise RequestTimedOut(
                "The time for the whole command was over before this was answered.",
                "Brokers are slow or paused, or the cluster is large.",
                "Try again with a longer --timeout.",
            ) from None


def _check_allowed(api_key: ApiKey) -> None:
    if api_key not in READ_ONLY_APIS:
        raise AssertionError(f"{api_key.name} is not a request that collecting may send")


def gap_without_leader(kind: EvidenceKind, partition: TopicPartition) -> EvidenceGap:
    """Return the gap of a partition without a leader."""
    return EvidenceGap(kind, str(partition), GapReason.NO_LEADER, next_step=_NEXT_STEPS[GapReason.NO_LEADER])


def gap_from_failure(kind: EvidenceKind, subject: str, failure: Failure, detail: str = "") -> EvidenceGap:
    """Convert a failed request to a gap."""
    error = "" if failure.error_code is ErrorCode.NONE else failure.error_code.name
    next_step = failure.error.next_step or _NEXT_STEPS.get(failure.reason, "")
    if failure.reason is GapReason.NOT_AUTHORIZED and kind in _RIGHTS:
        next_step = f"Grant {_RIGHTS[kind]}; eosctl check acl doctor prints the commands."
    if failure.reason is GapReason.UNSUPPORTED:
        next_step = _SINCE.get(kind, next_step)
    return EvidenceGap(
        kind=kind,
        subject=subject,
        reason=failure.reason,
        error=error,
        detail=detail or failure.error.what,
        next_step=next_step,
    )


def gap_from_code(kind: EvidenceKind, subject: str, code: int, detail: str = "") -> EvidenceGap:
    """Convert an error code in a broker's response to a gap."""
    return gap_from_failure(kind, subject, failure_for_code(code, subject, detail or None), detail)


async def attempt(
    kind: EvidenceKind, subject: str, ask: Callable[[], Awaitable[T]]
) -> tuple[T | None, tuple[EvidenceGap, ...]]:
    """Run a request; return a gap and None for a failure."""
    try:
        return await ask(), ()
    except EosctlError as error:
        return None, (gap_from_failure(kind, subject, failure_for_error(error)),)


def in_batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Split a sequence to limit the size of requests."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
