"""The blast radius of a transaction in words and in numbers."""

from __future__ import annotations

from eosctl.model.hang import BlastRadius, HangVerdict
from eosctl.text import hidden_text

GROUPS_NAMED = 5


def incident_of(verdict: HangVerdict) -> str:
    """Return the name of the incident of a transaction on a partition, which is the same in every check."""
    return f"{verdict.transaction.partition}@{verdict.transaction.first_offset}"


def impact_text(verdict: HangVerdict) -> str:
    """Say what the transaction holds up."""
    radius = verdict.blast_radius
    if radius is None:
        return ""
    where = radius.partition
    sentences = []
    if radius.invisible_offsets is not None:
        hidden = hidden_text(radius.invisible_offsets, radius.invisible_records)
        sentences.append(
            f"{where}: read_committed readers cannot see {hidden} from offset {verdict.transaction.first_offset} on."
        )
    if not radius.pins_last_stable_offset:
        sentences.append("An older open transaction holds the last stable offset anyway.")
    sentences += _groups(radius)
    if radius.blocks_offset_commits:
        sentences.append("Offsets committed in it stay unstable: OffsetFetch answers UNSTABLE_OFFSET_COMMIT.")
    if radius.blocks_compaction:
        sentences.append("Compaction of the partition stops there.")
    return " ".join(sentences)


def _groups(radius: BlastRadius) -> list[str]:
    if not radius.groups:
        return []
    named = [
        group.group_id if radius.blocks_offset_commits else f"{group.group_id} (committed {group.committed_offset})"
        for group in radius.groups[:GROUPS_NAMED]
    ]
    more = len(radius.groups) - GROUPS_NAMED
    tail = f" and {more} more" if more > 0 else ""
    noun = "Group" if len(radius.groups) == 1 else "Groups"
    return [f"{noun} held up: {', '.join(named)}{tail}."]


def radius_facts(radius: BlastRadius | None) -> tuple[tuple[str, str | int | bool], ...]:
    """Return the blast radius as machine-readable facts; unknown numbers are left out."""
    if radius is None:
        return ()
    numbers = (
        ("last_stable_offset", radius.last_stable_offset),
        ("high_watermark", radius.high_watermark),
        ("invisible_offsets", radius.invisible_offsets),
        ("invisible_records", radius.invisible_records),
    )
    return (
        *((name, value) for name, value in numbers if value is not None),
        ("pins_last_stable_offset", radius.pins_last_stable_offset),
        ("blocks_compaction", radius.blocks_compaction),
        ("blocks_offset_commits", radius.blocks_offset_commits),
        ("groups", ",".join(group.group_id for group in radius.groups)),
    )
