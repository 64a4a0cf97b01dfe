"""Anomalies of offsets that groups commit within transactions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from eosctl.lab.history.anomaly import Anomaly, Kind, in_order
from eosctl.lab.history.events import (
    Ended,
    EndInvoked,
    History,
    OffsetAsked,
    OffsetFetched,
    OffsetsSent,
    Outcome,
)
from eosctl.model.transaction import TopicPartition

Key = tuple[str, TopicPartition]
Committed = tuple[OffsetsSent, Ended]


class Question(NamedTuple):
    """The known state of a group's offset at the time of a request."""

    asked: OffsetAsked
    committed: Committed | None
    shown: OffsetFetched | None


def check_progress(history: History) -> Iterator[Anomaly]:
    """Yield stable offsets below an offset that was committed or returned before their request.

    Responses known to be stale are ignored.
    """
    sent: dict[str, list[OffsetsSent]] = defaultdict(list)
    committed: dict[Key, Committed] = {}
    shown: dict[Key, OffsetFetched] = {}
    asked: dict[tuple[str, Key], Question] = {}
    for event in history:
        match event:
            case OffsetsSent():
                sent[event.transaction].append(event)
            case Ended(outcome=Outcome.COMMITTED):
                for one in sent[event.transaction]:
                    key = (one.group, one.partition)
                    if key not in committed or committed[key][0].offset < one.offset:
                        committed[key] = (one, event)
            case OffsetAsked():
                key = (event.group, event.partition)
                asked[event.actor, key] = Question(event, committed.get(key), shown.get(key))
            case OffsetFetched(is_stale=False):
                key = (event.group, event.partition)
                question = asked.get((event.actor, key))
                if question is not None:
                    yield from _judge(event, question)
                if key not in shown or _offset_of(event) > _offset_of(shown[key]):
                    shown[key] = event


def check_origins(history: History) -> Iterator[Anomaly]:
    """Yield offsets that were never sent, sent only by aborted transactions, or returned before their commit."""
    aborted = {e.transaction: e for e in history if isinstance(e, Ended) and e.outcome is Outcome.ABORTED}
    sent: dict[tuple[Key, int], list[OffsetsSent]] = defaultdict(list)
    committing: set[str] = set()
    for event in history:
        match event:
            case OffsetsSent():
                sent[(event.group, event.partition), event.offset].append(event)
            case EndInvoked(committed=True):
                committing.add(event.transaction)
            case OffsetFetched(offset=int()):
                origins = sent.get(((event.group, event.partition), _offset_of(event)), [])
                subject = f"{event.group} in {event.partition}: {event.offset}"
                if not origins:
                    yield Anomaly(Kind.PHANTOM_READ, subject, (event,))
                elif all(origin.transaction in aborted for origin in origins):
                    origin = origins[-1]
                    witness = in_order(origin, aborted[origin.transaction], event)
                    yield Anomaly(Kind.ABORTED_OFFSET, f"{subject} of {origin.transaction}", witness)
                elif not any(origin.transaction in committing for origin in origins):
                    yield Anomaly(Kind.UNSTABLE_OFFSET, f"{subject} of {origins[-1].transaction}", (origins[-1], event))


def _judge(event: OffsetFetched, question: Question) -> Iterator[Anomaly]:
    place = f"{event.group} in {event.partition}: {event.offset}"
    committed, shown = question.committed, question.shown
    if committed is not None and _offset_of(event) < committed[0].offset:
        witness = in_order(*committed, question.asked, event)
        yield Anomaly(Kind.LOST_OFFSET, f"{place} after {committed[0].offset} was committed", witness)
    if shown is not None and _offset_of(event) < _offset_of(shown):
        witness = in_order(shown, question.asked, event)
        yield Anomaly(Kind.OFFSET_REGRESSION, f"{place} after {shown.offset} was shown", witness)


def _offset_of(fetched: OffsetFetched) -> int:
    return -1 if fetched.offset is None else fetched.offset
