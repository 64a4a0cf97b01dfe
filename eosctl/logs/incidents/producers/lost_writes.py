"""Join a gap in a producer's sequence numbers with the unclean election before it, which lost the missing records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text

_LOOK_BACK_MS: Final = 600_000
_CLOCKS_MS: Final = 1_500
PRODUCERS: Final = 2
"""Minimum number of producers with gaps after a restart that show that the broker lost records."""


def elections_before(timeline: LogTimeline, partition: str, gap: LogEvent) -> Sequence[LogEvent]:
    """Return the unclean elections of a partition shortly before a gap; a controller may log only its number."""
    near = within(timeline.of("UNCLEAN_ELECTION"), time_of(gap) - _LOOK_BACK_MS, time_of(gap) + _CLOCKS_MS)
    return [one for one in near if partition and _is_of(one, partition)]


def restart_before(timeline: LogTimeline, gaps: Sequence[LogEvent]) -> LogEvent | None:
    """Return the start of a broker after which it refused several producers for gaps that had not been there before.

    A broker that starts with all of its data knows the last sequence numbers of its producers. If each of them is ahead
    of it, its log ends before what it had acknowledged. One producer alone may have lost a batch itself.
    """
    broker = next((one for one in gaps if one.application in timeline.servers() and _is_ahead(one)), None)
    if broker is None or len({one.fields.get("producer_id") for one in gaps if _is_ahead(one)}) < PRODUCERS:
        return None
    starts = timeline.log_between(broker, time_of(broker) - _LOOK_BACK_MS, time_of(broker), ("BROKER_START",))
    return starts[-1] if starts else None


def _is_ahead(gap: LogEvent) -> bool:
    arrived, stored = gap.fields.get("sequence", ""), gap.fields.get("current_sequence", "")
    return arrived.isdecimal() and stored.isdecimal() and int(arrived) > int(stored) + 1


def lost_by_restart(
    subject: Mapping[str, str | tuple[str, ...]], node: str, start: LogEvent, gaps: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a broker that started with an older log than its producers had been acknowledged."""
    partition = subject.get("topic-partition") or "a partition"
    who = f"Broker {node}" if node else "A broker"
    return incident(
        "committed_records_removed",
        "log-older-than-what-was-acknowledged",
        {**subject, "broker": node},
        [start, *gaps],
        f"{who} started with a log of {partition} that ends before what it had acknowledged: the next batches of all "
        "its producers are ahead of it, so records in between are gone from this log. An older volume or snapshot, or "
        "a disk that lost its last writes, looks like this. The clients are not at fault.",
        "Stop the broker and keep its directory. If other replicas have the records, start it with an empty directory "
        "so that it copies them; otherwise restore them from their source. Then create the producers anew.",
        severity=Severity.CRITICAL,
        confidence=0.75,
        t_start_ms=time_of(gaps[0]),
    )


def _is_of(election: LogEvent, partition: str) -> bool:
    named, number = election.fields.get("partition"), election.fields.get("partition_index")
    return named == partition if named else number == partition.rpartition("-")[2]


def lost_by_election(
    subject: Mapping[str, str | tuple[str, ...]],
    fields: Mapping[EventField, str],
    elections: Sequence[LogEvent],
    gaps: Sequence[LogEvent],
) -> Incident:
    """Return the incident of an election that lost the records before a gap.

    Args:
        subject: The producer and the partition.
        fields: What broker and client logged about the gap.
        elections: The unclean elections of the partition.
        gaps: The records of the gap.
    """
    partition = subject.get("topic-partition") or "a partition"
    arrived, stored = fields.get("sequence", ""), fields.get("current_sequence", "")
    missing = int(arrived) - int(stored) - 1 if arrived and stored else 0
    return incident(
        "unclean_election",
        "leader-that-was-not-in-sync",
        subject,
        [*elections, *gaps],
        f"A replica that was not in sync became leader of {partition}: committed records that it does not have are "
        "gone. The next batch of a producer was out of order there"
        + (
            f": sequence {arrived} after {stored}, so {count_text(missing, 'record')} of it are lost"
            if missing > 0
            else ""
        )
        + ". The client is not at fault.",
        "Compare the acknowledged offsets of producers with the log, and restore the missing records at their source. "
        "Set unclean.leader.election.enable=false and min.insync.replicas=2 or more.",
        severity=Severity.CRITICAL,
        confidence=0.95,
    )
