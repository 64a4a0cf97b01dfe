"""Histories as text: one JSON object per line with the type in `event` and its fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from eosctl.errors import DecodeError
from eosctl.lab.history.events import Event, History, Outcome
from eosctl.model.transaction import TopicPartition

_TYPES: dict[str, Any] = {kind.__name__: kind for kind in get_args(Event)}


def encode_event(event: Event) -> str:
    """Return an event as a line, without line end."""
    return json.dumps({"event": type(event).__name__, **event._asdict()}, separators=(",", ":"))


def encode_history(history: History) -> str:
    """Return a history as lines."""
    return "".join(f"{encode_event(event)}\n" for event in history)


def decode_history(lines: Iterable[str]) -> History:
    """Decode a history from lines; skip blank lines.

    Events of the same actor, transaction, partition, or value share the object, as those of a running recorder do,
    which saves memory.

    Raises:
        DecodeError: A line is not an event.
    """
    shared: dict[Any, Any] = {}
    return tuple(_decode(number, line, shared) for number, line in enumerate(lines, 1) if line.strip())


def decode_events(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events of lines without sharing objects; skip blank lines.

    Raises:
        DecodeError: A line is not an event.
    """
    return (_decode(number, line, {}) for number, line in enumerate(lines, 1) if line.strip())


def _decode(number: int, line: str, shared: dict[Any, Any]) -> Event:
    try:
        fields = json.loads(line)
        event = _TYPES[fields.pop("event")]
        for name, field in fields.items():
            if isinstance(field, str):
                fields[name] = shared.setdefault(field, field)
        if "partition" in fields:
            place = TopicPartition(*fields["partition"])
            fields["partition"] = shared.setdefault(place, place)
        if "outcome" in fields:
            fields["outcome"] = Outcome(fields["outcome"])
        if "isr" in fields:
            fields["isr"] = tuple(fields["isr"])
        decoded: Event = event(**fields)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DecodeError(
            f"Line {number} of the history is not an event: {error}.",
            "Each line is a JSON object with an event's name and its fields.",
            "Check whether the file is complete.",
        ) from error
    return decoded
