"""Recognize batches with sequence numbers that their partition already has from the same producer: nothing is missing.

A leader knows the last five batches of a producer. It answers a repeated one of them as written, and refuses any other
batch that does not begin at the next number. One that begins at or below the last number was numbered by a client that
used numbers again, as with sends at the same time that do not share a counter, or was repeated after five later ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text

WRAPPED: Final = 2**30
"""Numbers wrap at 2**31: one that is lower by more than this is ahead of the last one."""
_NEXT: Final = (
    "Let a producer number the batches of a partition one after the other: await each send, or upgrade the client "
    "library and look for this fault in its issues. Create a new producer, and send the refused records "
    "again where the topic lacks them."
)


def are_used_again(episode: Sequence[LogEvent]) -> bool:
    """Return whether each refusal with both numbers has a sequence at or below the last one; False without any."""
    pairs = [
        (int(event.fields["sequence"]), int(event.fields["current_sequence"]))
        for event in episode
        if event.fields.get("sequence") and event.fields.get("current_sequence")
    ]
    return bool(pairs) and all(0 <= current - sequence < WRAPPED for sequence, current in pairs)


def used_again(
    subject: Mapping[str, str | tuple[str, ...]], fields: Mapping[EventField, str], episode: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer whose batches came with numbers that their partition already has.

    Args:
        subject: The producer and the partition.
        fields: Those of the first refusal.
        episode: The refusals, in order of time.
    """
    count = sum(bool(event.fields.get("sequence")) for event in episode)
    others = f" {count_text(count, 'batch', 'batches')} were refused so." if count > 1 else ""
    where = fields.get("partition", "").rpartition(":")[2] or "a partition"
    return incident(
        "out_of_order_sequence",
        "sequence-used-again",
        subject,
        episode,
        f"A batch for {where} came with sequence {fields['sequence']}, and the partition already has those up to "
        f"{fields['current_sequence']} from this producer: the client used numbers again, as with several sends at the "
        "same time, or repeated a batch after more than five later ones. Nothing is missing on the leader; the refused "
        f"records are not written unless they are a repetition.{others}",
        _NEXT,
        confidence=0.85,
    )
