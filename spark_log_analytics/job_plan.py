"""Describe a job before it runs: its inputs, its tasks, how it judges, and where its tables go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.files.sources import Unread
from eosctl.logs.incidents.slicing.slices import LONG_MARGIN_MS, MARGIN_MS, SHORTEST_MS, SLICE_EVENTS
from eosctl.logs.tally import Split
from eosctl.logs.topics.address import is_topic_url
from eosctl.logs.topics.plan import PART_OFFSETS
from eosctl.model.log_tables import LOG_TABLES, PUBLISHED
from eosctl.model.redaction import redact_text
from eosctl.text import bytes_text, count_text, duration_text
from spark_log_analytics.job import SMALL_FILE_EVENTS, Reading, pack_splits
from spark_log_analytics.sinks import address_of

RUN: Final = "ID"
"""Stands for the id of a run, which is a fingerprint of its rows."""


class Wanted(NamedTuple):
    """What a job is asked for.

    Attributes:
        out: The directory or URL of the result.
        file_format: The format of the tables.
        split_bytes: The number of bytes that a task reads.
        with_baseline: Whether new failures are wanted.
    """

    out: str
    file_format: str
    split_bytes: int
    with_baseline: bool = False


def explain_plan(reading: Reading, elsewhere: Sequence[str], wanted: Wanted) -> Iterator[str]:
    """Yield the lines of a plan.

    Args:
        reading: The files that this machine sees, inspected.
        elsewhere: URLs and topics, which only the job lists.
        wanted: The result.
    """
    bins = pack_splits(reading.sources, wanted.split_bytes)
    yield from _inputs(reading, elsewhere)
    yield "Stages:"
    yield from _scan(bins, elsewhere, wanted.split_bytes)
    yield "  count: the driver receives the counts of each split, and numbers the lines."
    yield (
        f"  judge: one task up to {SLICE_EVENTS:,} events. More are divided into slices of time with about as many "
        f"events each, at least {duration_text(SHORTEST_MS)} long, which are judged in parallel. A slice also gets "
        f"what is up to {duration_text(MARGIN_MS)} before and after it, some events up to "
        f"{duration_text(LONG_MARGIN_MS)}. The events decide how many slices there are; the job prints it."
    )
    yield f"  write: one task for all tables up to {SMALL_FILE_EVENTS:,} events, several for events above that."
    yield f"Tables ({wanted.file_format}):"
    names = [table.name for table in LOG_TABLES if table.name != PUBLISHED]
    width = max(map(len, names))
    for name in names:
        is_empty = name == "new_failures" and not wanted.with_baseline
        remark = " (empty without --baseline)" if is_empty else ""
        yield f"  {name:{width}}  {redact_text(address_of(wanted.file_format, wanted.out, name, RUN))}{remark}"
    place = redact_text(address_of(wanted.file_format, wanted.out, PUBLISHED, ""))
    yield f"  {PUBLISHED:{width}}  {place} (last, when all others are complete)"


def _inputs(reading: Reading, elsewhere: Sequence[str]) -> Iterator[str]:
    size = sum(source.size_bytes for source in reading.sources)
    yield f"Input: {count_text(len(reading.sources), 'file')}, {bytes_text(size)}."
    for place in elsewhere:
        lister = "the brokers name its offsets" if is_topic_url(place) else "Spark lists it"
        yield f"  {redact_text(place.partition('?')[0])}: {lister} when the job runs."
    failed = [one for one in reading.unread if one.is_failure]
    for one in failed:
        yield f"  not read: {redact_text(one.name)}: {one.reason}"
    skipped: dict[str, list[Unread]] = {}
    for one in reading.unread:
        if not one.is_failure:
            skipped.setdefault(one.reason, []).append(one)
    for reason, ones in skipped.items():
        yield f"  not read: {count_text(len(ones), 'file')}, e.g. {redact_text(ones[0].name)}: {reason}"


def _scan(bins: Sequence[Sequence[Split]], elsewhere: Sequence[str], split_bytes: int) -> Iterator[str]:
    if bins:
        splits = [split for one in bins for split in one]
        largest = max(sum(map(_size_of, one)) for one in bins)
        whole = {split.source.name for split in splits if not split.source.splittable}
        undivided = f"; {count_text(len(whole), 'file')} cannot be divided" if whole else ""
        yield (
            f"  scan: {count_text(len(splits), 'split')} of up to {bytes_text(split_bytes)} in "
            f"{count_text(len(bins), 'task')}, the largest with {bytes_text(largest)}{undivided}."
        )
    if any(not is_topic_url(place) for place in elsewhere):
        yield "  scan of URLs: each file goes to one task as a whole."
    if any(map(is_topic_url, elsewhere)):
        yield f"  scan of topics: {PART_OFFSETS:,} records of a partition in each task."


def _size_of(split: Split) -> int:
    return (split.source.size_bytes if split.end is None else split.end) - split.start
