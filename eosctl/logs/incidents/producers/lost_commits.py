"""Detect transactions that a coordinator aborted at their timeout before a sink could commit them after a restart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text

_BURST_MS: Final = 30_000
MOMENT_MS: Final = 1_000
"""Maximum time from a client's refusal to the record in which its program reports it."""


def find_lost_commits(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield one incident for each recovery of a sink whose transactions a coordinator had rolled back."""
    lost = [one for one in timeline.client_events("COMMIT_LOST") if _rollbacks(timeline, one)]
    for events in by_key((timeline.log_of(one), one) for one in lost).values():
        for burst in episodes(events, _BURST_MS):
            yield _aborted(timeline, burst, [one for event in burst for one in _rollbacks(timeline, event)])


def loses_commit(timeline: LogTimeline, refusals: Sequence[LogEvent]) -> bool:
    """Return whether refusals ended the commit of a sink, which its program reports without the id."""
    start_ms, end_ms = time_of(refusals[0]), time_of(refusals[-1]) + MOMENT_MS
    return bool(timeline.log_between(refusals[0], start_ms, end_ms, ("COMMIT_LOST",)))


def _rollbacks(timeline: LogTimeline, event: LogEvent) -> Sequence[LogEvent]:
    """Return the last rollback of the transaction that a sink could not commit; empty if no log has one."""
    named = timeline.transactional_id(event)
    aborts = timeline.server_events_about(named, "TXN_TIMEOUT_ABORT") if named else ()
    return [one for one in aborts if time_of(one) <= time_of(event)][-1:]


def _warnings(timeline: LogTimeline, lost: Sequence[LogEvent], since_ms: int, ids: Set[str]) -> Sequence[LogEvent]:
    """Return the sink's warnings, as it restores its transactions, that they are older than their timeout."""
    near = timeline.log_between(lost[0], since_ms, time_of(lost[-1]), ("CLIENT_TXN_OVERDUE",))
    return [one for one in near if timeline.transactional_id(one) in ids]


def _aborted(timeline: LogTimeline, lost: Sequence[LogEvent], rollbacks: Sequence[LogEvent]) -> Incident:
    ids = tuple(sorted({timeline.transactional_id(one) for one in lost}))
    warnings = _warnings(timeline, lost, min(map(time_of, rollbacks)), frozenset(ids))
    waited_ms = time_of(lost[0]) - max(map(time_of, rollbacks))
    return incident(
        "commit_lost",
        "aborted-before-its-commit",
        {
            "transactional.id": ids[0] if len(ids) == 1 else "",
            "transactional.ids": ids if len(ids) > 1 else (),
            "application": lost[0].application,
        },
        [*rollbacks, *warnings, *lost],
        f"The coordinator aborted {count_text(len(ids), 'transaction')} at the timeout, {duration_text(waited_ms)} "
        "before their sink was back to commit them: readers never see records that a checkpoint counts as complete.",
        "Restore the records from their source. Set transaction.timeout.ms of the sink (and transaction.max.timeout.ms "
        "of the brokers) above the longest time that the job can be down.",
        severity=Severity.CRITICAL,
        confidence=0.95,
    )
