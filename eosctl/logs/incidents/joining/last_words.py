"""Fold a program's last words into the fault that it ends because of.

A program that waits in vain for its consumer or producer reports, in its own words, that it is not ready and exits.
These words are in no catalog, and they name no cause: it is the fault that its client reported before.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import with_records
from eosctl.logs.incidents.remaining.unexplained import is_unknown_error
from eosctl.logs.incidents.remaining.unknown_errors import ends_program
from eosctl.logs.incidents.timeline.evidence import short_text
from eosctl.logs.incidents.timeline.index import Intervals
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import SUCCESSES
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

WAITED_MS: Final = 120_000
"""Maximum time from a client's last error until its program gives up waiting for it."""
_OTHER_SYSTEM: Final = re.compile(
    r"(?i:\b(?:database|\w*sql|jdbc|redis|mongo\w*|elastic\w*|opensearch|cassandra|ldap|s3|bucket|license|migration"
    r"|config\w*|port|address already in use|http\w*|grpc)\b)"
)
"""Words of a program that ends because of something other than Kafka."""


def join_last_words(
    timeline: LogTimeline, incidents: Sequence[Incident], left: Iterable[LogEvent]
) -> tuple[Incident, ...]:
    """Return incidents with the last words of their programs.

    Args:
        timeline: The logs.
        incidents: The incidents.
        left: Records that no incident explains.
    """
    noted = {(place.file, place.offset) for one in incidents for place in one.evidence}
    words = [event for event in left if (event.file, event.offset) not in noted and _are_last_words(timeline, event)]
    if not words:
        return tuple(incidents)
    spans: dict[str, list[tuple[float, float, Incident]]] = defaultdict(list)
    for one in incidents:
        if one.severity is not Severity.INFO:
            for log in {timeline.log_of(event) for event in timeline.evidence(one)}:
                spans[log].append((one.t_start_ms, one.t_end_ms, one))
    faults = {log: Intervals(found) for log, found in spans.items()}
    said: dict[int, list[LogEvent]] = defaultdict(list)
    for event in words:
        moment = time_of(event)
        log = timeline.log_of(event)
        near = faults[log].touching(moment - WAITED_MS, moment) if log in faults else []
        lasting = [one for one in near if not timeline.log_between(event, one.t_end_ms + 1, moment, SUCCESSES)]
        if lasting:
            # Of several faults, the words follow the last one.
            last = max(lasting, key=lambda one: (one.t_end_ms, one.t_start_ms, -one.severity.rank))
            said[id(last)].append(event)
    return tuple(_with_words(one, said[id(one)]) if id(one) in said else one for one in incidents)


def _are_last_words(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a client program reports that it ends, without an error or a system of its own."""
    if event.time_ms is None or event.exception is not None or event.application in timeline.servers():
        return False
    return is_unknown_error(event) and ends_program(event) and not _OTHER_SYSTEM.search(event.message)


def _with_words(one: Incident, words: Sequence[LogEvent]) -> Incident:
    return with_records(one, words, f'Effect: the program reports "{short_text(words[0].message)}".')
