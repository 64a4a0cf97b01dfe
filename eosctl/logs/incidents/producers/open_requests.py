"""Find the requests of a client that were unanswered while its transaction was open.

librdkafka logs how long a request was in flight, and the Java client how old the batches are that it gives up. Such a
client did not stall: it waited for a broker, and its transaction stayed open meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.producers.refused_producers import TROUBLE_MS, subject_of
from eosctl.logs.incidents.timeline.durations import DEFAULT_MS, OPEN_MS, allowed_ms, longest_ms
from eosctl.logs.incidents.timeline.evidence import incident, short_text
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import SUCCESSES, TROUBLE, UNANSWERED
from eosctl.logs.incidents.timeline.work import WORK
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text, time_text

_OF_COORDINATOR: Final = ("TXN_TIMEOUT_ABORT", "TXN_LATE_COMMIT")
_NAMED: Final = (*TROUBLE, *SUCCESSES, *WORK)
_CANCELED: Final = re.compile(r"\bdue to request timeout|\bin-flight [A-Z_]{3,40} request\b")
"""The Java client's words about a request that got no answer; a connection that is only idle ends without them."""
SHARE: Final = 2
"""A request must be unanswered for at least this part of the transaction's timeout to explain it."""


def open_requests(timeline: LogTimeline, events: Sequence[LogEvent], rollback_ms: int) -> Sequence[LogEvent]:
    """Return the records of requests that had no answer for most of a transaction's timeout before its rollback.

    Args:
        timeline: The logs.
        events: The rollback and the refusals of the client; a client and its program may have logs of their own.
        rollback_ms: When the coordinator rolled the transaction back, ms since the epoch.
    """
    last_of_logs = {timeline.log_of(one): one for one in events if one.category not in _OF_COORDINATOR}
    return [wait for one in last_of_logs.values() for wait in _open_requests(timeline, one, rollback_ms)]


def _open_requests(timeline: LogTimeline, last: LogEvent, rollback_ms: int) -> list[LogEvent]:
    least_ms = (allowed_ms(timeline, last) or DEFAULT_MS) / SHARE
    near = timeline.log_between(last, rollback_ms - TROUBLE_MS, time_of(last), UNANSWERED)
    return [one for one in near if least_ms <= (ms := longest_ms(one)) <= OPEN_MS and time_of(one) - ms <= rollback_ms]


def failed_requests(timeline: LogTimeline, transactional_id: str, refusal: LogEvent) -> Sequence[LogEvent]:
    """Return the records of a client's failed requests before its refusal, in order of time.

    They count for ``TROUBLE_MS``; of a producer that logged nothing more after them, for as long as a transaction may
    be open: its transaction stayed open, and its next request was the refused one.

    Args:
        timeline: The logs.
        transactional_id: The id of the producer; without one, only requests near the refusal are found.
        refusal: The first record of the refusal.
    """
    until_ms = time_of(refusal)
    near = timeline.log_between(refusal, until_ms - TROUBLE_MS, until_ms, UNANSWERED)
    if near or not transactional_id:
        return near
    named = within(timeline.client_events_about(transactional_id, *_NAMED), until_ms - OPEN_MS, until_ms - 1)
    own = [one for one in named if timeline.log_of(one) == timeline.log_of(refusal)]
    if not own or until_ms - time_of(own[-1]) < DEFAULT_MS or not _is_failed(own[-1]):
        return []
    return [one for one in own if _is_failed(one) and time_of(one) >= time_of(own[-1]) - TROUBLE_MS]


def _is_failed(event: LogEvent) -> bool:
    return event.category in UNANSWERED or _CANCELED.search(event.message) is not None


def waited(
    timeline: LogTimeline, transactional_id: str, waits: Sequence[LogEvent], events: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer whose transaction timed out while a broker did not answer its requests."""
    rollback = next((one for one in events if one.category == "TXN_TIMEOUT_ABORT"), None)
    when = f" at {time_text(time_of(rollback))}" if rollback is not None else ""
    return incident(
        "transaction_timeout",
        "requests-unanswered-beyond-transaction-timeout",
        subject_of(timeline, transactional_id, events[-1]),
        [*waits, *events],
        f"A broker did not answer the client of {transactional_id} for {duration_text(longest_ms(waits[0]))}, so its "
        f"transaction was open for longer than its timeout. The coordinator rolled it back{when} and raised the epoch, "
        f"and the producer was refused. No other producer had taken the id. The client waited for: "
        f'"{short_text(waits[0].message)}".',
        "Find why that broker did not answer: its log of this time, its disk, and the network to it. Create a new "
        "producer, and process the records again from the last committed offsets.",
        confidence=0.85,
        t_start_ms=min(map(time_of, (*waits, *events))),
    )
