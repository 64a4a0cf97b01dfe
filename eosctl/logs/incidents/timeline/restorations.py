"""How the state stores of a Streams application came back after a start, as its log reports it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent

_FROM: Final = "STATE_RESTORE_START"
_DONE: Final = "STATE_RESTORE_END"
KILL_MS: Final = 300_000
"""Maximum time from a kill to the first check of the stores by the next process."""
WITHIN_MS = 600_000
"""A longer restoration is not counted to its end."""
BACK_WITHIN_MS: Final = 86_400_000
"""A program that runs only later has been started again for another reason."""
RESTORED_MS: Final = 30_000
"""A store that is restored within this time has not interrupted its task for longer than a rebalance does."""
AGAIN_MS: Final = 1_000
"""Records of one corruption follow each other in this time."""


def is_without_checkpoint(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a corrupted task's store had no checkpoint: by Streams' own words, or soon after a kill."""
    if "wipe out" in event.message:
        return True
    killed = timeline.log_between(event, time_of(event) - KILL_MS, time_of(event), ("OOM_KILLED", "APPLICATION_KILLED"))
    return bool(killed)


def is_restoring_at_end(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether the log of a corrupted task's record ends while its program restores a store after it.

    A restoration is over when one has ended, or a thread runs, after the last one began.
    """
    end_ms = timeline.log_end_ms(event)
    begun = timeline.log_between(event, time_of(event), end_ms, (_FROM,))
    if not begun:
        return False
    later = timeline.log_between(event, time_of(begun[-1]), end_ms, (_DONE, "STREAM_STATE"))
    return not any(one.category == _DONE or one.fields.get("to_state") == "RUNNING" for one in later)


class Return(NamedTuple):
    """How a program came back after corrupted tasks.

    Attributes:
        restored: The record of the last store that was restored; None without one.
        running: The record with which a thread, or the client, runs again; None without one.
    """

    restored: LogEvent | None
    running: LogEvent | None

    @property
    def events(self) -> tuple[LogEvent, ...]:
        """The records that exist."""
        return tuple(event for event in self if event is not None)


def return_after(timeline: LogTimeline, event: LogEvent) -> Return:
    """Return how the program of a corrupted task's record came back, before another of its tasks is corrupted."""
    begin_ms = time_of(event) + 1
    until_ms = begin_ms + BACK_WITHIN_MS
    corrupted = timeline.log_between(event, begin_ms + AGAIN_MS, until_ms, ("TASK_CORRUPTED",))
    # A record without a task reports that those of before have been closed.
    again = next((one for one in corrupted if one.fields.get("task")), None)
    end_ms = until_ms if again is None else time_of(again)
    restored = timeline.log_between(event, begin_ms, end_ms, (_DONE,))
    since_ms = time_of(restored[0]) if restored else begin_ms
    later = timeline.log_between(event, since_ms, end_ms, ("STREAM_STATE",))
    running = next((one for one in later if one.fields.get("to_state") == "RUNNING"), None)
    before = [one for one in restored if running is None or time_of(one) <= time_of(running)]
    return Return(before[-1] if before else None, running)


def restored_after_ms(timeline: LogTimeline, events: Sequence[LogEvent]) -> int:
    """Return how long corrupted tasks of one moment were being restored, ms; 0 if that is unknown, or for several."""
    last = events[-1]
    if time_of(last) - time_of(events[0]) > AGAIN_MS:
        return 0
    back = return_after(timeline, last).restored
    return time_of(back) - time_of(last) if back else 0


class Restoration(NamedTuple):
    """What the changelogs gave back.

    Attributes:
        record_count: Records read from the changelogs; 0 as well where the log does not count them.
        kept: Changelogs of stores that were kept: they were read behind the offset that the store had.
        emptied: Changelogs that were read from their beginning.
    """

    record_count: int
    kept: frozenset[str]
    emptied: frozenset[str]

    @property
    def is_known(self) -> bool:
        """Return whether the log reports where each restoration began."""
        return bool(self.kept or self.emptied)


def restoration_after(timeline: LogTimeline, start: LogEvent, start_ms: int, end_ms: float) -> Restoration:
    """Return what was restored in a time by the program that wrote an event.

    Streams decides about a store more than once while it starts; the last decision on each changelog counts.
    """
    events = timeline.log_between(start, start_ms, min(end_ms, start_ms + WITHIN_MS), (_FROM, _DONE))
    decided = {
        event.fields["changelog"]: "kept_to" in event.fields for event in events if event.fields.get("changelog")
    }
    return Restoration(
        sum(int(event.fields.get("restored", "0")) for event in events if event.category == _DONE),
        frozenset(changelog for changelog, is_kept in decided.items() if is_kept),
        frozenset(changelog for changelog, is_kept in decided.items() if not is_kept),
    )
