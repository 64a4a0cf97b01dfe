"""Observe readers without a reset policy whose position is not in the log, and programs that keep offsets themselves.

The Java client throws its own ``OffsetOutOfRangeException`` only without a policy (``Fetcher``, and ``FetchCollector``
of later releases); librdkafka returns ``_AUTO_OFFSET_RESET`` with ``auto.offset.reset=error``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

STILL_MS: Final = 1_000
"""Minimum time between two refusals of an offset that are not the records of one."""
_SEARCHED: Final = 200
"""Maximum number of records of a log in which the program is recognized."""
_WITHOUT: Final = re.compile(
    r"no (?:configured )?reset policy|\b_AUTO_OFFSET_RESET\b|No offset to automatically reset to"
    r"|clients\.consumer\.OffsetOutOfRangeException"
    # Spark's direct stream asks for a range by itself.
    r"|Offsets not available on leader: OffsetRange|Ran out of messages before reaching ending offset"
)
_RESET: Final = re.compile(r"is out of range for partition [^\n]{1,300}, resetting offset|\boffset reset \(")
_RESET_TO: Final = re.compile(
    r"\boffset reset \(at offset (?P<offset>\d{1,19})\b[^)\n]{0,60}\) to (?P<end>BEGINNING|END)\b"
)
_ASKED: Final = re.compile(
    r"FetchPosition\{offset=(?P<position>\d{1,19})|range: \[(?P<range>\d{1,19}) ->"
    r"|[{\[ ][\w.-]{1,249}-\d{1,10}=(?P<listed>\d{1,19})[,}\]]"
)
_OF_CLIENT: Final = "org.apache.kafka.clients.consumer.OffsetOutOfRangeException"


class _Keeper(NamedTuple):
    """A program that keeps its offsets itself: its records, its place for them, and how they are set."""

    name: str
    records: re.Pattern[str]
    place: str
    reset: str


_KEEPERS: Final = (
    _Keeper(
        "Druid",
        re.compile(r"\borg\.apache\.druid\.|\bio\.druid\."),
        "the metadata of its supervisor",
        "reset the supervisor, or set resetOffsetAutomatically in its tuningConfig",
    ),
    _Keeper(
        "Flink",
        re.compile(r"\borg\.apache\.flink\."),
        "the checkpoints of the job",
        "start the job from another savepoint, or without the state of its source",
    ),
    _Keeper(
        "Pinot",
        re.compile(r"\borg\.apache\.pinot\."),
        "the metadata of its segments",
        "resume the consumption of the table from another offset",
    ),
    _Keeper(
        "Spark",
        re.compile(r"\borg\.apache\.spark\.|\bLost task [\d.]{3,20} in stage |\bTaskSetManager\b"),
        "a checkpoint, or where the job stores it",
        "correct the offset there, or begin with a new checkpoint",
    ),
)


def has_no_reset_policy(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a client that reports a position out of range to its program, because it may not set another one."""
    if not any(map(_is_without, events)) or any(_RESET.search(event.message) for event in events):
        return None
    asked = [(time_of(event), offset) for event in events if (offset := _asked_in(event))]
    values: dict[str, str] = {}
    if len({offset for _, offset in asked}) == 1:
        first, last = asked[0][0], asked[-1][0]
        values["asked"] = asked[0][1]
        if last - first >= STILL_MS:
            values |= {"asked-at": time_text(first), "asked-until": time_text(last)}
    if keeper := _keeper_of(timeline, events):
        values |= {"keeper": keeper.name, "kept-in": keeper.place, "reset": keeper.reset}
    return values


def _is_without(event: LogEvent) -> bool:
    chain = event.exception.chain if event.exception is not None else ()
    return _OF_CLIENT in chain or _WITHOUT.search(_text_of(event)) is not None


def _asked_in(event: LogEvent) -> str:
    """Return the only offset that a record names; empty without one, or with those of several partitions."""
    found = {match["position"] or match["range"] or match["listed"] for match in _ASKED.finditer(_text_of(event))}
    return found.pop() if len(found) == 1 else ""


def _text_of(event: LogEvent) -> str:
    return f"{event.message}\n{event.fields.get('thrown', '')}"


def _keeper_of(timeline: LogTimeline, events: Sequence[LogEvent]) -> _Keeper | None:
    """Return the program of a log that keeps its offsets itself; None if its records show none."""
    texts = [f"{event.logger} {_text_of(event)}" for event in (*events, *timeline.log_with(events[0])[:_SEARCHED])]
    return next((one for one in _KEEPERS if any(map(one.records.search, texts))), None)


def is_reset_by_client(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe clients of librdkafka that continue at an end of the log, and report nothing else about it."""
    found = [_RESET_TO.search(event.message) for event in events]
    first = found[0]
    if first is None or not all(found):
        return None
    return {"reset-from": first["offset"], "reset-to": first["end"].lower()}
