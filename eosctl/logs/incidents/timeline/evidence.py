"""Make an incident of its evidence: the places of its records, and its period."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final

from eosctl.logs.incidents.timeline.times import PLACE, time_of
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

MAX_EVIDENCE_COUNT = 40
"""Evidence lines of one incident; the first of each file are kept."""
TEXT_CHARACTERS: Final = 160
"""Maximum length of a quoted message."""
_CAUSE_CHARACTERS: Final = 100
"""The length that is left for a cause at the end of a long message."""
_BEFORE_WORDS: Final = re.compile(
    r"^(?:\w{0,40}\{[^{}]{0,200}\}:{1,2})+ ?(?:[\w:]{3,80}: )?|^\[\w{3,40} clientId=[^\]]{1,300}\] "
    r"|^(?:\(\w{1,40} ?\) )?(?:\[[^\]]{0,120}\] ?){2,6}"
    r"|^(?:Exception in thread \"[^\"]{1,120}\" )?(?:[a-z][\w$]{0,60}\.){2,10}(?=[A-Z]\w{2,80}(?:Exception|Error)\b)"
    r"(?:IllegalArgumentException: requirement failed: )?"
)
"""Spans of ``tracing``, the names of a Java client, values that a layout prints before the message, and packages."""
_CAUSE: Final = re.compile(r"\b(?:Caused? by: |Cause: |(?:error|err|reason)=)|\"err(?:or)?\": ?\"")


def evidence_of(events: Iterable[LogEvent]) -> tuple[EvidenceLine, ...]:
    """Return events as evidence: the first ones of every file, at most ``MAX_EVIDENCE_COUNT`` in all."""
    places = {(PLACE(event), EvidenceLine(event.file, event.offset, event.line)) for event in events}
    ordered = sorted(places, key=lambda place: place[0])
    files = len({place.file for _, place in ordered}) or 1
    share = max(1, MAX_EVIDENCE_COUNT // files)
    taken: dict[str, int] = defaultdict(int)
    kept = []
    for _, place in ordered:
        taken[place.file] += 1
        if taken[place.file] <= share:
            kept.append(place)
    return tuple(kept)


def places_of(events: Iterable[LogEvent]) -> Iterator[EvidenceLine]:
    """Yield the places of all events in their order."""
    return (EvidenceLine(event.file, event.offset, event.line) for event in events)


def joined_evidence(*parts: Iterable[EvidenceLine]) -> tuple[EvidenceLine, ...]:
    """Return the different places of several parts in their order, at most ``MAX_EVIDENCE_COUNT``."""
    return tuple(dict.fromkeys(place for part in parts for place in part))[:MAX_EVIDENCE_COUNT]


def shared_evidence(parts: Sequence[Sequence[EvidenceLine]]) -> tuple[EvidenceLine, ...]:
    """Return the same with the first places of each part, so that none is left out for a longer one."""
    share = max(1, MAX_EVIDENCE_COUNT // max(1, len(parts)))
    first = joined_evidence(*(part[:share] for part in parts))
    kept = frozenset(joined_evidence(first, *parts))
    return joined_evidence(*([place for place in part if place in kept] for part in parts))


def incident(
    kind: str,
    root_cause: str,
    subject: Mapping[str, str | tuple[str, ...]],
    events: Sequence[LogEvent],
    explanation: str,
    next_step: str,
    *,
    severity: Severity = Severity.ERROR,
    confidence: float = 0.9,
    t_start_ms: int | None = None,
    t_end_ms: int | None = None,
) -> Incident:
    """Create an incident from its evidence; start and end default to those of the evidence."""
    times = [time_of(event) for event in events]
    return Incident(
        kind=kind,
        root_cause=root_cause,
        severity=severity,
        confidence=confidence,
        subject={name: value for name, value in subject.items() if value},
        t_start_ms=min(times) if t_start_ms is None else t_start_ms,
        t_end_ms=max(times) if t_end_ms is None else t_end_ms,
        evidence=evidence_of(events),
        explanation=explanation,
        next_step=next_step,
    )


def short_text(message: str) -> str:
    """Return a message on one line; one of more than ``TEXT_CHARACTERS`` is cut.

    What comes before the words of a long message is left out first: spans of a trace, the names of the client, which
    the subject has, and values of the layout. If it names its cause only behind the cut, the middle is left out.

    >>> short_text("Fenced by\\n  epoch 3")
    'Fenced by epoch 3'
    """
    text = " ".join(message.split())
    if len(text) > TEXT_CHARACTERS:
        text = _BEFORE_WORDS.sub("", text, count=1)
    if len(text) <= TEXT_CHARACTERS:
        return text
    causes = [found.start() for found in _CAUSE.finditer(text)]
    if causes and causes[-1] > TEXT_CHARACTERS - _CAUSE_CHARACTERS:
        end = text[causes[-1] :]
        text = f"{text[: TEXT_CHARACTERS - min(len(end), _CAUSE_CHARACTERS) - 2]}… {end}"
    return f"{text[: TEXT_CHARACTERS - 1]}…" if len(text) > TEXT_CHARACTERS else text


def place_text(event: LogEvent) -> str:
    """Return a record's file, without its folders, and line."""
    return f"{PurePath(event.file.replace(chr(92), '/')).name}:{event.line}"
