"""The verdict on an application: pure functions of its inputs and outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.lab.history.events import Outcome
from eosctl.lab.history.feed import Expected, Fault, Feed, Flaw, check_feed
from eosctl.lab.verify.report import Verdict

_SHOWN: Final = 20


class AppReport(NamedTuple):
    """The result of a test; `flaws` are the first ones of each kind, latencies those of first outputs."""

    verdict: Verdict
    headline: str
    input_count: int
    committed_count: int
    aborted_count: int
    unknown_count: int
    poison_count: int
    output_count: int
    dead_letter_count: int
    p50_ms: float | None
    p99_ms: float | None
    reasons: tuple[str, ...]
    flaws: tuple[Flaw, ...]
    flaw_counts: Mapping[str, int]


def judge_app(feed: Feed, expected: Expected, *, ordered: bool = True, has_dead_letters: bool = False) -> AppReport:
    """Check the outputs of an application.

    Args:
        feed: The observations.
        expected: Returns the number of outputs of an input.
        ordered: Whether outputs of a key keep the order of their inputs.
        has_dead_letters: Whether poison goes to a dead-letter topic.
    """
    flaws = check_feed(feed, expected, ordered=ordered, has_dead_letters=has_dead_letters)
    outcomes = Counter(fed.outcome for fed in feed.fed)
    reasons = _reasons(feed)
    verdict = Verdict.ANOMALIES if flaws else Verdict.UNDECIDED if reasons else Verdict.CLEAN
    # Distinguish outputs that are only late from an application that never worked.
    if reasons and all(flaw.fault in (Fault.LOST, Fault.POISON_LOST) for flaw in flaws):
        verdict = Verdict.UNDECIDED
    waits = _waits(feed)
    counts = Counter(str(flaw.fault) for flaw in flaws)
    return AppReport(
        verdict=verdict,
        headline=_headline(verdict, len(feed.fed), counts, reasons),
        input_count=len(feed.fed),
        committed_count=outcomes[Outcome.COMMITTED],
        aborted_count=outcomes[Outcome.ABORTED],
        unknown_count=outcomes[Outcome.UNKNOWN],
        poison_count=sum(fed.is_poison for fed in feed.fed),
        output_count=len(feed.seen),
        dead_letter_count=len(feed.rejected),
        p50_ms=float(waits[len(waits) // 2]) if waits else None,
        p99_ms=float(waits[min(len(waits) - 1, len(waits) * 99 // 100)]) if waits else None,
        reasons=reasons,
        flaws=_first_of_each_kind(flaws) if verdict is not Verdict.UNDECIDED else (),
        flaw_counts=dict(counts) if verdict is not Verdict.UNDECIDED else {},
    )


def _reasons(feed: Feed) -> tuple[str, ...]:
    if not any(fed.outcome is Outcome.COMMITTED for fed in feed.fed):
        return ("not a single input was committed",)
    if not feed.seen and not feed.rejected:
        return ("no output carries a mark of this run: does the application run, and does it keep the mark?",)
    return ()


def _waits(feed: Feed) -> list[int]:
    written = {fed.number: fed.at_ms for fed in feed.fed}
    first: dict[int, int] = {}
    for seen in feed.seen:
        first.setdefault(seen.number, seen.at_ms)
    return sorted(at_ms - written[number] for number, at_ms in first.items() if number in written)


def _headline(verdict: Verdict, input_count: int, counts: Mapping[str, int], reasons: tuple[str, ...]) -> str:
    match verdict:
        case Verdict.CLEAN:
            return f"every one of {input_count:,} inputs has its outputs exactly once; this is evidence, not proof"
        case Verdict.ANOMALIES:
            totals = ", ".join(f"{count:,} {name}" for name, count in counts.items())
            return f"{totals} of {input_count:,} inputs: this application is not exactly-once"
        case Verdict.UNDECIDED:
            return f"{input_count:,} inputs decide nothing: {reasons[0]}"


def _first_of_each_kind(flaws: tuple[Flaw, ...]) -> tuple[Flaw, ...]:
    by_fault: dict[Fault, list[Flaw]] = {}
    for flaw in flaws:
        by_fault.setdefault(flaw.fault, []).append(flaw)
    each = max(1, _SHOWN // max(1, len(by_fault)))
    return tuple(flaw for found in by_fault.values() for flaw in found[:each])
