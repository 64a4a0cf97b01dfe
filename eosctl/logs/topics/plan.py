"""What to read of topics, and the scan of one part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from itertools import islice
from typing import Final, NamedTuple

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.sources import Unread
from eosctl.logs.layouts import Layout
from eosctl.logs.scan import LogScan, SplitCounts, SplitScan, summarize_counts
from eosctl.logs.topics.address import EARLIEST, LATEST, TopicError, Topics
from eosctl.logs.topics.assembly import LOOK_BACK, OpenEvents, Range, scan_range
from eosctl.logs.topics.consumer import Cluster, connect
from eosctl.logs.topics.shipped import TopicRecord
from eosctl.model.log_event import LogEvent, SourceSummary

PART_OFFSETS: Final = 100_000
"""How many records a task reads, which holds them in memory."""
FAR_AWAY: Final = (
    "records that came to Kafka more than a day before or after the time asked for are left out; "
    "?start=earliest&end=latest reads them, too"
)
HELD_UP: Final = "records behind an open transaction are not read; eosctl txn hanging tells of those that stay open"
EMPTY: Final = "holds no records"
NOTHING_THERE: Final = "holds no records from start to end"
MOST_AHEAD: Final = 20_000
"""How many records behind a part its last events are looked for in: sources that have gone silent never end one."""


class TopicPart(NamedTuple):
    """What one task reads of a partition.

    Attributes:
        topics: How to reach it.
        partition: Its number.
        range: Which events.
        zone: The zone of stamps without an offset.
        layouts: Layouts to prefer to the known ones.
    """

    topics: Topics
    partition: int
    range: Range
    zone: tzinfo | None = None
    layouts: tuple[Layout, ...] = ()


def plan_topics(
    topics: Topics, zone: tzinfo | None = None, layouts: tuple[Layout, ...] = (), part_offsets: int = PART_OFFSETS
) -> tuple[tuple[TopicPart, ...], tuple[Unread, ...]]:
    """Look where the partitions begin and end now, and part what lies between.

    Returns:
        The parts, and what is not read: records that are not there any more, which is a failure, or are too far away
        from the time asked for, or behind a transaction that is open, and partitions without any.

    Raises:
        TopicError: The topics cannot be read.
    """
    parts: list[TopicPart] = []
    lost: list[Unread] = []
    # Asked first: what comes in between then cannot look as if a transaction held it up.
    written = _written(topics)
    with connect(topics, gives_up=True) as cluster:
        for topic, partition in cluster.partitions():
            low, high = cluster.bounds(topic, partition)
            start = cluster.resolve(topic, partition, topics.start or EARLIEST)
            end = min(high, cluster.resolve(topic, partition, topics.end or LATEST))
            if gone := lost_offsets(f"{topic}-{partition}", start, low):
                lost.append(Unread(f"{topic}-{partition}", gone, True))
            is_to_the_end = end == high and (topics.end is None or topics.leaves_out)
            is_held_up = is_to_the_end and high < written.get((topic, partition), 0)
            if is_held_up:
                lost.append(Unread(f"{topic}-{partition}", HELD_UP, False))
            if topics.leaves_out and (start > low or end < high):
                lost.append(Unread(f"{topic}-{partition}", FAR_AWAY, False))
            elif max(start, low) >= end and not is_held_up:
                lost.append(Unread(f"{topic}-{partition}", EMPTY if low == high else NOTHING_THERE, False))
            parts += cut_parts(topics, topic, partition, max(start, low), end, low, zone, layouts, part_offsets)
    return tuple(parts), tuple(lost)


def _written(topics: Topics) -> dict[tuple[str, int], int]:
    """Return how far partitions are written, whatever transactions are open, where that may be further than is read."""
    if topics.settings.get("isolation.level") != "read_committed":
        return {}
    everything = replace(topics, settings={**topics.settings, "isolation.level": "read_uncommitted"})
    with connect(everything, gives_up=True) as cluster:
        return {place: cluster.bounds(*place)[1] for place in cluster.partitions()}


def lost_offsets(name: str, start: int, low: int) -> str:
    """Tell what retention has taken of what was to be read; empty when nothing."""
    if start >= low:
        return ""
    return f"{low - start} offsets ({start} to {low - 1}) are not there any more: {name} begins at {low}"


def cut_parts(
    topics: Topics,
    topic: str,
    partition: int,
    start: int,
    end: int,
    low: int,
    zone: tzinfo | None = None,
    layouts: tuple[Layout, ...] = (),
    part_offsets: int = PART_OFFSETS,
) -> Iterator[TopicPart]:
    """Cut offsets of a partition into parts of a size."""
    for first in range(start, end, part_offsets):
        wanted = Range(f"{topic}-{partition}", topic, first, min(end, first + part_offsets), first <= low)
        yield TopicPart(topics, partition, wanted, zone, layouts)


def scan_part(part: TopicPart, classifier: Classifier) -> SplitScan:
    """Read and scan a part; why it could not be read is in the counts.

    Raises:
        TopicError: confluent-kafka is missing here.
    """
    with connect(part.topics) as cluster:
        try:
            return scan_with(cluster, part, classifier)
        except TopicError as error:
            return SplitScan((), SplitCounts(error=str(error)))


def scan_with(cluster: Cluster, part: TopicPart, classifier: Classifier) -> SplitScan:
    """Read and scan a part over a connection that is open.

    Raises:
        TopicError: It cannot be read.
    """
    wanted = part.range
    low, _ = cluster.bounds(wanted.topic, part.partition)
    gone = lost_offsets(wanted.name, wanted.start, low)
    if gone:
        wanted = wanted._replace(start=low, is_first=True)
    if wanted.start >= wanted.end:
        return SplitScan((), SplitCounts(error=gone))
    begin = max(low, wanted.start - LOOK_BACK)
    records = _read(cluster.records(wanted.topic, part.partition, begin), wanted.end)
    scan = scan_range(wanted, records, classifier, part.zone, part.layouts)
    return scan._replace(counts=scan.counts._replace(error=gone))


def _read(stream: Iterator[TopicRecord], end: int) -> list[TopicRecord]:
    """Read to an offset, and on until the events in front of it have come to their end."""
    records: list[TopicRecord] = []
    for record in stream:
        records.append(record)
        if record.offset >= end:
            break
    if not records or records[-1].offset < end:
        return records
    still_open = OpenEvents(records, end)
    still_open.add(records[-1])
    for record in islice(stream, MOST_AHEAD):
        if not still_open:
            break
        records.append(record)
        still_open.add(record)
    return records


def scan_topics(
    topics: Topics,
    zone: tzinfo | None = None,
    layouts: tuple[Layout, ...] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> LogScan:
    """Scan topics in this process, as far as they are written now; tell ``progress`` what is read next.

    Raises:
        TopicError: They cannot be read.
    """
    parts, lost = plan_topics(topics, zone, layouts)
    classifier = Classifier()
    events: list[LogEvent] = []
    counts: dict[str, list[SplitCounts]] = {}
    for part in parts:
        progress(f"{part.range.name}, offset {part.range.start:,}")
        scan = scan_part(part, classifier)
        events += scan.events
        counts.setdefault(part.range.name, []).append(scan.counts)
    return LogScan(tuple(events), summarize_topics(counts), lost)


def summarize_topics(counts: Mapping[str, Sequence[SplitCounts]]) -> tuple[SourceSummary, ...]:
    """Add up what the parts of each partition held."""
    return tuple(
        summarize_counts(name, name.rpartition("-")[0], "records of Kafka", parts) for name, parts in counts.items()
    )
