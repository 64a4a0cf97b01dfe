"""Put the ids of a pasted text into the next steps of an entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Final

import msgspec

from eosctl.model.reference import Entry, EntryKind

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}|\b(TRANSACTIONAL-ID|TOPIC-PARTITION|GROUP|TOPIC)\b")
_REPORTED: Final = frozenset({EntryKind.ERROR, EntryKind.EXCEPTION, EntryKind.LOG_CATEGORY, EntryKind.STATE})
"""What happened to something that a text names; anything else is a subject."""


def filled_entry(entry: Entry, values: Mapping[str, str]) -> Entry:
    """Return an entry whose next steps have the ids of a text.

    Args:
        entry: The entry.
        values: The ids by their kind, as `PastedText.values` has them.
    """
    steps = [fill(step, values) for step in entry.next_steps]
    if entry.kind in _REPORTED:
        steps += [step for value, step in _steps_about(values) if not any(value in one.split() for one in steps)]
    return msgspec.structs.replace(entry, next_steps=tuple(steps))


def fill(step: str, values: Mapping[str, str]) -> str:
    """Return a command with the ids that are known; the others stay in capitals.

    >>> fill("eosctl txn blame TRANSACTIONAL-ID", {"transactional_id": "pay ments"})
    "eosctl txn blame 'pay ments'"
    >>> fill("eosctl group pending {group}", {})
    'eosctl group pending GROUP'
    """

    def filled(match: re.Match[str]) -> str:
        name = (match[1] or match[2]).lower().replace("-", "_")
        return quote(values[name]) if name in values else name.upper().replace("_", "-")

    return _PLACEHOLDER.sub(filled, step)


def _steps_about(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each id with the command that shows its state."""
    if "transactional_id" in values:
        name = quote(values["transactional_id"])
        yield name, f"eosctl txn describe {name}"
    if "topic_partition" in values:
        place = f"--topic {quote(values['topic'])} --partition {values['partition']}"
        producer = f" --producer-id {values['producer_id']}" if "producer_id" in values else ""
        yield values["topic_partition"], f"eosctl txn producers {place}{producer}"
    elif "producer_id" in values and "transactional_id" not in values:
        yield values["producer_id"], f"eosctl txn producers --producer-id {values['producer_id']}"
    if "group" in values:
        name = quote(values["group"])
        yield name, f"eosctl group lag {name}"
