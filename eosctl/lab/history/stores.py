"""State stores of Kafka Streams after a crash: they hold what is committed in their changelogs, and nothing else.

A change ends in its key and number: `streams-kept-a.1/3/0|feed/7/1|key-2=17`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from eosctl.lab.history.anomaly import Anomaly, Kind, in_order
from eosctl.lab.history.events import Drained, Ended, History, Outcome, Polled, SendInvoked, Sent, StoreSeen
from eosctl.model.transaction import TopicPartition

WIPED: Final = "wipe"


class Change(NamedTuple):
    """A committed change of a store."""

    key: str
    number: int
    read: Polled


def change_of(value: str) -> tuple[str, int] | None:
    """Return the key and the number of a change; None for other values.

    >>> change_of("streams-kept-a.1/3/0|feed/7/1|key-2=17")
    ('key-2', 17)
    """
    key, mark, number = value.rpartition("|")[2].rpartition("=")
    return (key, int(number)) if mark and number.isdecimal() else None


def content_text(content: Mapping[str, int]) -> str:
    """Return the content of a store as text, in the order of its keys.

    >>> content_text({"b": 2, "a": 1})
    'a=1 b=2'
    """
    return " ".join(f"{key}={number}" for key, number in sorted(content.items()))


def check_stores(history: History) -> Iterator[Anomaly]:
    """Yield stores that lack committed changes up to their offset, or hold changes that were never committed.

    The numbers of a key grow from one committed change to the next. Only changelogs that were read completely show that
    a change was not committed.
    """
    changes = _changes(history)
    drained = {event.partition: event for event in history if isinstance(event, Drained)}
    sends: dict[tuple[TopicPartition, str, int], SendInvoked] = {}
    for event in history:
        if isinstance(event, SendInvoked) and (found := change_of(event.value)) is not None:
            sends.setdefault((event.partition, *found), event)
    for event in history:
        if not isinstance(event, StoreSeen):
            continue
        content, place = _content(event), f"{event.actor} at {event.partition}@{event.offset}"
        committed = changes.get(event.partition, ())
        for key, number, read in reversed(committed):
            if read.offset <= _last(event) and content.get(key, 0) < number:
                yield Anomaly(Kind.STORE_DIVERGENCE, f"{place} lacks {key}={number}", in_order(read, event))
                break
        known = {(key, number) for key, number, _ in committed}
        for change in content.items():
            sent = sends.get((event.partition, *change))
            if sent is not None and event.partition in drained and change not in known:
                witness = in_order(sent, event, drained[event.partition])
                subject = f"{place} holds {change[0]}={change[1]}, which is not committed"
                yield Anomaly(Kind.STORE_DIVERGENCE, subject, witness)
                break


def check_restorations(history: History) -> Iterator[Anomaly]:
    """Yield stores that restored less or more than what their changelog has behind the kept offset.

    A store that kept its offset is not wiped, and restores only the rest.
    """
    changes = _changes(history)
    for event in history:
        if not isinstance(event, StoreSeen) or event.moment == "closed":
            continue
        kept, last = -1 if event.kept_offset is None else event.kept_offset, _last(event)
        subject = (
            f"{event.actor} at {event.partition}: {event.start} with {event.restored_count} records between "
            f"{event.kept_offset} and {event.offset}"
        )
        if event.restored_count > last - kept or (event.start == WIPED and event.kept_offset is not None):
            yield Anomaly(Kind.WRONG_RESTORATION, subject, (event,))
            continue
        reads = [read for _, _, read in changes.get(event.partition, ()) if kept < read.offset <= last]
        if event.restored_count < len(reads):
            witness = in_order(*reads[: event.restored_count + 1], event)
            yield Anomaly(Kind.WRONG_RESTORATION, f"{subject}, {len(reads)} are committed", witness)


def check_staleness(history: History) -> Iterator[Anomaly]:
    """Yield restored stores that lack changes of a transaction whose commit was known before the restoration."""
    invoked: dict[str, SendInvoked] = {}
    newest: dict[str, dict[TopicPartition, Sent]] = defaultdict(dict)
    known: dict[TopicPartition, list[tuple[Sent, Ended]]] = defaultdict(list)
    for event in history:
        match event:
            case SendInvoked() if event.transaction and change_of(event.value) is not None:
                invoked[event.value] = event
            case Sent() if event.value in invoked:
                newest[invoked[event.value].transaction][event.partition] = event
            case Ended(outcome=Outcome.COMMITTED):
                for place, last in newest.pop(event.transaction, {}).items():
                    known[place].append((last, event))
            case StoreSeen(moment="restored"):
                before = [pair for pair in known[event.partition] if pair[1].at_ms < event.began_at_ms]
                if before and before[-1][0].offset > _last(event):
                    last, ended = before[-1]
                    subject = f"{event.actor} at {event.partition}@{event.offset} lacks {last.value}"
                    yield Anomaly(Kind.STALE_STORE, subject, in_order(invoked[last.value], last, ended, event))
            case _:
                pass


def _changes(history: History) -> dict[TopicPartition, tuple[Change, ...]]:
    """Return the committed changes of each changelog, by offset."""
    places = {event.partition for event in history if isinstance(event, StoreSeen)}
    found: dict[TopicPartition, dict[int, Change]] = defaultdict(dict)
    for event in history:
        if isinstance(event, Polled) and event.partition in places and (change := change_of(event.value)) is not None:
            found[event.partition].setdefault(event.offset, Change(*change, event))
    return {place: tuple(change for _, change in sorted(by_offset.items())) for place, by_offset in found.items()}


def _content(event: StoreSeen) -> dict[str, int]:
    return {key: int(number) for key, _, number in (part.rpartition("=") for part in event.content.split())}


def _last(event: StoreSeen) -> int:
    return -1 if event.offset is None else event.offset
