"""Fold a group that cannot read its offsets into the transaction that hangs on their partition.

A transaction that is open on a partition of ``__consumer_offsets`` holds the offsets of its group: brokers answer
UNSTABLE_OFFSET_COMMIT to ``OffsetFetch`` until it ends. One that hangs never ends, so each member waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, effect, start_of, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import time_text

NOTICED_MS: Final = 7_200_000
"""Maximum time from a group's first wait until a tool or an operator reports the transaction that hangs."""
_HANGS: Final = "hanging_transaction"
_WAITS: Final = "offsets_unstable"
_TOPIC: Final = "__consumer_offsets-"


def join_held_offsets(_: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; a group that waits for its offsets is a part of the only transaction that hangs on some."""
    hanging = [one for one in incidents if one.kind == _HANGS and _partition_of(one).startswith(_TOPIC)]

    def home_of(one: Incident) -> Incident | None:
        near = [cause for cause in hanging if _is_near(one, cause)] if one.kind == _WAITS else []
        # The name of the group does not show which of several transactions holds its offsets.
        return near[0] if len(near) == 1 else None

    return absorb(incidents, home_of, _with_groups)


def _partition_of(one: Incident) -> str:
    partition = one.subject.get("topic-partition", "")
    return partition if isinstance(partition, str) else ""


def _is_near(one: Incident, cause: Incident) -> bool:
    return one.t_start_ms <= cause.t_end_ms + NOTICED_MS and one.t_end_ms >= cause.t_start_ms - NOTICED_MS


def _with_groups(cause: Incident, waiting: Sequence[Incident]) -> Incident:
    groups = sorted({name for one in waiting if isinstance(name := one.subject.get("group", ""), str) and name})
    who = ", ".join(groups) or "a group"
    at = time_text(start_of(waiting))
    text = f"{who} cannot read its committed offsets from {at} on, so its members process nothing."
    subject = {**cause.subject, **({"group": groups[0]} if len(groups) == 1 else {})}
    return with_parts(cause, waiting, effect(_WAITS, text), subject=subject)
