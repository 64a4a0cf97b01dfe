"""Measure the judging of many log events on Spark, in slices of time.

    python -m benchmarks.log_judge 1000000 [RESULT.json [COMPARED]]

Repeats the recorded scenarios one after the other until there are that many events, on two local cores; the same ids
come back after 50 rounds. First, a tenth of the events, or two hours of them, is judged in one process, too, and both
verdicts are compared; one process needs about 1 KB an event, so COMPARED can name a smaller number. Each step is
written to the file of the result as soon as it is measured; from it, ``benchmarks.log_cluster`` computes the cost on
a cluster. Processor time is the sum of Spark's JVM and its Python workers; memory is the largest resident set of a
worker that judged, and of the driver.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple

import psutil  # type: ignore[import-untyped]

from eosctl.logs.arrays import array_of, numbers_of
from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.incidents.slicing.slices import SLICE_EVENTS
from eosctl.logs.incidents.timeline.times import timed
from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import LogEvent, SourceSummary
from spark_log_analytics.incidents import Judging, SliceCost, incident_of, judge_events
from spark_log_analytics.rows import EVENT_COLUMNS, arrow_schema, event_batch, events_of
from spark_log_analytics.session import session

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

SCENARIOS: Final = Path(__file__).parents[1] / "tests" / "fixtures" / "logs"
BEGIN_MS: Final = 1_760_000_000_000
PAUSE_MS: Final = 60_000
ROUND_PAUSE_MS: Final = 4_500_000
"""Longer than the pauses within any incident, so that each round has incidents of its own."""
KEPT: Final = 1000
"""Number of events of one file and category that a scenario keeps."""
REUSED_IDS: Final = 50
"""Every so many rounds, the same clients come back."""
ROUNDS_OF_A_TASK: Final = 4
CORES: Final = "2"
SAMPLE_S: Final = 0.5
LEAST_ROUNDS: Final = 8
"""Fewer rounds are shorter than the margins of a slice."""
_IDS: Final = frozenset({"transactional_id", "group", "application_id", "client_id", "member_client"})
_STEPS: Final = frozenset({"producer_id", "producer_epoch", "current_epoch"})


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
                producer = event.fields.get("producer_id", "")
                own = {"producer_id": str(int(producer) + number * 100_000_000)} if producer.isdigit() else {}
                events.append(moved._replace(fields={**event.fields, **own}))
        sources += scan.sources
        end_ms += max(times) - min(times) + PAUSE_MS
    return Round(events, sources, end_ms + ROUND_PAUSE_MS)


class Rounds:
    """Makes the events of each repetition: later, by some of the clients, and with later epochs.

    Only times, offsets, and the values of a few fields differ, so all other columns are made once.
    """

    def __init__(self, whole: Round) -> None:
        self._length_ms = whole.length_ms
        self._batch = event_batch(whole.events)
        pairs = [pair for event in whole.events for pair in event.fields.items()]
        self._values = [value for _, value in pairs]
        self._named = [place for place, (name, _) in enumerate(pairs) if name in _IDS]
        numbers = ((place, name) for place, (name, value) in enumerate(pairs) if value.isdigit())
        self._raised = [(place, name) for place, name in numbers if name in _STEPS]

    def batch(self, number: int) -> pa.RecordBatch:
        """Return the events of a repetition."""
        import pyarrow as pa

        client, life = number % REUSED_IDS, number // REUSED_IDS
        values = list(self._values)
        for place in self._named:
            values[place] = f"{values[place]}{client}"
        # Each producer id and epoch is given out once.
        steps = {"producer_id": 1_000_000 * client, "producer_epoch": 20 * life, "current_epoch": 20 * life}
        for place, name in self._raised:
            values[place] = str(int(values[place]) + steps[name])
        schema = self._batch.schema
        columns = dict(zip(schema.names, self._batch.columns, strict=True))
        for name, later in (("time_ms", BEGIN_MS + number * self._length_ms), ("offset", number * 10**9)):
            columns[name] = numbers_of(_int64_of(columns[name]) + later)
        fields = columns["fields"]
        ends = pa.Array.from_buffers(pa.int32(), len(fields) + 1, [None, fields.buffers()[1]])
        columns["fields"] = pa.MapArray.from_arrays(ends, fields.keys, array_of(values, pa.string()))
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=schema)


def _int64_of(column: pa.Array) -> NDArray[np.int64]:
    import numpy as np

    return np.frombuffer(column.buffers()[1], np.int64)


def sources_of(whole: Round, round_count: int) -> list[SourceSummary]:
    """Return the summaries of all files, which last over all repetitions."""
    end_ms = BEGIN_MS + round_count * whole.length_ms
    return [source._replace(first_ms=BEGIN_MS, last_ms=end_ms) for source in whole.sources]


def write_events(spark: SparkSession, whole: Round, round_count: int, folder: Path) -> DataFrame:
    """Write the events of all repetitions as Parquet in the tasks of Spark, and return the table."""
    folder.mkdir()
    tasks = spark.range(0, round_count, 1, -(-round_count // ROUNDS_OF_A_TASK))
    row_count = sum(row.rows for row in tasks.mapInArrow(_writer_of(whole, folder), "rows long").collect())
    assert row_count == round_count * len(whole.events)
    return spark.read.schema(EVENT_COLUMNS).parquet(str(folder))


def _writer_of(whole: Round, folder: Path) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        rounds = Rounds(whole)
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        row_count = 0
        with ParquetWriter(folder / f"{numbers[0]:08}.parquet", arrow_schema(with_counts=False)) as file:
            for number in numbers:
                made = rounds.batch(number)
                file.write_batch(made)
                row_count += made.num_rows
        yield pa.RecordBatch.from_arrays([array_of([row_count], pa.int64())], names=["rows"])

    return write


class Result:
    """What was measured so far, in a file; without a file it is only printed."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._measured: dict[str, object] = {"cores": CORES, "load_before": round(os.getloadavg()[0], 1)}

    def add(self, name: str, value: object) -> None:
        """Add a figure, and write the file."""
        self._measured[name] = value
        if self._file is not None:
            self._file.write_text(json.dumps(self._measured, indent=1) + "\n", "utf-8")


def compare(spark: SparkSession, whole: Round, round_count: int, folder: Path, result: Result) -> None:
    """Judge in one process and in slices, and compare the verdicts."""
    sources = sources_of(whole, round_count)
    rounds = Rounds(whole)
    events = [event for number in range(round_count) for event in events_of(rounds.batch(number))]
    began = time.process_time()
    expected = judge_incidents(events, sources)
    print(f"one process: {len(events):,} events, {len(expected):,} incidents, {time.process_time() - began:.1f} s")
    frame = write_events(spark, whole, round_count, folder)
    judging = judge_events(frame, sources, len(events), min(SLICE_EVENTS, len(events) // 5))
    found = tuple(incident_of(row.asDict(recursive=True)) for row in judging.incidents.collect())
    _release(judging)
    assert found == expected, "the verdicts differ"
    print(f"{len(judging.slices)} slices: the same {len(found):,} incidents", flush=True)
    equal = {"events": len(events), "incidents": len(found), "slices": len(judging.slices), "verdict": "the same"}
    result.add("one_process", equal)


def measure(spark: SparkSession, whole: Round, round_count: int, folder: Path, result: Result) -> None:
    """Judge in slices, and print what it costs."""
    event_count = round_count * len(whole.events)
    result.add("events", event_count)
    with _Timed(f"to make {event_count:,} events") as made:
        frame = write_events(spark, whole, round_count, folder)
    result.add("make", made.spent)
    with _Timed("to judge them") as judged:
        judging = judge_events(frame, sources_of(whole, round_count), event_count)
        incident_count = judging.incidents.count()
    costs = [cost for _, cost in judging.slices]
    print(f"{incident_count:,} incidents; {cost_text(costs)}")
    driver_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory of the driver: {driver_mb:,.0f} MB")
    result.add("judge", {**judged.spent, "incidents": incident_count, "open_borders": judging.open_count})
    result.add("slices", [cost._asdict() for cost in costs])
    result.add("driver_mb", round(driver_mb))
    _release(judging)


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


def _release(judging: Judging) -> None:
    for one in judging.cached:
        one.unpersist()


class _Timed:
    """Prints the time of a step by the clock and of all processors."""

    def __init__(self, what: str) -> None:
        self.spent: dict[str, float] = {}
        self._what = what
        self._processor = ProcessorTime()

    def __enter__(self) -> _Timed:
        self._began, self._before_s = time.perf_counter(), self._processor.spent_s()
        self._processor.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._processor.stop()
        used_s = self._processor.spent_s() - self._before_s
        self.spent = {"wall_s": round(time.perf_counter() - self._began, 1), "cpu_s": round(used_s, 1)}
        print(f"{self._what}: {self.spent['wall_s']} s by the clock, {self.spent['cpu_s']} s of processor", flush=True)


class ProcessorTime:
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
        case [count, *rest] if count.isdigit() and len(rest) <= 2:
            each_round, measured = recorded(), Result(Path(rest[0]) if rest else None)
            compared = int(rest[1]) if rest[1:] else int(count) // 10
            rounds = max(LEAST_ROUNDS, int(count) // len(each_round.events))
            tenth = max(LEAST_ROUNDS, compared // len(each_round.events))
            with session("benchmark", cores=CORES) as opened, TemporaryDirectory() as home:
                compare(opened, each_round, tenth, Path(home, "tenth"), measured)
                measure(opened, each_round, rounds, Path(home, "whole"), measured)
        case _:
            sys.exit(__doc__)
