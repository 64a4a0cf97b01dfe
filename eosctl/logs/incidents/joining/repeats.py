"""Join incidents that repeat: one fault that returns, or one that affects many clients or partitions together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from eosctl.logs.incidents.joining.absorbing import Subject, start_of, worst_of
from eosctl.logs.incidents.timeline.backoffs import in_backoff
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, joined_evidence, shared_evidence
from eosctl.model.incident import Incident
from eosctl.text import count_text, time_text

PAUSE_MS: Final = 600_000
"""A fault that returns within ten minutes has not ended."""
RETURNS: Final = 3
"""Minimum number of equal incidents, or of equal ones about several partitions, for one that stands for all."""
MANY: Final = 5
"""Minimum number of incidents about several clients of one program or server."""
SEVERAL: Final = 2
"""Minimum number of faults of one producer, and of a program's clients that wait for brokers which answer none."""
_OF_PRODUCERS: Final = frozenset({"producer_fenced", "out_of_order_sequence"})
"""Kinds of faults that one producer repeats until another one takes its place."""
_OF_BROKERS: Final = frozenset({"init_producer_id_timeout", "log_dir_failure"})
"""Kinds of faults of brokers that each client of a program reports."""
MOMENT_MS: Final = 5_000
"""A program that reports one fault of several partitions, equally severe, within this time reports one fault."""
MOST_NAMED: Final = 5
LISTED: Final = 40
"""Maximum number of names of one kind in a subject."""
_HOMES: Final = ("application", "application.id", "broker", "controller")
"""Names that incidents about several clients or partitions share: the program or server that reported them."""
_PARTITIONS: Final = frozenset({"topic-partition", "topic", "partition", "offset", "producerEpoch"})
_PLURALS: Final[Mapping[str, str]] = {
    "topic-partition": "topic-partitions",
    "producerEpoch": "",
    "offset": "",
    "partition": "",
}
"""Names in subjects of several; the empty ones mean nothing apart from one partition or producer."""
_COUNTED: Final = (
    *("transactional.id", "group.instance.id", "topic-partition", "connector.task", "task", "client.id"),
    *("producerId", "group", "topic"),
)
"""The names that a sentence counts, the most specific first."""
_NOUNS: Final[Mapping[str, str]] = {
    "transactional.id": "transactional id",
    "group.instance.id": "group instance id",
    "topic-partition": "partition",
    "connector.task": "connector task",
    "client.id": "client id",
    "producerId": "producer id",
}

_NUMBERS: Final = re.compile(r"-\d+-\d+$")
"""The numbers of the subtask and the checkpoint that Flink's sink appends to the prefix of its ids."""


def join_repeats(incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; those that repeat within ``PAUSE_MS`` become one with their number and names."""
    equal: dict[tuple[str, ...], list[Incident]] = defaultdict(list)
    for one in incidents:
        equal[one.kind, one.root_cause, _owner_of(one.subject)].append(one)
    alike: dict[tuple[str, ...], list[tuple[Incident, int]]] = defaultdict(list)
    for ones in equal.values():
        for span in _spans(sorted(ones, key=_start)):
            enough = SEVERAL if span[0].kind in _OF_PRODUCERS and _is_of_producer(span[0].subject) else RETURNS
            wholes = [_joined_equal(span)] if len(span) >= enough else span
            for whole in wholes:
                alike[whole.kind, whole.root_cause, _home_of(whole)].append((whole, len(span) // len(wholes)))
    for counted in alike.values():
        yield from _joined_alike(counted)


def fold_returned(incidents: Iterable[Incident]) -> tuple[Incident, ...]:
    """Return incidents in order of their starts; equal ones are one, however long the pauses between them are.

    The judge cannot join across longer pauses than ``PAUSE_MS``: a slice of a long log does not see them. A report sees
    all incidents. The last one says how the fault ended, so its explanation stands for all.
    """
    equal: dict[Hashable, list[Incident]] = defaultdict(list)
    for one in incidents:
        equal[one.severity, one.kind, one.root_cause, frozenset(one.subject.items())].append(one)
    folded = (whole for ones in equal.values() for whole in ([_returned(ones)] if len(ones) >= RETURNS else ones))
    return tuple(sorted(folded, key=lambda one: (one.t_start_ms, one.kind, str(one.subject))))


def _returned(ones: Sequence[Incident]) -> Incident:
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


def _owner_of(subject: Subject) -> str:
    """Return whom a fault is about: a transactional id, a group with its member's id, or all names of the subject."""
    if named := subject.get("transactional.id"):
        return _NUMBERS.sub("", str(named))
    if named := subject.get("group"):
        return str((named, subject.get("group.instance.id"), subject.get("connector.task")))
    return str(sorted(subject.items()))


def _is_of_producer(subject: Subject) -> bool:
    """Return whether a subject names one producer, with the partition if the producer has no transactional id."""
    return bool(subject.get("transactional.id") or (subject.get("producerId") and subject.get("topic-partition")))


def _start(one: Incident) -> int:
    return one.t_start_ms


def _home_of(one: Incident) -> str:
    """Return the program or server that reported an incident; its file if the subject does not name it."""
    named = "\0".join(f"{name}={one.subject[name]}" for name in _HOMES if one.subject.get(name))
    return named or (one.evidence[0].file if one.evidence else "")


def _spans(ordered: Sequence[Incident]) -> Iterator[list[Incident]]:
    """Split incidents, in order of their starts, at every pause that is longer than ``PAUSE_MS`` and no backoff."""
    ends_ms = tuple(accumulate((one.t_end_ms for one in ordered), max))
    pauses_ms = [max(one.t_start_ms - end_ms, 0) for end_ms, one in zip(ends_ms, ordered[1:], strict=False)]
    current = list(ordered[:1])
    for one, pause_ms, is_expected in zip(ordered[1:], pauses_ms, in_backoff(pauses_ms), strict=True):
        if pause_ms > PAUSE_MS and not is_expected:
            yield current
            current = []
        current.append(one)
    if current:
        yield current


def _joined_equal(ones: Sequence[Incident]) -> Incident:
    certain = max(ones, key=lambda one: one.confidence)
    apart = [name for one in ones for name in one.subject if one.subject[name] != ones[0].subject.get(name)]
    last = time_text(max(one.t_start_ms for one in ones))
    again = f"{count_text(len(ones) - 1, 'time')}, last " if len(ones) > SEVERAL else ""
    text = f"{certain.explanation} The fault returned {again}at {last}."
    return _union(ones, _subject_of(ones, tuple(dict.fromkeys(apart))), text)


def _joined_alike(counted: Sequence[tuple[Incident, int]]) -> Iterator[Incident]:
    """Yield incidents of one kind and program; those with enough different names at one time are one."""
    counts = {id(one): count for one, count in counted}
    for span in _spans(sorted((one for one, _ in counted), key=_start)):
        names = dict.fromkeys(name for one in span for name in one.subject)
        values = {name: {one.subject.get(name) for one in span} for name in names}
        apart = [name for name, found in values.items() if len(found) > 1]
        is_one_moment = span[-1].t_start_ms - span[0].t_start_ms <= MOMENT_MS
        is_one_moment &= len({one.severity for one in span}) == 1
        enough = (SEVERAL if is_one_moment else RETURNS) if _PARTITIONS.issuperset(apart) else MANY
        if span[0].kind in _OF_BROKERS:
            enough = SEVERAL
        named = next((name for name in _COUNTED if name in apart), "")
        if len(span) < enough or not named or len(values[named]) < enough:
            yield from span
            continue
        times = Counter[str]()
        for one in span:
            times[str(one.subject.get(named, "others"))] += counts[id(one)]
        certain = max(span, key=lambda one: one.confidence)
        noun = count_text(len(times), _NOUNS.get(named, named))
        text = f"{certain.explanation} In all, {noun} are affected: {_most(times)}."
        yield _union(span, _subject_of(span, apart), text)


def _most(times: Counter[str]) -> str:
    """List the most frequent names with their counts where one repeats.

    >>> _most(Counter({"pay-1": 3, "pay-2": 1}))
    'pay-1 (3 times), pay-2'
    """
    shown = times.most_common(MOST_NAMED)
    names = [name if count == 1 else f"{name} ({count} times)" for name, count in shown]
    left = len(times) - len(shown)
    return ", ".join(names) + (f" and {left:,} more" if left else "")


def _subject_of(ones: Sequence[Incident], apart: Sequence[str]) -> Subject:
    """Return the names that incidents share, and the names that differ as lists."""
    first = ones[0].subject
    subject: dict[str, str | tuple[str, ...]] = {
        name: value for name, value in first.items() if name not in apart and value
    }
    for name in apart:
        plural = _PLURALS.get(name, name if name.endswith("s") else f"{name}s")
        values = dict.fromkeys(one.subject[name] for one in ones if one.subject.get(name))
        flat = [text for value in values for text in ((value,) if isinstance(value, str) else value)]
        if plural and flat:
            subject[plural] = tuple(dict.fromkeys(flat))[:LISTED]
    return subject


def _union(ones: Sequence[Incident], subject: Subject, explanation: str) -> Incident:
    """Return one incident for several: all of their time and evidence, and the worst severity."""
    certain = max(ones, key=lambda one: one.confidence)
    share = max(1, MAX_EVIDENCE_COUNT // len(ones))
    return certain._replace(
        severity=worst_of(ones),
        subject=subject,
        t_start_ms=start_of(ones),
        t_end_ms=max(one.t_end_ms for one in ones),
        evidence=joined_evidence(*(one.evidence[:share] for one in ones)),
        explanation=explanation,
    )
