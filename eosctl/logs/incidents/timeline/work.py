"""Recognize the records with which a program, or its client library, shows that it continues its work.

A commit, delivered records, or a completed checkpoint is work. A client that is initialized, connected, or assigned
partitions is only ready to work: a fault that lasts refuses its next call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.incidents.timeline.own_words import is_initialization
from eosctl.logs.incidents.timeline.times import PLACE
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import ERROR_LEVELS, LogEvent, is_problem
from eosctl.model.log_totals import Overcome

WORK: Final[tuple[EventCategory, ...]] = (
    *("CHECKPOINT_COMPLETED", "ROUTINE", "SEND_RECOVERED", "SOURCE_RESUMED", "STREAM_STATE", "TXN_COMMITTED"),
    *("TXN_RETRIED", "WORK_DONE"),
)
"""Categories of records that can show work."""
READY: Final[tuple[EventCategory, ...]] = (
    *("ASSIGNMENT_CHANGE", "INIT_PRODUCER_ID", "METADATA_RECEIVED", "REBALANCE_DONE", "TRANSACTIONAL_ID_NAMED"),
    *("WORKS_AGAIN", "WORK_DONE"),
)
"""Categories of records that can show a client that is ready."""
TAKEN_AWAY: Final = re.compile(r"(?i:\brevok\w+(?!\w*=\[\])|\blost\b|\bun-?assign)|\bconnectorIds=\[\], taskIds=\[\]")
"""Words about partitions that a member no longer has, and an assignment of Connect with nothing in it."""
STORED: Final = re.compile(r"\bFinished commitOffsets successfully|Committing offsets for \d+ acknowledged messages")
_RUNNING: Final = "RUNNING"
_DONE: Final = re.compile(r"\b(?:committed|ok|OK|succeeded|successful(?:ly)?|done)\b")
VERBS: Final = f"(?:{'|'.join((*load_catalog().words_of_work, 'committed'))})"
"""Words of programs for work that is done."""
_NOTHING: Final = re.compile(
    rf"(?i:\b{VERBS} (?:[a-z]+ ){{0,2}}0(?![\w.,])(?! of \d)|(?<![\w.,:-])0 (?:[\w-]+ ){{1,3}}{VERBS}\b"
    rf"|\b{VERBS}\b[^\n=:]{{0,40}}[=:] ?0(?![\w.,]))"
)
"""A count of nothing: an idle program reports it, and a program that cannot work does, too."""
_COUNTED: Final = re.compile(rf"(?i:\b{VERBS}\b)")
_AGAIN: Final = re.compile(r"\b(?:caught up|again|back (?:online|to normal|up)|UP|attempts?|retr(?:y|ies))\b")
_TROUBLE: Final = (
    r"(?:errors?|failures?|failed|failing|faults?|lag|loss(?:es)?|lost|drop(?:s|ped)?|retr(?:y|ies|ied)|problems?"
    r"|issues?|duplicates?|exceptions?|warnings?|time-?outs?|skipped|rejected|refused|aborted|pending|in[ -]flight"
    r"|backlog|behind|waiting|remaining|open|queued?)"
)
_HARMLESS: Final = re.compile(
    rf"(?i:(?<![\w.,:-])(?:no|without|zero|0)(?: (?!be\b)[a-z][\w-]*){{0,2}} {_TROUBLE}\b"
    rf"|\b(?:[\w-]+[_.-])?{_TROUBLE}\b['\"]?(?: count| total)?\s?[=:]?\s?"
    r"(?:0(?![\d/]|[.,:]\d)|(?:none|no|false|nil|null|ok)\b)"
    r"|\bafter (?:[\w-]+ ){0,4}(?:attempts?|retr(?:y|ies)|time-?outs?|errors?|failures?|aborts?|restarts?|outages?)\b)"
)
"""Trouble that did not occur, and trouble that is over."""
_DENIED: Final = re.compile(
    r"(?i:(?<![\w./-])(?:no|not|none|nothing|never|neither|nor|without|zero|cannot|hardly|barely|unable|unavailable"
    r"|unreachable|fail\w*|errors?|exceptions?|fatal|refus\w*|reject\w*|denied|timed[ -]out|fenced|expired"
    r"|time-?outs?(?! ?[=:] ?\d)"
    r"|lost|stuck|stall\w*|blocked|idle|suspended|paused|halted|frozen|stopp\w*|(?:gave|giving|give) up|wait\w*"
    r"|await\w*|would|will|should|must|could|may|until|unless|if|to be|being|about to|trying|try|tries|attempting"
    r"|next|ago|expect\w*)(?![./-]?\w)|n't\b)"
)
"""Words with which a sentence about work denies it, expects it, or dates it back."""


def can_prove(event: LogEvent) -> bool:
    """Return whether a record can prove a success: it is not an error, and its sentence does not deny what it names."""
    return event.level not in ERROR_LEVELS and not denies(event.message)


def is_work(event: LogEvent) -> bool:
    """Return whether a record shows that records were processed, written, or committed."""
    if not can_prove(event):
        return False
    match event.category:
        case "TXN_COMMITTED" | "WORK_DONE":
            is_counted = _COUNTED.search(event.message) or _AGAIN.search(event.message) or _DONE.search(event.message)
            return bool(is_counted) and not _NOTHING.search(event.message)
        case "CHECKPOINT_COMPLETED" | "SEND_RECOVERED" | "SOURCE_RESUMED":
            return True
        case "STREAM_STATE":
            return event.fields.get("to_state") == _RUNNING
        case "ROUTINE":
            return "successfully" in event.message and STORED.search(event.message) is not None
        case "TXN_RETRIED":
            return _DONE.search(event.message) is not None
    return False


def is_ready(event: LogEvent) -> bool:
    """Return whether a record shows a client that can begin to work: initialized, connected, or with partitions."""
    if not can_prove(event):
        return False
    match event.category:
        case "INIT_PRODUCER_ID" | "WORKS_AGAIN":
            return True
        case "ASSIGNMENT_CHANGE" | "REBALANCE_DONE":
            return TAKEN_AWAY.search(event.message) is None
        case "METADATA_RECEIVED" | "TRANSACTIONAL_ID_NAMED":
            return is_initialization(event)
        case "WORK_DONE":
            return not is_work(event) and not _NOTHING.search(event.message)
    return False


def find_overcome(events: Iterable[LogEvent]) -> Overcome:
    """Return what followed the last error or warning of each program; events without a time show nothing.

    Args:
        events: All events of a scan, in any order.
    """
    last: dict[str, LogEvent] = {}
    works: dict[str, LogEvent] = {}
    ready: dict[str, LogEvent] = {}
    for event in sorted((one for one in events if one.time_ms is not None), key=PLACE):
        if is_problem(event):
            last[event.application] = event
            works.pop(event.application, None)
            ready.pop(event.application, None)
        elif event.application in last and event.application not in works:
            if is_work(event):
                works[event.application] = event
            elif is_ready(event):
                ready.setdefault(event.application, event)
    working = tuple(works[name] for name in last if name in works)
    return Overcome(len(last), working, tuple(ready[name] for name in last if name in ready and name not in works))


@lru_cache(maxsize=4_096)
def denies(message: str) -> bool:
    """Return whether a sentence denies, expects, or dates back what it names.

    >>> denies("matcher: nothing consumed for 200s")
    True
    >>> denies("delivered 500 records, 0 failed"), denies("commit ok after 2 failed attempts")
    (False, False)
    """
    return _DENIED.search(_HARMLESS.sub(" ", message)) is not None
