"""Measure the judging of many log events on Spark, in slices of time.

    python -m benchmarks.log_judge 1000000

Repeats the recorded scenarios one after the other until there are that many events, on two local cores; the same ids
come back after 50 rounds. First, a tenth of the events, or two hours of them, is judged in one process, too, and both
verdicts are compared. Processor time is the sum of Spark's JVM and its Python workers; memory is the largest resident
set of a worker that judged, and of the driver.
"""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import psutil  # type: ignore[import-untyped]

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.incidents.timeline import timed
from eosctl.logs.scan import scan_paths
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent, SourceSummary
from spark_log_analytics.incidents import Judging, SliceCost, incident_of, judge_events
from spark_log_analytics.rows import EVENT_COLUMNS, event_batch
from spark_log_analytics.session import session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SCENARIOS: Final = Path(__file__).parents[1] / "tests" / "fixtures" / "logs"
BEGIN_MS: Final = 1_760_000_000_000
PAUSE_MS: Final = 60_000
KEPT: Final = 1000
"""Number of events of one file and category that a scenario keeps."""
REUSED_IDS: Final = 50
"""Every so many rounds, the same clients come back."""
ROUNDS_OF_A_TASK: Final = 4
CORES: Final = "2"
SAMPLE_S: Final = 0.5
LEAST_ROUNDS: Final = 8
"""Fewer rounds are shorter than the margins of a slice."""
_IDS: Final[tuple[EventField, ...]] = (*("transactional_id", "group", "application_id", "client_id", "member_client"),)


class Round(NamedTuple):
    """The recorded scenarios one after the other, from time 0, and the time that they take."""

    events: Sequence[LogEvent]
    sources: Sequence[SourceSummary]
    length_ms: int


def recorded() -> Round:
    """Read the scenarios."""
    events: list[LogEvent] = []
    sources: list[SourceSummary] = []
    end_ms = 0
    for number, folder in enumerate(sorted(one for one in SCENARIOS.iterdir() if one.is_dir())):
        scan = scan_paths([folder])
        own = list(timed(scan.events, scan.sources))
        times = [event.time_ms or 0 for event in own]
        count: Counter[tuple[str, str]] = Counter()
        for event in own:
            count[event.file, event.category] += 1
            if count[event.file, event.category] <= KEPT:
                moved = event._replace(time_ms=(event.time_ms or 0) - min(times) + end_ms)
                events.append(_raised(moved, {"producer_id": number * 100_000_000}))
        sources += scan.sources
        end_ms += max(times) - min(times) + PAUSE_MS
    return Round(events, sources, end_ms)


def repeated(whole: Round, number: int) -> list[LogEvent]:
    """Return the events of one repetition, later, by some of the clients, and with later epochs."""
    found = []
    # Each producer id and epoch is given out once.
    later = 20 * (number // REUSED_IDS)
    steps = {"producer_id": 1_000_000 * (number % REUSED_IDS), "producer_epoch": later, "current_epoch": later}
    for event in whole.events:
        names = {name: f"{value}{number % REUSED_IDS}" for name, value in event.fields.items() if name in _IDS}
        time_ms = BEGIN_MS + number * whole.length_ms + (event.time_ms or 0)
        other = event._replace(time_ms=time_ms, offset=event.offset + number * 10**9, fields={**event.fields, **names})
        found.append(_raised(other, steps))
    return found


def _raised(event: LogEvent, steps: Mapping[str, int]) -> LogEvent:
    """Return an event with larger numbers in some fields."""
    fields = {
        name: str(int(value) + steps[name]) if name in steps and value.isdigit() else value
        for name, value in event.fields.items()
    }
    return event._replace(fields=fields)


def sources_of(whole: Round, round_count: int) -> list[SourceSummary]:
    """Return the summaries of all files, which last over all repetitions."""
    end_ms = BEGIN_MS + round_count * whole.length_ms
    return [source._replace(first_ms=BEGIN_MS, last_ms=end_ms) for source in whole.sources]


def frame_of(spark: SparkSession, whole: Round, round_count: int) -> DataFrame:
    """Make the events in the tasks of Spark."""
    tasks = spark.range(0, round_count, 1, -(-round_count // ROUNDS_OF_A_TASK))
    return tasks.mapInArrow(_maker_of(whole), EVENT_COLUMNS)


def _maker_of(whole: Round) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def make(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                events = repeated(whole, number)
                for start in range(0, len(events), 4096):
                    yield event_batch(events[start : start + 4096])

    return make


def compare(spark: SparkSession, whole: Round, round_count: int) -> None:
    """Judge in one process and in slices, and compare the verdicts."""
    sources = sources_of(whole, round_count)
    events = [event for number in range(round_count) for event in repeated(whole, number)]
    began = time.process_time()
    expected = judge_incidents(events, sources)
    print(f"one process: {len(events):,} events, {len(expected):,} incidents, {time.process_time() - began:.1f} s")
    frame = frame_of(spark, whole, round_count).persist()
    judging = judge_events(frame, sources, len(events), len(events) // 5)
    found = tuple(incident_of(row.asDict(recursive=True)) for row in judging.incidents.collect())
    _release(frame, judging)
    assert found == expected, "the verdicts differ"
    print(f"{len(judging.slices)} slices: the same {len(found):,} incidents")


def measure(spark: SparkSession, whole: Round, round_count: int) -> None:
    """Judge in slices, and print what it costs."""
    event_count = round_count * len(whole.events)
    frame = frame_of(spark, whole, round_count).persist()
    with _Timed(f"to make {event_count:,} events"):
        assert frame.count() == event_count
    with _Timed("to judge them"):
        judging = judge_events(frame, sources_of(whole, round_count), event_count)
        incident_count = judging.incidents.count()
    print(f"{incident_count:,} incidents; {cost_text([cost for _, cost in judging.slices])}")
    driver_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory of the driver: {driver_mb:,.0f} MB")
    _release(frame, judging)


def cost_text(costs: Sequence[SliceCost]) -> str:
    """Describe the slices that were judged; few events are judged in one task, which reports no costs."""
    if not costs:
        return "judged in one task, without slices"
    given = [cost.event_count for cost in costs]
    cpu_s, peak_mb = sum(cost.cpu_s for cost in costs), max(cost.peak_mb for cost in costs)
    return (
        f"{len(costs)} slices with {min(given):,} to {max(given):,} events; in the detectors: {cpu_s:.1f} s of "
        f"processor; at most {peak_mb:,.0f} MB in a worker"
    )


def _release(frame: DataFrame, judging: Judging) -> None:
    for one in (frame, *judging.cached):
        one.unpersist()


class _Timed:
    """Prints the time of a step by the clock and of all processors."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._processor = _ProcessorTime()

    def __enter__(self) -> None:
        self._began, self._before_s = time.perf_counter(), self._processor.spent_s()
        self._processor.start()

    def __exit__(self, *_: object) -> None:
        self._processor.stop()
        used_s = self._processor.spent_s() - self._before_s
        print(f"{self._what}: {time.perf_counter() - self._began:.1f} s by the clock, {used_s:.1f} s of processor")


class _ProcessorTime:
    """The processor time of this process and its children.

    Spark's daemon ignores the end of its workers, so no process has the time of those that ended. Their last sample
    counts.
    """

    def __init__(self) -> None:
        self._by_process: dict[tuple[int, float], float] = {}
        self._is_over = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)

    def start(self) -> None:
        """Begin to sample."""
        self._sampler.start()

    def stop(self) -> None:
        """End sampling."""
        self._is_over.set()
        self._sampler.join()

    def spent_s(self) -> float:
        """Return the time of all processes so far."""
        here = psutil.Process()
        for one in (here, *here.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                times = one.cpu_times()
                self._by_process[one.pid, one.create_time()] = times.user + times.system
        return sum(self._by_process.values())

    def _sample(self) -> None:
        while not self._is_over.wait(SAMPLE_S):
            self.spent_s()


if __name__ == "__main__":
    match sys.argv[1:]:
        case [count] if count.isdigit():
            each_round = recorded()
            rounds = max(LEAST_ROUNDS, int(count) // len(each_round.events))
            with session("benchmark", cores=CORES) as opened:
                compare(opened, each_round, max(LEAST_ROUNDS, rounds // 10))
                measure(opened, each_round, rounds)
        case _:
            sys.exit(__doc__)
