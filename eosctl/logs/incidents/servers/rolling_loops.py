"""Detect operators that restart the same pod at each reconciliation: the cluster never has the state that they want.

Strimzi compares the pods with their declaration every two minutes. A pod that differs again after its restart, because
another program changes it or the operator compares wrongly, is restarted without end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, duration_text

ROLLS: Final = 3
"""Minimum number of restarts of one pod that make a loop: two changes in a row are a person's."""
PAUSE_MS: Final = 900_000
"""A pod that was left alone for longer than this is not in a loop."""
ROLL_MS: Final = 60_000
"""Records of one restart are closer than this, if they do not name their reconciliation."""
_RECONCILIATION: Final = re.compile(r"\bReconciliation #(\d+)")


def find_rolling_loops(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield an incident for each operator that restarts the same pods again and again."""
    rolled = [one for one in timeline.of("POD_ROLLED") if one.fields.get("pod")]
    for events in by_key((timeline.log_of(one), one) for one in rolled).values():
        for part in episodes(events, PAUSE_MS):
            loops = {
                pod: rolls
                for pod, own in by_key((one.fields["pod"], one) for one in part).items()
                if len(rolls := _rolls(own)) >= ROLLS
            }
            if loops:
                yield _incident(loops)


def _rolls(events: Sequence[LogEvent]) -> list[LogEvent]:
    """Return the first record of each restart of a pod."""
    found: list[LogEvent] = []
    last_ms, last_number = -ROLL_MS, ""
    for event in events:
        match = _RECONCILIATION.search(event.message)
        number = match[1] if match else ""
        is_same = number == last_number if number and last_number else time_of(event) - last_ms < ROLL_MS
        if not is_same or not found:
            found.append(event)
        last_ms, last_number = time_of(event), number
    return found


def _incident(loops: dict[str, list[LogEvent]]) -> Incident:
    events = sorted((one for rolls in loops.values() for one in rolls), key=time_of)
    pods = tuple(sorted(loops))
    reasons = {reason.strip() for one in events if (reason := one.fields.get("reason", ""))}
    reason = f" Its reason each time: {reasons.pop()}." if len(reasons) == 1 else ""
    most = max(len(rolls) for rolls in loops.values())
    lasted = duration_text(time_of(events[-1]) - time_of(events[0]))
    who = f"pod {pods[0]}" if len(pods) == 1 else count_text(len(pods), "pod")
    clusters = {name for one in events if (name := one.fields.get("component"))}
    subject: dict[str, str | tuple[str, ...]] = {"component": clusters.pop() if len(clusters) == 1 else ""}
    subject |= {"pod": pods[0]} if len(pods) == 1 else {"pods": pods}
    return incident(
        "pods_rolled_again",
        "restarted-at-each-reconciliation",
        subject,
        events,
        f"The operator restarts {who} again and again, {count_text(most, 'time')} in {lasted}: after each restart it "
        f"finds the same difference from the declared state.{reason} Each restart moves leaders and coordinators, and "
        "clients retry.",
        "Pause the reconciliation (strimzi.io/pause-reconciliation=true), and find what differs: compare the pod with "
        "its StrimziPodSet or StatefulSet, and look for another operator, webhook, or policy that changes it. Upgrade "
        "the operator if nothing does.",
        confidence=0.8,
    )
