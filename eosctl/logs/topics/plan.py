"""Plan the ranges of topics to read, and scan them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from itertools import islice
from typing import Final, NamedTuple

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.sources import Unread
from eosctl.logs.layout_catalog import Layout
from eosctl.logs.scan import LogScan, summarize_counts
from eosctl.logs.tally import SplitCounts, SplitScan
from eosctl.logs.topics.address import EARLIEST, LATEST, TopicError, Topics
from eosctl.logs.topics.assembly import LOOK_BACK, OpenEvents, Range, scan_range
from eosctl.logs.topics.consumer import Cluster, connect
from eosctl.logs.topics.shipped import TopicRecord
from eosctl.model.log_event import LogEvent, SourceSummary

PART_OFFSETS: Final = 100_000
"""Number of records that a task reads into memory."""
FAR_AWAY: Final = (
    "records that reached Kafka more than a day before or after the requested period are not read; "
    "?start=earliest&end=latest reads them, too"
)
HELD_UP: Final = "records behind an open transaction are not read; eosctl txn hanging lists hanging transactions"
EMPTY: Final = "holds no records"
NOTHING_THERE: Final = "holds no records from start to end"
MOST_AHEAD: Final = 20_000
"""Number of records after a range that are read for its last events: a silent source never completes its event."""


class TopicPart(NamedTuple):
    """The part of a partition that one task reads.

    Attributes:
        topics: The connection to the topics.
        partition: The number of the partition.
        range: The range of events.
        zone: The time zone of timestamps without an offset.
        layouts: Layouts that take precedence over the built-in ones.
    """

    topics: Topics
    partition: int
    range: Range
    zone: tzinfo | None = None
    layouts: tuple[Layout, ...] = ()


def plan_topics(
    topics: Topics, zone: tzinfo | None = None, layouts: tuple[Layout, ...] = (), part_offsets: int = PART_OFFSETS
) -> tuple[tuple[TopicPart, ...], tuple[Unread, ...]]:
    """Find the current bounds of the partitions, and divide the range between them into parts.

    Returns:
        The parts, and the records that are not read: deleted ones, which are a failure, those too far from the
        requested period, those after the start of an open transaction, and partitions without records.

    Raises:
        TopicError: The topics cannot be read.
    """
    parts: list[TopicPart] = []
    lost: list[Unread] = []
    # Requested first, so that no transaction seems to hold up records that arrive in between.
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
    """Return the high watermarks of partitions, where they may exceed the last stable offsets."""
    if topics.settings.get("isolation.level") != "read_committed":
        return {}
    everything = replace(topics, settings={**topics.settings, "isolation.level": "read_uncommitted"})
    with connect(everything, gives_up=True) as cluster:
        return {place: cluster.bounds(*place)[1] for place in cluster.partitions()}


def lost_offsets(name: str, start: int, low: int) -> str:
    """Return a description of the requested offsets that retention has deleted; empty if none."""
    if start >= low:
        return ""
    return f"{low - start} offsets ({start} to {low - 1}) no longer exist: {name} begins at {low}"


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
    """Divide the offsets of a partition into parts of a given size."""
    for first in range(start, end, part_offsets):
        wanted = Range(f"{topic}-{partition}", topic, first, min(end, first + part_offsets), first <= low)
        yield TopicPart(topics, partition, wanted, zone, layouts)


def scan_part(part: TopicPart, classifier: Classifier) -> SplitScan:
    """Read and scan a part; if it cannot be read, the counts contain the reason.

    Raises:
        TopicError: confluent-kafka is not installed.
    """
    with connect(part.topics) as cluster:
        try:
            return scan_with(cluster, part, classifier)
        except TopicError as error:
            return SplitScan((), SplitCounts(error=str(error)))


def scan_with(cluster: Cluster, part: TopicPart, classifier: Classifier) -> SplitScan:
    """Read and scan a part over an open connection.

    Raises:
        TopicError: The part cannot be read.
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
    """Read up to an offset, and continue until the events before it are complete."""
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
    """Scan topics in this process up to their current end; ``progress`` is called with the part that is read next.

    Raises:
        TopicError: The topics cannot be read.
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
    """Add up the counts of each partition's parts."""
    return tuple(
        summarize_counts(name, name.rpartition("-")[0], "records of Kafka", parts) for name, parts in counts.items()
    )
