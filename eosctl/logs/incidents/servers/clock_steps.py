"""Detect a machine's clock that was set while a transaction coordinator ran on it.

Coordinators measure the age of transactions by the machine's clock. A step forward makes every open transaction older
by its amount, and the coordinator rolls back those whose timeout it exceeds, without any fault of their clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, duration_text

SHORTEST_MS: Final = 10_000
"""A smaller step cannot exceed a transaction's timeout by itself."""
_NOTICED_MS: Final = 60_000
"""Coordinators search for timed-out transactions every 10 s, and write the markers of those that they find."""
_SLACK_MS: Final = 1_500
_SAME: Final = 0.01
"""Maximum difference between a step and its reversal, as a part of the step."""


def find_clock_steps(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the steps of clocks after which a coordinator on the same machine rolled back transactions."""
    steps = timeline.of("CLOCK_STEPPED")
    rollbacks = timeline.server_events("TXN_TIMEOUT_ABORT")
    for step in steps:
        forward_ms = _ms(step.fields.get("step_s"))
        if forward_ms < SHORTEST_MS:
            continue
        # The time service may report its step with the time before it.
        begins = (time_of(step), time_of(step) + forward_ms - _SLACK_MS)
        near = next(filter(None, (within(rollbacks, begin, begin + _NOTICED_MS) for begin in begins)), ())
        if own := [one for one in near if _is_of_machine(one, step)]:
            about = [one for one in steps if _is_of_machine(one, step) and _is_about(one, forward_ms)]
            yield _stepped(timeline, step, about, own)


def is_part_of_step(one: Incident, steps: Iterable[Incident]) -> bool:
    """Return whether a client's incident is a consequence of a step: each record of it is evidence of the step."""
    return any(set(one.evidence) <= set(step.evidence) for step in steps)


def _ms(seconds: str | None) -> int:
    return round(float(seconds or 0) * 1000)


def _is_of_machine(one: LogEvent, other: LogEvent) -> bool:
    return one.host == other.host if one.host and other.host else one.file == other.file


def _is_about(event: LogEvent, forward_ms: int) -> bool:
    """Return whether a record is about a step of this amount, or about its reversal."""
    amount_ms = abs(_ms(event.fields.get("step_s") or event.fields.get("wrong_s")))
    return abs(amount_ms - forward_ms) <= forward_ms * _SAME


def _stepped(
    timeline: LogTimeline, step: LogEvent, about: Sequence[LogEvent], rollbacks: Sequence[LogEvent]
) -> Incident:
    forward_ms = _ms(step.fields.get("step_s"))
    # The clock was right before the step if it was found wrong by the same amount afterwards.
    back = [one for one in about if _ms(one.fields.get("step_s") or one.fields.get("wrong_s")) < 0]
    shift_ms = forward_ms if any(time_of(one) > time_of(step) for one in back) else 0
    ids = tuple(sorted({one.fields.get("transactional_id", "") for one in rollbacks} - {""}))
    start_ms, end_ms = time_of(step) - shift_ms, time_of(rollbacks[-1]) - shift_ms
    refused = [
        one
        for one in within(
            timeline.client_events("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "CLIENT_FATAL"),
            start_ms - _SLACK_MS,
            end_ms + _NOTICED_MS,
        )
        if timeline.transactional_id(one) in (*ids, "")
    ]
    node = next((timeline.node_of(one.application) for one in rollbacks), "")
    machine = step.host or (f"broker {node}" if node else "a broker")
    return incident(
        "clock_stepped",
        "clock-set-forward",
        {
            "broker": node,
            "host": step.host,
            "transactional.id": ids[0] if len(ids) == 1 else "",
            "transactional.ids": ids if len(ids) > 1 else (),
        },
        [*about, *rollbacks, *refused],
        f"The clock of {machine} was set forward by {duration_text(forward_ms)}, so the transaction coordinator there "
        f"took {count_text(len(rollbacks), 'transaction')} for older than the timeout and rolled them back. Their "
        "clients did not stall." + (" The clock was right before: its new time source is wrong." if shift_ms else ""),
        "Check the time sources of this machine (chronyc sources, ntpq -p): let them slew the clock, and do not step "
        "it while a broker runs. The clients are not at fault: start them again; do not raise transaction.timeout.ms.",
        confidence=0.9,
        t_start_ms=start_ms,
        t_end_ms=max([end_ms, *map(time_of, refused)]),
    )
