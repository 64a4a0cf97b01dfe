"""Join a gap in a producer's sequence numbers with the unclean election before it, which lost the missing records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.index import within
from eosctl.logs.incidents.timeline import LogTimeline, incident, time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text

_LOOK_BACK_MS: Final = 600_000
_CLOCKS_MS: Final = 1_500


def elections_before(timeline: LogTimeline, partition: str, gap: LogEvent) -> Sequence[LogEvent]:
    """Return the unclean elections of a partition shortly before a gap; a controller may log only its number."""
    near = within(timeline.of("UNCLEAN_ELECTION"), time_of(gap) - _LOOK_BACK_MS, time_of(gap) + _CLOCKS_MS)
    return [one for one in near if partition and _is_of(one, partition)]


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
