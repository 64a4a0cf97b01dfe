"""Describe transactions of Flink's sinks that time out between two checkpoints of their job.

An exactly-once sink commits its transaction when a checkpoint is completed (``TwoPhaseCommitSinkFunction``,
``KafkaSink``). If checkpoints are further apart than ``transaction.timeout.ms``, each transaction is rolled back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from eosctl.logs.incidents.producers.refused_producers import subject_of
from eosctl.logs.incidents.timeline.durations import allowed_ms
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.program_names import program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text, time_text

REPORTED_MS: Final = 5_000
"""Maximum time from the refusal of a producer until the JobManager reports the failure of its job."""
_CERTAIN: Final = 0.9
_LIKELY: Final = 0.75
_NO_OTHER: Final = "No other producer had taken the id."
_OTHER: Final = "A second producer with the same id looks the same to a client."
_COMPLETED: Final = re.compile(r"Completed checkpoint \d+ for job (?P<job>\S+)")


class Apart(NamedTuple):
    """Two checkpoints of a job that are further apart than its sink's transactions may be open.

    Attributes:
        gap_ms: The shortest time between two completed checkpoints of the job, ms.
        allowed_ms: The transaction timeout of its sink, ms.
        last: The last checkpoint before the transaction timed out.
        records: All completed checkpoints of the job, in order of time.
    """

    gap_ms: int
    allowed_ms: int
    last: LogEvent
    records: Sequence[LogEvent]


def checkpoints_apart(timeline: LogTimeline, refusal: LogEvent, until_ms: int) -> Apart | None:
    """Return the checkpoints of the only job in the logs, if too far apart for its sink's transactions; else None.

    Args:
        timeline: The logs.
        refusal: A refusal of the sink's producer.
        until_ms: When the transaction was rolled back, or at the latest.
    """
    completed = timeline.of("CHECKPOINT_COMPLETED")
    jobs = {found["job"] for one in completed if (found := _COMPLETED.search(one.message))}
    gap_ms = min((time_of(after) - time_of(before) for before, after in pairwise(completed)), default=0)
    limit_ms = allowed_ms(timeline, refusal) or _only_timeout(timeline)
    last = next((one for one in reversed(completed) if time_of(one) < until_ms), None)
    if len(jobs) != 1 or last is None or not 0 < limit_ms < gap_ms or until_ms - time_of(last) < limit_ms:
        return None
    has_failed = within(timeline.of("CHECKPOINT_FAILED"), time_of(last), time_of(refusal))
    return None if has_failed else Apart(gap_ms, limit_ms, last, completed)


def between_checkpoints(
    timeline: LogTimeline, transactional_id: str, apart: Apart, events: Sequence[LogEvent], rollback: LogEvent | None
) -> Incident:
    """Return the incident of a sink whose transaction timed out before its job's next checkpoint.

    Args:
        timeline: The logs.
        transactional_id: The producer's id; empty if no record names it.
        apart: The checkpoints of its job.
        events: Its refusals, earliest first.
        rollback: The coordinator's record of the rollback; None if no log here has it.
    """
    who = transactional_id or program_of(timeline, events[-1])
    reports = _reports_of_job(timeline, apart, events)
    rolled_back = (
        f"so the coordinator rolled it back at {time_text(time_of(rollback))}, as its log shows"
        if rollback is not None
        else "so most likely the coordinator rolled it back"
    )
    failed = any(one.category == "JOB_RESTARTED" for one in reports)
    return incident(
        "transaction_timeout",
        "transaction-longer-than-its-timeout",
        subject_of(timeline, transactional_id, events[-1]),
        [*((rollback,) if rollback else ()), apart.last, *events, *reports],
        f"The transaction of {who} was not ended before its timeout of {duration_text(apart.allowed_ms)}, "
        f"{rolled_back}: Flink's sinks commit with a checkpoint, and those of this job are at least "
        f"{duration_text(apart.gap_ms)} apart. {_NO_OTHER if rollback is not None else _OTHER}"
        + (" The job failed with that, and starts again from its last checkpoint." if failed else ""),
        "Raise transaction.timeout.ms of the sink above the checkpoint interval and the time that a checkpoint may "
        "take (the brokers' transaction.max.timeout.ms must allow it), or shorten execution.checkpointing.interval.",
        confidence=_CERTAIN if rollback is not None else _LIKELY,
        t_start_ms=time_of(rollback or events[0]),
    )


def _only_timeout(timeline: LogTimeline) -> int:
    """Return the transaction timeout that all producers in the logs have, ms; 0 without one, or for several."""
    named = {value for one in timeline.of("CLIENT_CONFIG") if (value := one.fields.get("transaction_timeout_ms"))}
    return int(named.pop()) if len(named) == 1 else 0


def _reports_of_job(timeline: LogTimeline, apart: Apart, events: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return what the program that completes the checkpoints reports of a refusal: the failure of the job."""
    start_ms, end_ms = time_of(events[0]), time_of(events[-1]) + REPORTED_MS
    near = timeline.log_between(apart.last, start_ms, end_ms, ("PRODUCER_FENCED", "JOB_RESTARTED"))
    return [one for one in near if one not in events]
