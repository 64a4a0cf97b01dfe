"""Statistics of a history: outcomes of transactions, commit latencies, and availability of commits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from eosctl.lab.history.events import (
    Ended,
    EndInvoked,
    FaultBegan,
    FaultEnded,
    History,
    Outcome,
    Polled,
    SendInvoked,
)
from eosctl.model.verification import SpanItem

WHOLE_RUN: Final = "whole run"
NO_FAULT: Final = "no fault"
SLICE_MS: Final = 1_000


class Summary(NamedTuple):
    """Statistics of a history; `transactions` is the number of started ones."""

    transaction_count: int
    committed_count: int
    aborted_count: int
    unknown_count: int
    sent_count: int
    read_count: int
    fault_count: int
    spans: tuple[SpanItem, ...]


class _Commit(NamedTuple):
    asked_ms: int
    ended_ms: int
    succeeded: bool


def summarize(history: History) -> Summary:
    """Compute the statistics of a history in a single pass."""
    outcomes: Counter[Outcome] = Counter()
    began: set[str] = set()
    asked: dict[str, EndInvoked] = {}
    commits: list[_Commit] = []
    faults: list[FaultBegan | FaultEnded] = []
    first_ms, last_ms = None, 0
    sent = read = 0
    for event in history:
        if isinstance(event, SendInvoked | EndInvoked | Ended):
            first_ms = event.at_ms if first_ms is None else first_ms
            last_ms = max(last_ms, event.at_ms)
        match event:
            case SendInvoked():
                sent += 1
                if event.transaction:
                    began.add(event.transaction)
            case EndInvoked(committed=True):
                asked.setdefault(event.transaction, event)
            case Ended():
                outcomes[event.outcome] += 1
                began.add(event.transaction)
                if event.transaction in asked:
                    commits.append(
                        _Commit(
                            asked[event.transaction].at_ms, event.at_ms, succeeded=event.outcome is Outcome.COMMITTED
                        )
                    )
            case Polled():
                read += 1
            case FaultBegan() | FaultEnded():
                faults.append(event)
            case _:
                pass
    return Summary(
        transaction_count=len(began),
        committed_count=outcomes[Outcome.COMMITTED],
        aborted_count=outcomes[Outcome.ABORTED],
        unknown_count=len(began) - outcomes[Outcome.COMMITTED] - outcomes[Outcome.ABORTED],
        sent_count=sent,
        read_count=read,
        fault_count=sum(isinstance(event, FaultBegan) for event in faults),
        spans=_spans(faults, commits, first_ms, last_ms) if first_ms is not None else (),
    )


def _spans(
    faults: Sequence[FaultBegan | FaultEnded], commits: Sequence[_Commit], first: int, last: int
) -> tuple[SpanItem, ...]:
    slices: dict[str, set[int]] = {WHOLE_RUN: set(range(first // SLICE_MS, last // SLICE_MS + 1))}
    lengths: Counter[str] = Counter({WHOLE_RUN: last - first})
    for kind, begin, end in _windows(faults, last):
        lengths[kind] += max(0, end - begin)
        slices.setdefault(kind, set()).update(range(begin // SLICE_MS, end // SLICE_MS + 1))
    disturbed = set().union(*(found for name, found in slices.items() if name != WHOLE_RUN))
    quiet = slices[WHOLE_RUN] - disturbed
    slices[NO_FAULT] = quiet
    lengths[NO_FAULT] = min(len(quiet) * SLICE_MS, lengths[WHOLE_RUN])
    by_slice: dict[int, list[_Commit]] = defaultdict(list)
    for commit in commits:
        by_slice[commit.ended_ms // SLICE_MS].append(commit)
    order = (WHOLE_RUN, NO_FAULT, *sorted(slices.keys() - {WHOLE_RUN, NO_FAULT}))
    if len(order) == 2:
        order = (WHOLE_RUN,)
    return tuple(_span(name, lengths[name], slices[name], by_slice) for name in order)


def _windows(faults: Iterable[FaultBegan | FaultEnded], last_ms: int) -> Iterable[tuple[str, int, int]]:
    opened: dict[int, FaultBegan] = {}
    for event in faults:
        if isinstance(event, FaultBegan):
            opened[event.number] = event
        elif event.number in opened:
            yield event.kind, opened.pop(event.number).at_ms, event.at_ms
    for fault in opened.values():
        yield fault.kind, fault.at_ms, last_ms


def _span(condition: str, length_ms: int, slices: set[int], by_slice: dict[int, list[_Commit]]) -> SpanItem:
    found = [commit for number in slices for commit in by_slice.get(number, ())]
    waits = sorted(commit.ended_ms - commit.asked_ms for commit in found if commit.succeeded)
    up = sum(1 for number in slices if any(commit.succeeded for commit in by_slice.get(number, ())))
    return SpanItem(
        condition,
        length_ms,
        committed_count=len(waits),
        failed_count=len(found) - len(waits),
        p50_ms=_quantile(waits, 0.5),
        p99_ms=_quantile(waits, 0.99),
        max_ms=float(waits[-1]) if waits else None,
        availability=up / len(slices) if slices else None,
    )


def _quantile(ordered: Sequence[int], share: float) -> float | None:
    return float(ordered[min(len(ordered) - 1, int(len(ordered) * share))]) if ordered else None
