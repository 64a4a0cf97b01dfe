"""Merge the transaction log, batches, group commits, and logs into lanes of a timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.analysis.log_order import place_by_offset
from eosctl.analysis.open_marks import judged_open, unmarked
from eosctl.model.blame import BlameVerdict
from eosctl.model.group_commit import GroupCommit
from eosctl.model.hang import HangVerdict
from eosctl.model.history import TransactionLogEntry
from eosctl.model.log_event import LogEvent, is_problem
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.timeline import BatchFact, Lane, LaneKind, Mark, Timeline, Tone
from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.text import count_text

MAX_LANES: Final = 40
_ORDER: Final = tuple(LaneKind)
_ENDS: Final = {TransactionState.COMPLETE_COMMIT: Tone.COMMIT, TransactionState.COMPLETE_ABORT: Tone.ABORT}
#: The tones for which a lane is shown before busier ones.
_WORST: Final = (Tone.HANGING, Tone.WARNING, Tone.TAKEOVER)
_Place = tuple[LaneKind, str]


class Focus(msgspec.Struct, frozen=True):
    """The subject of a timeline; empty fields do not restrict it. Times are milliseconds since the epoch."""

    transactional_id: str = ""
    partition: TopicPartition | None = None
    group_id: str = ""
    from_ms: int | None = None
    until_ms: int | None = None

    @property
    def subject(self) -> str:
        """Return the subject's name."""
        parts = [
            f"transactional id {self.transactional_id}" if self.transactional_id else "",
            f"partition {self.partition}" if self.partition else "",
            f"group {self.group_id}" if self.group_id else "",
        ]
        return ", ".join(part for part in parts if part) or "all transactions"


class Sources(NamedTuple):
    """The merged sources. `verdicts` mark the takeovers of an id.

    `hangs` are the verdicts on what leaders show as open; None if no leader was asked, and batches decide.
    """

    snapshot: ClusterSnapshot
    batches: Sequence[BatchFact] = ()
    commits: Sequence[GroupCommit] = ()
    events: Sequence[LogEvent] = ()
    verdicts: Mapping[str, Sequence[BlameVerdict]] = {}
    hangs: Sequence[HangVerdict] | None = None


def relevant_ids(focus: Focus, sources: Sources) -> frozenset[str]:
    """Return the transactional ids of a focus, from the transaction log and the group's commits."""
    history = sources.snapshot.history_by_id
    if focus.transactional_id:
        return frozenset({focus.transactional_id})
    producers = {c.producer_id for c in sources.commits if c.group_id == focus.group_id}
    return frozenset(
        name
        for name, entries in history.items()
        if any(
            (focus.partition is None or focus.partition in entry.partitions)
            and (not focus.group_id or entry.producer_id in producers)
            for entry in entries
            if entry.state
        )
    )


def relevant_partitions(focus: Focus, sources: Sources) -> tuple[TopicPartition, ...]:
    """Return the partitions with relevant batches: the named one, else those of the ids and of what they left open."""
    if focus.partition is not None:
        return (focus.partition,)
    ids = relevant_ids(focus, sources)
    entries = (entry for entry in sources.snapshot.transaction_history if entry.transactional_id in ids)
    opened = (one.transaction for one in sources.hangs or ())
    found = {where for entry in entries for where in entry.partitions}
    found |= {one.partition for one in opened if one.transactional_id in ids}
    return tuple(sorted(where for where in found if not where.topic.startswith("__")))


def build_timeline(
    focus: Focus, sources: Sources, notes: Iterable[str] = (), most_lanes: int | None = MAX_LANES
) -> Timeline:
    """Build the lanes.

    Args:
        focus: The subject.
        sources: The sources.
        notes: Unread parts.
        most_lanes: How many lanes are kept; None for all.
    """
    ids = relevant_ids(focus, sources)
    history = sources.snapshot.history_by_id
    own = {name: history[name] for name in sorted(ids & history.keys())}
    owners = {entry.producer_id: name for name, entries in own.items() for entry in entries if entry.state}
    lanes: dict[_Place, list[Mark]] = defaultdict(list)
    for name, entries in own.items():
        lanes[LaneKind.PRODUCER, name] += _transactions(entries)
        lanes[LaneKind.PRODUCER, name] += _takeovers(sources.verdicts.get(name, ()))
    for place, mark in _batches(focus, sources, owners):
        lanes[place].append(mark)
    for place, mark in _open(focus, sources, owners):
        lanes[place].append(mark)
    for place, mark in _commits(focus, sources.commits, owners):
        lanes[place].append(mark)
    for place, mark in _logged(focus, sources.events, owners):
        lanes[place].append(mark)
    return _within(focus, _in_log_order(lanes), sources.snapshot.captured_at_ms, tuple(notes), most_lanes)


def _in_log_order(lanes: Mapping[_Place, list[Mark]]) -> dict[_Place, list[Mark]]:
    """Sort the marks of a log by offset, across lanes."""
    placed = iter(place_by_offset([mark for marks in lanes.values() for mark in marks]))
    return {place: list(islice(placed, len(marks))) for place, marks in lanes.items()}


def _transactions(entries: Sequence[TransactionLogEntry]) -> Iterator[Mark]:
    begun: TransactionLogEntry | None = None
    for entry in entries:
        log = f"__transaction_state-{entry.log_partition}"
        source = f"{log} offset {entry.offset}"
        mark = partial(Mark, entry.written_at_ms, None, source=source, log=log, offset=entry.offset)
        who = f"producer id {entry.producer_id}, epoch {entry.producer_epoch}"
        if not entry.state:
            yield mark("the id expired", Tone.TAKEOVER)
        elif entry.state == TransactionState.EMPTY:
            yield mark(f"initialized: {who}", Tone.PLAIN)
        elif entry.state == TransactionState.ONGOING and begun is None:
            begun = entry
        elif entry.state.startswith("Prepare"):
            yield mark(f"{entry.state}: {who}", Tone.PLAIN)
        elif entry.state in _ENDS:
            started = entry.start_time_ms or (begun.written_at_ms if begun else entry.written_at_ms)
            where = ", ".join(str(p) for p in (begun.partitions if begun else ())) or "no partition"
            verb = "committed" if _ENDS[TransactionState(entry.state)] is Tone.COMMIT else "aborted"
            tone = _ENDS[TransactionState(entry.state)]
            yield Mark(started, entry.written_at_ms, f"transaction {verb}: {who}, {where}", tone, source)
            begun = None
    if begun is not None:
        where = ", ".join(str(p) for p in entries[-1].partitions)
        since = begun.start_time_ms or begun.written_at_ms
        source = f"__transaction_state-{begun.log_partition} offset {begun.offset}"
        yield Mark(since, NOW, f"transaction open ({entries[-1].state}): {where}", Tone.OPEN, source)


# Placeholder for the end of the timeline, which is computed last.
NOW: Final = 2**62


def _takeovers(verdicts: Iterable[BlameVerdict]) -> Iterator[Mark]:
    for verdict in verdicts:
        source = verdict.evidence[0].source if verdict.evidence else "transaction log"
        yield Mark(verdict.at_ms, None, f"{verdict.cause.value}: {verdict.explanation}", Tone.TAKEOVER, source)


def _batches(focus: Focus, sources: Sources, owners: Mapping[int, str]) -> Iterator[tuple[_Place, Mark]]:
    epochs: dict[TopicPartition, int] = {}
    for fact in sources.batches:
        name = _partition_lane(sources.snapshot, fact.partition)
        mark = partial(Mark, fact.at_ms, None, log=str(fact.partition), offset=fact.base_offset)
        before = epochs.get(fact.partition)
        epochs[fact.partition] = fact.leader_epoch
        if before is not None and before != fact.leader_epoch:
            changed = f"leader epoch {before} -> {fact.leader_epoch} at offset {fact.base_offset}"
            yield (LaneKind.BROKER, name), mark(changed, Tone.WARNING, str(fact.partition))
        owner = owners.get(fact.producer_id)
        if owner is None and focus.partition is None:
            continue
        who = owner or (f"producer id {fact.producer_id}" if fact.producer_id >= 0 else "a plain producer")
        source = f"{fact.partition} offset {fact.base_offset}"
        if fact.committed is None:
            label = f"{count_text(fact.record_count, 'record')} of {who}, epoch {fact.producer_epoch}"
            tone = Tone.PLAIN
        else:
            label = f"{'COMMIT' if fact.committed else 'ABORT'} marker of {who}, epoch {fact.producer_epoch}"
            tone = Tone.COMMIT if fact.committed else Tone.ABORT
        yield (LaneKind.BROKER, name), mark(label, tone, source)


def _open(focus: Focus, sources: Sources, owners: Mapping[int, str]) -> Iterator[tuple[_Place, Mark]]:
    if sources.hangs is None:
        found = unmarked(sources.batches, owners, sources.snapshot.captured_at_ms)
    else:
        found = judged_open(sources.hangs, sources.snapshot)
    names = set(owners.values())
    narrowed = bool(focus.transactional_id or focus.group_id)
    for one in found:
        if focus.partition is not None and one.partition != focus.partition:
            continue
        if narrowed and one.producer_id not in owners and one.owner not in names | {focus.transactional_id}:
            continue
        yield (LaneKind.BROKER, _partition_lane(sources.snapshot, one.partition)), one.mark


def _partition_lane(snapshot: ClusterSnapshot, partition: TopicPartition) -> str:
    info = snapshot.partition(partition)
    return str(partition) if info is None else f"{partition} (leader {info.leader_id})"


def _commits(focus: Focus, commits: Iterable[GroupCommit], owners: Mapping[int, str]) -> Iterator[tuple[_Place, Mark]]:
    for commit in commits:
        if focus.group_id and commit.group_id != focus.group_id:
            continue
        if not focus.group_id and commit.producer_id not in owners:
            continue
        by = owners.get(commit.producer_id, f"producer id {commit.producer_id}")
        label = f"{commit.partition} committed up to {commit.offset} by {by}"
        log = f"__consumer_offsets-{commit.log_partition}"
        source = f"{log} offset {commit.log_offset}"
        yield (
            (LaneKind.CONSUMER, f"group {commit.group_id}"),
            Mark(
                at_ms=commit.written_at_ms,
                until_ms=None,
                label=label,
                tone=Tone.COMMIT,
                source=source,
                log=log,
                offset=commit.log_offset,
            ),
        )


def _logged(focus: Focus, events: Iterable[LogEvent], owners: Mapping[int, str]) -> Iterator[tuple[_Place, Mark]]:
    names, producer_ids = set(owners.values()) | {focus.transactional_id} - {""}, {str(p) for p in owners}
    narrowed = bool(focus.transactional_id or focus.partition or focus.group_id)
    for event in events:
        fields = event.fields
        concerns = (
            fields.get("transactional_id") in names
            or fields.get("producer_id") in producer_ids
            or (focus.group_id and fields.get("group") == focus.group_id)
            or (focus.partition and fields.get("partition") == str(focus.partition))
        )
        if event.time_ms is None or (narrowed and not concerns):
            continue
        bad = is_problem(event)
        text = f"{event.category}: {event.message[:160]}"
        kind = LaneKind.BROKER if event.logger.startswith(("kafka.", "org.apache.kafka.controller")) else (
            LaneKind.CONSUMER if "group" in fields and "transactional_id" not in fields else LaneKind.PRODUCER
        )  # fmt: skip
        name = fields.get("client_id") or event.application
        yield (
            (kind, f"log of {name}"),
            Mark(event.time_ms, None, text, Tone.WARNING if bad else Tone.PLAIN, f"{event.file}:{event.line}"),
        )


def _within(
    focus: Focus,
    lanes: Mapping[_Place, list[Mark]],
    observed_at_ms: int,
    notes: tuple[str, ...],
    most_lanes: int | None,
) -> Timeline:
    begin = 0 if focus.from_ms is None else focus.from_ms
    end = NOW - 1 if focus.until_ms is None else focus.until_ms
    seen = [
        mark
        for marks in lanes.values()
        for mark in marks
        if mark.at_ms <= end and (mark.until_ms or mark.at_ms) >= begin
    ]
    moments = [mark.at_ms for mark in seen]
    # Open items last until the observation.
    moments += [observed_at_ms if mark.until_ms == NOW else mark.until_ms for mark in seen if mark.until_ms is not None]
    # The timeline covers the events, not the requested range, in which a short burst would be a dot.
    begin, end = max(begin, min(moments, default=begin)), min(end, max(moments, default=begin))
    found, more = [], list(notes)
    for (kind, name), marks in lanes.items():
        inside = (
            mark if mark.until_ms != NOW else replace(mark, until_ms=max(end, mark.at_ms))
            for mark in marks
            if mark.at_ms <= end and (mark.until_ms or mark.at_ms) >= begin
        )
        shown = sorted(inside, key=lambda mark: mark.order)
        if shown:
            found.append(Lane(kind, name, tuple(shown)))
    kept = foremost(found, len(found) if most_lanes is None else most_lanes)
    if len(kept) < len(found):
        more.append(
            f"Only the {len(kept)} worst and busiest of {len(found)} lanes are shown: name an id, partition or group."
        )
    return Timeline(focus.subject, begin, end, kept, tuple(more))


def foremost(lanes: Sequence[Lane], count: int) -> tuple[Lane, ...]:
    """Return the lanes to show, in their order: first those where something hangs, then incidents, then the busiest."""

    def rank(lane: Lane) -> tuple[int, int]:
        tones = {mark.tone for mark in lane.marks}
        return next((at for at, worst in enumerate(_WORST) if worst in tones), len(_WORST)), -len(lane.marks)

    chosen = sorted(lanes, key=rank)[:count]
    return tuple(sorted(chosen, key=lambda lane: (_ORDER.index(lane.kind), lane.name)))
