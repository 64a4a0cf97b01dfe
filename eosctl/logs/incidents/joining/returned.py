"""Report a fault that returns now and then as one incident: equal ones, however long the pauses between them are.

The judge joins what returns within ten minutes (``joining/repeats.py``). It cannot join across longer pauses, because a
slice of a long log does not see them. A report sees all incidents, and lists a fault once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import shared_evidence
from eosctl.model.incident import Incident
from eosctl.text import count_text, time_text

RETURNS: Final = 3
"""Minimum number of equal incidents for one that stands for all."""


def fold_returned(incidents: Iterable[Incident]) -> tuple[Incident, ...]:
    """Return incidents in order of their starts; those with equal severity, kind, cause, and subject are one.

    The last one says how the fault ended, so its explanation stands for all.
    """
    equal: dict[Hashable, list[Incident]] = defaultdict(list)
    for one in incidents:
        equal[one.severity, one.kind, one.root_cause, frozenset(one.subject.items())].append(one)
    folded = (whole for ones in equal.values() for whole in ([_whole(ones)] if len(ones) >= RETURNS else ones))
    return tuple(sorted(folded, key=lambda one: (one.t_start_ms, one.kind, str(one.subject))))


def _whole(ones: Sequence[Incident]) -> Incident:
    ordered = sorted(ones, key=lambda one: (one.t_start_ms, one.t_end_ms))
    first, last = ordered[0], ordered[-1]
    before = f"The same happened {count_text(len(ones) - 1, 'time')} before, first at {time_text(first.t_start_ms)}."
    return last._replace(
        confidence=max(one.confidence for one in ones),
        t_start_ms=first.t_start_ms,
        t_end_ms=max(one.t_end_ms for one in ones),
        evidence=shared_evidence([one.evidence for one in ordered]),
        explanation=f"{last.explanation} {before}",
    )
