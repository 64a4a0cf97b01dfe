"""All that a report shows beside the incidents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eosctl.logs.digest.bursts import Burst, find_bursts
from eosctl.logs.digest.clocks import ClockOffset, compare_clocks
from eosctl.logs.digest.pauses import PauseOutlook, weigh_pauses
from eosctl.logs.digest.precursors import Precursor, Unexplained, rank_precursors
from eosctl.logs.digest.templates import Template, find_templates
from eosctl.model.log_event import LogEvent


@dataclass(frozen=True, slots=True)
class LogDigest:
    """Templates, bursts, what came before failures, pauses, and clocks.

    Attributes:
        templates: Messages without their values, new ones first.
        has_baseline: Whether there was a baseline to be new against.
        bursts: Crowded sessions, the largest first.
        precursors: What came before failures, best first.
        unexplained: Failures that nothing came before.
        pauses: Each JVM's pauses, the longest first.
        clocks: How far applications' clocks are from the coordinators', the furthest first.
    """

    templates: tuple[Template, ...]
    has_baseline: bool
    bursts: tuple[Burst, ...]
    precursors: tuple[Precursor, ...]
    unexplained: tuple[Unexplained, ...]
    pauses: tuple[PauseOutlook, ...]
    clocks: tuple[ClockOffset, ...]


def digest_events(events: Sequence[LogEvent], baseline: Sequence[LogEvent] | None = None) -> LogDigest:
    """Digest the events of a scan.

    Args:
        events: The events.
        baseline: Events of a time when all was well; None for nothing to compare with.
    """
    ranked = rank_precursors(events)
    return LogDigest(
        find_templates(events, baseline),
        baseline is not None,
        find_bursts(events),
        ranked.pairs,
        ranked.unexplained,
        weigh_pauses(events),
        compare_clocks(events),
    )
