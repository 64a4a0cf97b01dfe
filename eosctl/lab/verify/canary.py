"""A small continuous workload that writes, reads, and checks in rounds, with metrics for Prometheus.

Memory is bounded: only the numbers and the last identity of the producer are kept from a valid round.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from eosctl.client import Client
from eosctl.client.consumer import LATEST, IsolationLevel, Reader, list_offset
from eosctl.client.ports import WallClock
from eosctl.client.topics import ensure_topic, require_topic_rights
from eosctl.errors import AuthorizationDenied, EosctlError, UsageError
from eosctl.lab.history.anomaly import Anomaly
from eosctl.lab.history.check import check_history
from eosctl.lab.history.events import Drained, EndInvoked, Event, History, Identified, InitInvoked, Polled, Undrained
from eosctl.lab.recording import RecordedProducer, Recorder, record_values
from eosctl.lab.verify.scene import ClientFactory
from eosctl.lab.workloads.latency import LatencyHistogram
from eosctl.lab.workloads.transactional import Fate
from eosctl.model.metric_reading import Gauge, GaugeSample
from eosctl.model.transaction import TopicPartition

TOPIC_PREFIX: Final = "eosctl-canary"
MAX_RATE_PER_S: Final = 10.0
MAX_RECORD_BYTES: Final = 10_000
MAX_PARTITIONS: Final = 12
_RETENTION_MS: Final = 3_600_000
_POLL_S: Final = 0.05
_ABORT_EVERY: Final = 5


@dataclass(frozen=True, slots=True)
class CanaryPlan:
    """The parameters of a canary; their limits keep it harmless in production.

    Attributes:
        run: Identifies this run in its transactional id and in every value.
        topic: The topic; its name starts with `eosctl-canary`.
        rate_per_s: Transactions per second, at most 10.
        partition_count: Partitions of a new topic.
        record_bytes: Size of a value.
        round_size: Number of transactions per check.
        patience_ms: Maximum time until a committed transaction is visible.
        transaction_timeout_ms: `transaction.timeout.ms`.
    """

    run: str
    topic: str = TOPIC_PREFIX
    rate_per_s: float = 1.0
    partition_count: int = 3
    record_bytes: int = 100
    round_size: int = 20
    patience_ms: int = 30_000
    transaction_timeout_ms: int = 10_000

    def check(self) -> None:
        """Reject parameters that could harm a production cluster.

        Raises:
            UsageError: A limit is exceeded.
        """
        if not self.topic.startswith(TOPIC_PREFIX):
            raise UsageError(
                f"--topic {self.topic!r} is not a canary's.",
                f"A canary writes only to topics whose name begins with {TOPIC_PREFIX}.",
                f"For example: --topic {TOPIC_PREFIX}-{self.topic}",
            )
        for name, value, limit in (
            ("--rate", self.rate_per_s, MAX_RATE_PER_S),
            ("--record-bytes", self.record_bytes, MAX_RECORD_BYTES),
            ("--partitions", self.partition_count, MAX_PARTITIONS),
        ):
            if not 0 < value <= limit:
                raise UsageError(
                    f"{name} {value:g} is outside of 0 to {limit:g}.", "A canary stays small.", "Lower it."
                )


@dataclass(slots=True)
class CanaryNumbers:
    """The counters of a canary since its start."""

    outcomes: Counter[str] = field(default_factory=Counter)
    anomalies: Counter[str] = field(default_factory=Counter)
    visible: LatencyHistogram = field(default_factory=LatencyHistogram)
    round_count: int = 0
    last_commit_ms: int | None = None
    is_up: bool = False

    def gauges(self) -> tuple[Gauge, ...]:
        """Return the counters as Prometheus metrics."""
        seen = self.visible.percentiles()
        quantiles = (("0.5", seen.p50_ms), ("0.99", seen.p99_ms), ("1", seen.max_ms))
        return (
            Gauge(
                "eosctl_canary_up",
                "Whether the last transaction of the canary was committed and seen (1) or not (0).",
                (GaugeSample((), float(self.is_up)),),
            ),
            Gauge(
                "eosctl_canary_transactions_total",
                "Transactions of the canary by how they ended.",
                tuple(GaugeSample((("outcome", str(fate.value)),), float(self.outcomes[fate.value])) for fate in Fate),
                is_counter=True,
            ),
            Gauge(
                "eosctl_canary_anomalies_total",
                "Violations of exactly-once that the canary has found; it ends with the first round that has one.",
                tuple(GaugeSample((("kind", kind),), float(count)) for kind, count in sorted(self.anomalies.items()))
                or (GaugeSample((("kind", "any"),), 0.0),),
                is_counter=True,
            ),
            Gauge(
                "eosctl_canary_visible_seconds",
                "From asking for a commit to the last record being read with read_committed, since the canary began.",
                tuple(GaugeSample((("quantile", name),), value / 1_000) for name, value in quantiles),
            ),
            Gauge(
                "eosctl_canary_rounds_total",
                "Rounds that were checked.",
                (GaugeSample((), float(self.round_count)),),
                is_counter=True,
            ),
            Gauge(
                "eosctl_canary_last_commit_timestamp_seconds",
                "When the canary's last transaction was committed, in seconds since the epoch; 0 when none was.",
                (GaugeSample((), (self.last_commit_ms or 0) / 1_000),),
            ),
        )


class Canary:
    """Runs rounds until one of them fails or it is stopped."""

    def __init__(
        self, plan: CanaryPlan, connect: ClientFactory, *, now_ms: WallClock, elapsed_ms: Callable[[], int], seed: int
    ) -> None:
        """Create a canary; `run` starts it.

        Raises:
            UsageError: A limit is exceeded.
        """
        plan.check()
        self.plan = plan
        self.numbers = CanaryNumbers()
        self.last_error: EosctlError | None = None
        self._connect = connect
        self._now_ms = now_ms
        self._elapsed_ms = elapsed_ms
        self._chance = random.Random(seed)
        self._positions: dict[TopicPartition, int] = {}
        self._identity: tuple[Event, ...] = ()
        self._lives = 0
        self._transactions = 0

    async def run(self, stop: asyncio.Event) -> tuple[Anomaly, ...]:
        """Run until stopped; return the anomalies of the last round.

        Raises:
            EosctlError: The topic cannot be created or found at the start. Later errors are counted, not raised.
        """
        async with self._connect() as client:
            await require_topic_rights(client, [self.plan.topic], ("Write", "Read"))
            topic = await ensure_topic(
                client,
                self.plan.topic,
                partition_count=self.plan.partition_count,
                settings={"retention.ms": str(_RETENTION_MS)},
            )
            places = [partition.partition for partition in topic.partitions]
            self._positions = {place: await list_offset(client, place, LATEST) for place in places}
        while not stop.is_set():
            try:
                anomalies = await self._rounds(stop)
            except AuthorizationDenied:
                raise
            except EosctlError as error:
                self.last_error = error
                self.numbers.is_up = False
                await _pause(stop, 1.0)
                continue
            if anomalies:
                self.numbers.is_up = False
                return anomalies
        return ()

    async def _rounds(self, stop: asyncio.Event) -> tuple[Anomaly, ...]:
        """Run rounds with one producer; it initializes again only in doubt, as each time costs a record and a fence."""
        plan, recorder = self.plan, self._next_recorder()
        self._lives += 1
        async with self._connect() as client:
            producer = RecordedProducer(
                client,
                f"{TOPIC_PREFIX}-{plan.run}",
                recorder,
                f"{plan.run}.{self._lives}",
                now_ms=self._now_ms,
                transaction_timeout_ms=plan.transaction_timeout_ms,
            )
            await producer.init_transactions()
            while not stop.is_set():
                await self._round(client, producer, recorder, stop)
                anomalies = check_history(recorder.history)
                self.numbers.round_count += 1
                self.numbers.anomalies.update(str(anomaly.kind) for anomaly in anomalies)
                self._identity = _last_identity(recorder.history)
                if anomalies:
                    return anomalies
                recorder = self._next_recorder()
                producer.record_in(recorder)
        return ()

    def _next_recorder(self) -> Recorder:
        recorder = Recorder(self._elapsed_ms)
        for event in self._identity:
            recorder.record(event)
        return recorder

    async def _round(self, client: Client, producer: RecordedProducer, recorder: Recorder, stop: asyncio.Event) -> None:
        numbers = self.numbers
        for at in range(self.plan.round_size):
            if stop.is_set():
                break
            self._transactions += 1
            name = f"{producer.actor}/{self._transactions}"
            fate = await self._transaction(producer, name, aborts=at % _ABORT_EVERY == _ABORT_EVERY - 1)
            numbers.outcomes[(fate or Fate.UNKNOWN).value] += 1
            numbers.is_up = fate is not None and fate is not Fate.UNKNOWN
            if fate is Fate.COMMITTED:
                numbers.last_commit_ms = self._now_ms()
                numbers.is_up = await self._wait_visible(client, recorder, name)
            if fate is None:
                # The next identity aborts any open transaction, and the round is checked after it.
                await producer.init_transactions()
                break
            await _pause(stop, 1 / self.plan.rate_per_s)
        await self._drain(client, recorder)

    async def _transaction(self, producer: RecordedProducer, name: str, *, aborts: bool) -> Fate | None:
        places = self._chance.sample(sorted(self._positions), k=min(2, len(self._positions)))

        async def work() -> None:
            try:
                for index, place in enumerate(places):
                    await producer.send_value(place, f"{name}/{index}", size_bytes=self.plan.record_bytes)
            except EosctlError as error:
                self.last_error = error
                raise

        return await producer.attempt(name, work, aborts=aborts)

    async def _wait_visible(self, client: Client, recorder: Recorder, name: str) -> bool:
        """Read until a committed transaction is visible, and record the duration; return False if it never is."""
        asked_ms = next(
            event.at_ms
            for event in reversed(recorder.history)
            if isinstance(event, EndInvoked) and event.transaction == name
        )
        # Wait for the complete transaction, but not forever: a partly visible one is an anomaly.
        left = {f"{name}/{index}" for index in range(min(2, len(self._positions)))}
        deadline_ms = self._elapsed_ms() + self.plan.patience_ms
        while left and self._elapsed_ms() < deadline_ms:
            left -= await self._read(client, recorder)
            if left:
                await asyncio.sleep(_POLL_S)
        self.numbers.visible.record((self._elapsed_ms() - asked_ms) / 1_000)
        return not left

    async def _read(self, client: Client, recorder: Recorder) -> set[str]:
        before = len(recorder.history)
        for place, position in self._positions.items():
            reader = Reader(client, IsolationLevel.READ_COMMITTED, {place: position})
            found = (await reader.poll()).get(place, ())
            self._positions[place] = reader.positions[place]
            # Other canaries may use the same topic.
            ours = [record for record in found if (record.value or b"").startswith(f"{self.plan.run}.".encode())]
            record_values(recorder, "canary reader", place, ours)
        return {event.value for event in recorder.history[before:] if isinstance(event, Polled)}

    async def _drain(self, client: Client, recorder: Recorder) -> None:
        deadline_ms = self._elapsed_ms() + self.plan.patience_ms
        for place in self._positions:
            end = await list_offset(client, place, LATEST)
            while self._positions[place] < end:
                stable = await list_offset(client, place, LATEST, IsolationLevel.READ_COMMITTED)
                await self._read(client, recorder)
                if self._elapsed_ms() > deadline_ms:
                    recorder.record(Undrained(recorder.now_ms(), "canary reader", place, stable, end))
                    break
                if self._positions[place] < end:
                    await asyncio.sleep(_POLL_S)
            else:
                recorder.record(Drained(recorder.now_ms(), "canary reader", place))


def _last_identity(history: History) -> tuple[Event, ...]:
    """Return the events of the producer's last identity, which the next one must be newer than."""
    at = max((index for index, event in enumerate(history) if isinstance(event, Identified)), default=None)
    if at is None:
        return ()
    asked = next(event for event in reversed(history[:at]) if isinstance(event, InitInvoked))
    return (asked, history[at])


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
