"""Render the results of rehearsals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.model.rehearsal import RehearsalItem
from eosctl.render.listing import Column
from eosctl.render.page import Block, Field, Line
from eosctl.text import count_text

REHEARSAL_COLUMNS: Final = (
    Column[RehearsalItem]("RUNBOOK", lambda item: item.runbook),
    Column[RehearsalItem]("SCENARIOS", lambda item: str(len(item.scenarios))),
    Column[RehearsalItem]("FAILED", lambda item: str(len(item.failed))),
    Column[RehearsalItem]("BRANCHES", lambda item: f"{item.way_count - len(item.untaken)} of {item.way_count}"),
    Column[RehearsalItem]("FAILURES", lambda item: "; ".join(failures(item))),
)


def rehearsal_blocks(items: Sequence[RehearsalItem], *, ways: bool) -> list[Block]:
    """Show a line for each runbook, and its failures below it; with ``ways``, also the branches that were not taken."""
    blocks: list[Block] = []
    for item in items:
        passed = len(item.scenarios) - len(item.failed)
        taken = f", {item.way_count - len(item.untaken)} of {item.way_count} branches taken" if ways else ""
        bad = item.failed or (ways and item.untaken)
        blocks.append(
            Line(
                f"{item.runbook}: {passed} of {count_text(len(item.scenarios), 'scenario')} passed{taken}",
                "red" if bad else "",
            )
        )
        blocks += [Field("failed", f"{scenario.name}: {scenario.failure}") for scenario in item.failed]
        blocks += [Field("not taken", way) for way in item.untaken if ways]
    return blocks


def failures(item: RehearsalItem) -> Iterator[str]:
    """Yield the scenarios that failed, and the branches that were not taken."""
    for scenario in item.failed:
        yield f"{scenario.name}: {scenario.failure}"
    for way in item.untaken:
        yield f"not taken: {way}"
