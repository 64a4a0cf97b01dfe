"""Detect groups whose leader assigns no partition to any member, while the topic has records.

The leader of a classic group computes the assignment of all members. It is empty if the leader's metadata has none of
the subscribed topics: the topic does not exist, the principal may not describe it, or a pattern matches no name. All
members look healthy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.incident import Incident
from eosctl.text import count_text, duration_text

LASTING_MS: Final = 60_000
"""Minimum time that an empty assignment stays: a topic that is created later is found within metadata.max.age.ms."""
_EMPTY: Final = re.compile(
    r"Finished assignment for group at generation \d+: "
    r"\{[^{}=\n]{1,300}=Assignment\(partitions=\[\][^()\n]{0,80}\)"
    r"(?:, [^{}=\n]{1,300}=Assignment\(partitions=\[\][^()\n]{0,80}\)){0,1000}\}"
)
_MEMBER: Final = re.compile(r"=Assignment\(")
_ASSIGNED: Final = "Finished assignment for group"


def find_empty_assignments(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the groups whose last assignment is empty for all members up to the end of their leader's log."""
    events = [one for one in timeline.client_events("ASSIGNMENT_CHANGE") if _ASSIGNED in one.message]
    for own in by_key((f"{timeline.log_of(one)}\0{one.fields.get('group', '')}", one) for one in events).values():
        last = own[-1]
        left_ms = timeline.log_end_ms(last) - time_of(last)
        if _EMPTY.search(last.message) is None or left_ms < LASTING_MS:
            continue
        group = timeline.group_of(last)
        members = count_text(len(_MEMBER.findall(last.message)), "member")
        yield incident(
            "group_without_partitions",
            "no-partition-assigned",
            {"group": group, "application": last.application},
            [last],
            f"{group or 'The group'} has {members} and no partition: its leader assigned nothing to any of them, and "
            f"nothing changed for {duration_text(left_ms)}. Its members poll and receive no records.",
            "Check that the subscribed topics exist, that the pattern matches their names, and that the principal may "
            "describe them: a leader without metadata of a topic assigns none of its partitions.",
            confidence=0.8,
        )
