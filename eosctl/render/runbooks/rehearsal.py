"""What came of rehearsing runbooks, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.model.rehearsal import RehearsalItem
from eosctl.render.listing import Column
from eosctl.render.page import Block, Field, Line

REHEARSAL_COLUMNS: Final = (
    Column[RehearsalItem]("RUNBOOK", lambda item: item.runbook),
    Column[RehearsalItem]("STORIES", lambda item: str(len(item.stories))),
    Column[RehearsalItem]("FAILED", lambda item: str(len(item.failed))),
    Column[RehearsalItem]("WAYS", lambda item: f"{item.way_count - len(item.untaken)} of {item.way_count}"),
    Column[RehearsalItem]("WRONG", lambda item: "; ".join(wrongs(item))),
)


def rehearsal_blocks(items: Sequence[RehearsalItem], *, ways: bool) -> list[Block]:
    """Show what came of it: a line for each runbook, and below it what is wrong; ``ways`` counts those not taken."""
    blocks: list[Block] = []
    for item in items:
        went = len(item.stories) - len(item.failed)
        taken = f", {item.way_count - len(item.untaken)} of {item.way_count} ways taken" if ways else ""
        bad = item.failed or (ways and item.untaken)
        blocks.append(
            Line(f"{item.runbook}: {went} of {len(item.stories)} stories as told{taken}", "red" if bad else "")
        )
        blocks += [Field("failed", f"{story.name}: {story.failure}") for story in item.failed]
        blocks += [Field("not taken", way) for way in item.untaken if ways]
    return blocks


def wrongs(item: RehearsalItem) -> Iterator[str]:
    """Tell what is wrong: stories that failed, ways that were not taken."""
    for story in item.failed:
        yield f"{story.name}: {story.failure}"
    for way in item.untaken:
        yield f"not taken: {way}"
