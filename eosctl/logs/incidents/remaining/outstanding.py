"""Observe how many records a Connect task still waits for when the flush of its producer ends.

A task under load has thousands of records in flight, and their number changes. One whose records are not delivered has
the same few ones again and again (``WorkerSourceTask``, up to Kafka 2.8; exactly-once tasks of later releases).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, time_text

FEW: Final = 10
"""Maximum number of outstanding records that no load explains: a batch of a producer has more."""
SAME: Final = 3
"""Minimum number of flushes that leave the same number of records, for records that do not move."""
_OUTSTANDING: Final = re.compile(r"\boutstanding (\d{1,12}) messages")


def has_few_outstanding(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe flushes that each left a few records of a task, or always as many."""
    left = [(time_of(event), int(found[1])) for event in events if (found := _OUTSTANDING.search(event.message))]
    counts = sorted(count for _, count in left)
    if not counts or counts[0] == 0:
        return None
    is_same = len(counts) >= SAME and counts[0] == counts[-1]
    if counts[-1] > FEW and not is_same:
        return None
    first, last = left[0][0], left[-1][0]
    when = f"at {time_text(first)}" if first == last else f"from {time_text(first)} to {time_text(last)}"
    several = count_text(counts[-1], "message")
    return {
        "outstanding": several if counts[0] == counts[-1] else f"{counts[0]:,} to {several}",
        "outstanding-at": when,
    }
