"""Steps of a lane that repeat, as one mark: an incident is readable with 30,000 events, too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from eosctl.model.timeline import Lane, Mark, Timeline, Tone
from eosctl.text import count_text

#: A timeline with fewer marks is shown as it is.
FOLDED_FROM: Final = 60
#: Fewer repetitions are read faster one by one.
_LEAST: Final = 4
#: A transaction has at most these steps: its start, its end, and what is between them.
_LONGEST_CYCLE: Final = 4
_NUMBERS: Final = re.compile(r"\d+")
#: What a folded mark means: the strongest of its steps.
_STRENGTH: Final = (Tone.PLAIN, Tone.COMMIT, Tone.ABORT)
_MOST_LANE_MARKS: Final = 2_000


def fold_repeated(timeline: Timeline) -> Timeline:
    """Return a timeline for people: cycles of steps that differ only in numbers are one mark with their count.

    Open transactions, takeovers, and warnings are never folded. A lane that still has more than 2,000 marks keeps the
    last ones. Both are said in the notes.
    """
    if sum(len(lane.marks) for lane in timeline.lanes) < FOLDED_FROM:
        return timeline
    notes = list(timeline.notes)
    lanes = []
    folded = 0
    for lane in timeline.lanes:
        marks = tuple(_folded(lane.marks))
        folded += len(marks) != len(lane.marks)
        if len(marks) > _MOST_LANE_MARKS:
            notes.append(f"{lane.name}: the last {_MOST_LANE_MARKS:,} of {count_text(len(marks), 'mark')} are shown.")
        lanes.append(Lane(lane.kind, lane.name, marks[-_MOST_LANE_MARKS:]))
    if folded:
        notes.append("Steps that repeat are shown as one with their number; -o json and -o tsv have each.")
    return replace(timeline, lanes=tuple(lanes), notes=tuple(notes))


def _folded(marks: Sequence[Mark]) -> Iterator[Mark]:
    shapes = [_shape(mark) for mark in marks]
    at = 0
    while at < len(marks):
        length, times = _longest_cycle(shapes, at)
        if times:
            yield _joined(marks[at : at + length * times], length)
            at += length * times
        else:
            yield marks[at]
            at += 1


def _shape(mark: Mark) -> str:
    """Return what two repeated steps have in common; empty for one that is never folded."""
    if mark.tone not in _STRENGTH:
        return ""
    return f"{mark.tone.value} {mark.until_ms is None} {_NUMBERS.sub('#', mark.label)}"


def _longest_cycle(shapes: Sequence[str], at: int) -> tuple[int, int]:
    """Return how many steps from `at` on form a cycle, and how often it comes in a row; (0, 0) if not often enough."""
    best = (0, 0)
    for length in range(1, _LONGEST_CYCLE + 1):
        cycle = shapes[at : at + length]
        if "" in cycle or len(cycle) < length:
            break
        end = at + length
        while end < len(shapes) and shapes[end] == cycle[(end - at) % length]:
            end += 1
        times = (end - at) // length
        if times >= _LEAST and length * times > best[0] * best[1]:
            best = (length, times)
    return best


def _joined(marks: Sequence[Mark], length: int) -> Mark:
    first, last = marks[0], marks[-1]
    steps = "; ".join(mark.label for mark in marks[:length])
    return replace(
        first,
        until_ms=max(mark.at_ms if mark.until_ms is None else mark.until_ms for mark in marks),
        label=f"{len(marks) // length:,} times, the first: {steps}",
        tone=max((mark.tone for mark in marks[:length]), key=_STRENGTH.index),
        source=f"{first.source} to {last.source}",
    )
