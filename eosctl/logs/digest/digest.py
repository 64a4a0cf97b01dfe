"""Create the digest: everything that a report shows in addition to the incidents."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.logs.digest.bursts import find_bursts
from eosctl.logs.digest.clocks import compare_clocks
from eosctl.logs.digest.histogram import count_over_time
from eosctl.logs.digest.pauses import weigh_pauses
from eosctl.logs.digest.precursors import rank_precursors
from eosctl.logs.digest.templates import find_templates
from eosctl.model.log_digest import LogDigest
from eosctl.model.log_event import LogEvent


def digest_events(events: Sequence[LogEvent], baseline: Sequence[LogEvent] | None = None) -> LogDigest:
    """Digest the events of a scan.

    Args:
        events: The events.
        baseline: Events of a healthy period; None without a comparison.
    """
    ranked = rank_precursors(events)
    return LogDigest(
        templates=find_templates(events, baseline),
        has_baseline=baseline is not None,
        bursts=find_bursts(events),
        precursors=ranked.pairs,
        unexplained=ranked.unexplained,
        pauses=weigh_pauses(events),
        clocks=compare_clocks(events),
        histogram=count_over_time(events),
    )
