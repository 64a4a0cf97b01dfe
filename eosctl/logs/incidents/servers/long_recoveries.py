"""Find brokers that do not serve requests for minutes, because they recover their logs after an unclean stop.

Without the file that a clean shutdown leaves, a broker reads the unflushed segments of its partitions (``LogManager``)
before it serves. In KRaft it stays fenced meanwhile, so its replicas are out of sync and it leads no partition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple

from eosctl.logs.incidents.servers.interrupted_starts import RECOVERS, UP, is_serving
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

LONG_MS: Final = 120_000
"""Minimum time of a recovery that is reported: producers give a record up after this long (delivery.timeout.ms)."""
SAME_START_MS: Final = 10_000
"""A start reports the recovery of each of its log directories within this time."""
LONG_RECOVERY: Final = "log_recovery_long"
SERVED_AGAIN: Final = "It served again at"
_LOGS: Final = re.compile(r"\bRecovering (\d{1,9}) logs from ")


class _Recovery(NamedTuple):
    """The recovery of one start: its records, and the one with which the broker serves again, if there is one."""

    records: Sequence[LogEvent]
    served: LogEvent | None


def find_long_recoveries(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the last recovery of each broker that took at least ``LONG_MS``, also if the log ends before it does."""
    for application, events in by_key((one.application, one) for one in timeline.server_events(*RECOVERS)).items():
        recovery = _last_of(timeline, events)
        first = recovery.records[0]
        until_ms = timeline.log_end_ms(first) if recovery.served is None else time_of(recovery.served)
        if until_ms - time_of(first) >= LONG_MS:
            yield _incident(timeline, application, recovery, until_ms)


def _last_of(timeline: LogTimeline, events: Sequence[LogEvent]) -> _Recovery:
    start = events[-1]
    records = [one for one in events if time_of(start) - time_of(one) <= SAME_START_MS]
    own = timeline.log_between(start, time_of(start), inf, UP)
    return _Recovery(records, next((one for one in own if is_serving(one)), None))


def _incident(timeline: LogTimeline, application: str, recovery: _Recovery, until_ms: int) -> Incident:
    first, served = recovery.records[0], recovery.served
    named = (one.fields["broker"] for one in recovery.records if one.fields.get("broker"))
    node = timeline.node_of(application) or next(named, "")
    dirs = tuple(dict.fromkeys(name for one in recovery.records if (name := one.fields.get("log_dir"))))
    count = sum(int(found[1]) for one in recovery.records if (found := _LOGS.search(one.message)))
    what = f"{count_text(count, 'log')} " if count else "its logs "
    lasted = duration_text(until_ms - time_of(first))
    end = (
        f"{SERVED_AGAIN} {time_text(time_of(served))}."
        if served
        else f"No record up to the end of its log, {lasted} later, shows that it served again."
    )
    return incident(
        LONG_RECOVERY,
        "unclean-stop",
        {"broker": node, **_named(dirs)},
        [*recovery.records, *([served] if served else ())],
        f"{f'Broker {node}' if node else 'A broker'} recovered {what}after an unclean stop, and served no requests "
        f"{f'for {lasted}' if served else 'meanwhile'}: its replicas were out of sync, and it led no "
        f"partition. {end}",
        f"{'' if served else 'Let the recovery end. '}Find why the broker ended before its shutdown was complete: "
        "give it more time to stop (terminationGracePeriodSeconds, TimeoutStopSec), and raise "
        "num.recovery.threads.per.data.dir.",
        severity=Severity.WARNING,
        confidence=0.9,
        t_end_ms=until_ms,
    )


def _named(dirs: Sequence[str]) -> Mapping[str, str | tuple[str, ...]]:
    return {"log.dir": dirs[0]} if len(dirs) == 1 else {"log.dirs": tuple(dirs)}
