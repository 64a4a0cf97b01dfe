"""Join a fault with its report by the application: the same sentence, with the same numbers, in one log.

A library logs a fault when it happens. The application receives it with its next call, minutes later, and logs it again
in its own form. Other occurrences of the fault have other numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, start_of, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.text import time_text

LATE_MS: Final = 1_800_000
"""Maximum time until an application reports a fault that it learns of with its next call."""
COMPARED: Final = 4
"""Number of equal faults before a report that it is compared with: those of other clients of the program."""
LEAST: Final = 2
"""Minimum number of numbers that identify a sentence: one may be a setting."""
_NUMBER: Final = re.compile(r"(?<![\w.#-])\d+(?:\.\d+)?")
_LABELS: Final = re.compile(r"\[[^\]\n]*\]")


def join_reported_again(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; one that a program reports again in the same words is a part of the first."""
    alike: dict[tuple[str, str, str], list[Incident]] = defaultdict(list)
    for one in sorted(incidents, key=lambda one: one.t_start_ms):
        for log in sorted({timeline.log_of(event) for event in timeline.evidence(one)}):
            alike[one.kind, one.root_cause, log].append(one)
    homes: dict[int, Incident] = {}
    for found in alike.values():
        for number, one in enumerate(found):
            before = found[max(0, number - COMPARED) : number]
            home = next((other for other in reversed(before) if _is_again(timeline, one, other)), None)
            if home is not None and id(one) not in homes and id(home) not in homes:
                homes[id(one)] = home
    return absorb(incidents, lambda one: homes.get(id(one)), _whole)


def _is_again(timeline: LogTimeline, one: Incident, first: Incident) -> bool:
    """Return whether an incident repeats the sentence of an earlier one, and names nothing that differs from it."""
    if one.t_start_ms - first.t_start_ms > LATE_MS:
        return False
    if any(name != "application" and first.subject.get(name, value) != value for name, value in one.subject.items()):
        return False
    own = [event for event in timeline.evidence(first) if event.application not in timeline.servers()]
    if not own:
        return False
    said = min(own, key=time_of)
    numbers = frozenset(_NUMBER.findall(_LABELS.sub(" ", said.message)))
    words = said.message.split()
    return len(numbers) >= LEAST and any(
        numbers <= frozenset(_NUMBER.findall(event.message)) and sum(word in event.message for word in words) >= LEAST
        for event in timeline.evidence(one)
        if event.message != said.message and event.application not in timeline.servers()
    )


def _whole(first: Incident, again: Sequence[Incident]) -> Incident:
    longest = max((first, *again), key=lambda one: len(one.explanation))
    subject = {**{name: value for one in again for name, value in one.subject.items()}, **first.subject}
    text = f"The application reported it at {time_text(start_of(again))}."
    return with_parts(first._replace(explanation=longest.explanation), again, text, subject=subject)
