"""Make one incident of an unclean election, the crash that led to it, and the records that a replica removed after it.

A broker that held the last in-sync replica dies, the partition is offline, a replica without its last records becomes
leader, and the broker removes what it had more than that leader when it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import count_text, time_text

_ELECTION: Final = "unclean_election"
_REMOVED: Final = "committed_records_removed"
_CRASH: Final = "broker_crash"
REMOVED_MS: Final = 7 * 86_400_000
"""Maximum time from the election until the former leader returns and removes its records."""
CRASH_MS: Final = 86_400_000
"""Maximum time from the crash of the last in-sync replica until another one is elected."""
_ASKED: Final = "AdminClientTriggered"
"""What the controller logs about an election that a person or a program asked for."""


def join_unclean_elections(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; what an unclean election removed, and the crash before it, are parts of the election."""
    elections = [one for one in incidents if one.kind == _ELECTION]
    removed = [one for one in incidents if one.kind == _REMOVED]

    def home_of(one: Incident) -> Incident | None:
        if one.kind == _REMOVED:
            return next((election for election in elections if _is_removed_by(one, election)), None)
        if one.kind == _CRASH:
            own = (other for other in removed if _broker_of(other) and _broker_of(other) == _broker_of(one))
            homes = (home_of(other) for other in own)
            return next((home for home in homes if home and 0 <= home.t_start_ms - one.t_start_ms <= CRASH_MS), None)
        return None

    return absorb(incidents, home_of, lambda election, parts: _whole(timeline, election, parts))


def _is_removed_by(one: Incident, election: Incident) -> bool:
    is_same = not _partitions_of(one).isdisjoint(_partitions_of(election))
    return is_same and 0 <= one.t_start_ms - election.t_start_ms <= REMOVED_MS


def _partitions_of(one: Incident) -> frozenset[str]:
    named = one.subject.get("topic-partition") or one.subject.get("topic-partitions") or ()
    return frozenset({named} if isinstance(named, str) else named)


def _broker_of(one: Incident) -> str:
    return str(one.subject.get("broker", ""))


def _whole(timeline: LogTimeline, election: Incident, parts: Sequence[Incident]) -> Incident:
    asked = any(_ASKED in event.message for event in timeline.evidence(election))
    sentences = ["The election was requested through the AdminClient." if asked else ""]
    for one in sorted(parts, key=lambda one: one.t_start_ms):
        when = time_text(one.t_start_ms)
        if one.kind == _CRASH:
            sentences.append(f"Broker {_broker_of(one)}, which had these records, had died at {when}.")
        else:
            sentences.append(_removal(timeline, one, when))
    subject = {**election.subject, "broker": _broker_of(parts[0])} if _broker_of(parts[0]) else election.subject
    return with_parts(election, parts, *filter(None, sentences), subject=subject)


def _removal(timeline: LogTimeline, one: Incident, when: str) -> str:
    """Return the sentence about the records that a broker removed, with their number if its record has it."""
    known = (event.fields for event in timeline.evidence(one))
    count = sum(
        int(fields["high_watermark"]) - int(fields["kept_to"])
        for fields in known
        if fields.get("high_watermark") and fields.get("kept_to")
    )
    what = count_text(count, "committed offset") if count > 0 else "committed records"
    return (
        f"Broker {_broker_of(one) or 'of the former leader'} removed {what} at {when}, when it followed the new leader."
    )
