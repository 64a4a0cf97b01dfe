"""What fits a symptom, for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from eosctl.model.reference import DestructiveProcedure, EntryKind, RunbookMatch, ShortAnswer
from eosctl.render.listing import Column
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.render.reference import short_blocks


class MatchItem(msgspec.Struct, frozen=True):
    """What ``diagnose`` found: a runbook, an entry of the reference, or a procedure that destroys data.

    Attributes:
        runbook: The runbook's id; empty for an entry without one.
        title: Its title.
        symptom: What was recognized.
        command: The command to run next.
        refused: Whether the words ask for a procedure that destroys data; they may also ask about it or warn of it.
        why: What the procedure destroys.
        instead: The safe way.
        score: How well it fits, from 0 to 1; 1 for a procedure.
        reason: Why it is ranked here.
        decide: The question or command that shows whether it is the right one.
        short: The short answer in the language that was asked for; None in English.
    """

    runbook: str
    title: str
    symptom: str
    command: str
    refused: bool = False
    why: str = ""
    instead: str = ""
    score: float = 1.0
    reason: str = ""
    decide: str = ""
    short: ShortAnswer | None = None


MATCH_COLUMNS: Final[tuple[Column[MatchItem], ...]] = (
    Column("RUNBOOK", lambda item: item.runbook or "-"),
    Column("SCORE", lambda item: f"{item.score:.2f}"),
    Column("TITLE", lambda item: item.title),
    Column("BECAUSE OF", lambda item: item.symptom),
    Column("COMMAND", lambda item: item.command, wide=True),
)


def procedure_item(
    procedure: DestructiveProcedure, command: str, *, is_refused: bool, short: ShortAnswer | None = None
) -> MatchItem:
    """Shape a procedure that destroys data, with the safe way."""
    label = "REFUSED" if is_refused else "CAUTION"
    return MatchItem(
        runbook=procedure.runbook,
        title=f"{label}: {procedure.name}",
        symptom=procedure.name,
        command=command,
        refused=is_refused,
        why=procedure.why,
        instead=procedure.instead,
        short=short,
    )


def match_item(match: RunbookMatch) -> MatchItem:
    """Shape a runbook or an entry that fits."""
    entry = match.entry
    is_runbook = entry.kind is EntryKind.RUNBOOK
    return MatchItem(
        runbook=entry.name if is_runbook else "",
        title=entry.means.partition(". ")[0] if is_runbook else f"{entry.name} ({entry.kind.value})",
        symptom=match.symptom,
        command=entry.next_steps[0] if is_runbook else f"eosctl explain {_word(entry.name)}",
        score=match.score,
        reason=match.reason,
        decide=match.decide,
        short=match.short,
    )


def _word(name: str) -> str:
    return f"'{name}'" if " " in name else name


def render_matches(
    procedures: Sequence[MatchItem], matches: Sequence[MatchItem], style: Style = PLAIN, *, is_sure: bool
) -> str:
    """Render what fits for people: procedures that destroy data first, then runbooks, best first.

    Args:
        procedures: Procedures that the words ask for, ask about, or warn of.
        matches: Runbooks and entries.
        style: Width and colors.
        is_sure: Whether the best match is good enough to begin with.
    """
    blocks: list[Block] = []
    for item in procedures:
        blocks.append(Line(item.title, "bold red" if item.refused else "bold yellow"))
        blocks += short_blocks(item.short)
        blocks += [Field("because", item.why), Field("instead", item.instead)]
        blocks += [Field("run", item.command)] if item.command else []
        blocks.append(Line(""))
    if matches and not is_sure:
        blocks += [Line("Not sure. These are the nearest; answer the question first.", "yellow"), Line("")]
    for item in matches:
        blocks += [Line(item.title, "bold"), *short_blocks(item.short)]
        blocks.append(Field("because", f"{item.reason} (score {item.score:.2f})"))
        blocks += [Field("decide", item.decide)] if item.decide else []
        blocks.append(Field("run", item.command))
    return render_page(blocks, style)
