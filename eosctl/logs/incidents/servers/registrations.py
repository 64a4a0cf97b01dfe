"""Find how a broker returned after a fencing: the same process with its old registration, or a new one.

A broker's epoch is the offset of its registration in the metadata log, and each process registers anew. If the
controller unfences the epoch that it fenced, the process never ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from typing import Final

from eosctl.logs.incidents.servers.quorum import FAILOVER_MS
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent

_EPOCH: Final = re.compile(r"\b(?:at epoch|register broker record) (\d+)")


def unfenced_after(timeline: LogTimeline, node: str, fenced: LogEvent) -> LogEvent | None:
    """Return the record with which the controller unfenced a broker after a fencing."""
    later = within(timeline.with_value("fenced_broker", node, "BROKER_UNFENCED"), time_of(fenced) + 1, inf)
    return next((event for event in later if "to unfence" in event.message), None)


def returned_after(timeline: LogTimeline, node: str, fenced: LogEvent) -> LogEvent | None:
    """Return the record that unfenced a broker, if nothing shows a start of it; None for a new process.

    Without the epochs of both records, only a log of the broker itself can show whether it started in between.
    """
    back = unfenced_after(timeline, node, fenced)
    if back is None or is_same_process(fenced, back):
        return back
    starts = within(timeline.with_value("broker", node, "BROKER_START"), time_of(fenced), time_of(back))
    return None if starts or (_EPOCH.search(fenced.message) and _EPOCH.search(back.message)) else back


def is_same_process(fenced: LogEvent, back: LogEvent) -> bool:
    """Return whether a broker was unfenced with the registration that it was fenced with."""
    before, after = _EPOCH.search(fenced.message), _EPOCH.search(back.message)
    return before is not None and after is not None and before[1] == after[1]


def silence_near(timeline: LogTimeline, node: str, fenced: LogEvent) -> Sequence[LogEvent]:
    """Return what a broker logs of its lost heartbeats near a fencing; empty if its log ends before it."""
    silent = timeline.with_value("broker", node, "BROKER_SILENT")
    near = within(silent, time_of(fenced) - FAILOVER_MS, time_of(fenced) + FAILOVER_MS)
    return near if near and timeline.log_end_ms(near[-1]) >= time_of(fenced) else ()


def ran_on(timeline: LogTimeline, node: str, fenced: LogEvent) -> bool:
    """Return whether a fenced broker returned without a start, or logs that its heartbeats got lost."""
    return bool(returned_after(timeline, node, fenced) or silence_near(timeline, node, fenced))
