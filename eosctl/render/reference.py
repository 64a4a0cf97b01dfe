"""Explanations of the reference, for people and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eosctl.model.reference import Certainty, Entry, Explanation, ShortAnswer
from eosctl.render.listing import Column
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page

EXPLANATION_COLUMNS: Final[tuple[Column[Explanation], ...]] = (
    Column("SCORE", lambda one: f"{one.score:.2f}"),
    Column("NAME", lambda one: one.entry.name),
    Column("KIND", lambda one: one.entry.kind.value),
    Column("CODE", lambda one: "-" if one.entry.code is None else str(one.entry.code)),
    Column("MEANS", lambda one: one.entry.means),
    Column("REASON", lambda one: one.reason, wide=True),
)
ENTRY_COLUMNS: Final[tuple[Column[Entry], ...]] = (
    Column("NAME", lambda entry: entry.name),
    Column("KIND", lambda entry: entry.kind.value),
    Column("CODE", lambda entry: "-" if entry.code is None else str(entry.code)),
    Column("MEANS", lambda entry: entry.means),
)
_FOUND: Final = {
    "transactional_id": "transactional id",
    "producer_id": "producer id",
    "epoch": "epoch",
    "group": "group",
    "topic_partition": "partition",
    "topic": "topic",
    "broker": "broker",
    "task": "task",
    "connector": "connector",
}
_MOST_ALIASES: Final = 8
_AS_SURE: Final = 0.98


def render_explanations(explanations: Sequence[Explanation], found: Mapping[str, str], style: Style = PLAIN) -> str:
    """Render what the question names in full, at least the best answer, and the others in a line each.

    Args:
        explanations: The answers, best first.
        found: The ids that the question named, by kind.
        style: Width and colors.
    """
    first = explanations[0]
    blocks: list[Block] = []
    others: list[Explanation] = []
    for one in explanations:
        if one is first or (one.certainty is Certainty.EXACT and one.score >= _AS_SURE):
            blocks += [Line("")] if blocks else []
            blocks += _entry_blocks(one)
        else:
            others.append(one)
    read = {name: value for name, value in found.items() if name != "topic" or "topic_partition" not in found}
    ids = ", ".join(f"{label} {read[name]}" for name, label in _FOUND.items() if name in read)
    if ids:
        blocks.append(Field("read", ids))
    if first.certainty is not Certainty.EXACT:
        blocks.append(Field("why this", f"{first.reason} (score {first.score:.2f})"))
    if others:
        blocks += [Line(""), Line("Also possible", "bold")]
        blocks += [
            Field(f"{one.score:.2f}", f"{one.entry.name} ({one.entry.kind.value}): {one.reason}") for one in others
        ]
        blocks.append(Field("more", f"eosctl explain {others[0].entry.name!r}"))
    return render_page(blocks, style)


def _entry_blocks(explanation: Explanation) -> Iterator[Block]:
    entry = explanation.entry
    code = "" if entry.code is None else f", code {entry.code}"
    yield Line(f"{entry.name}  ({entry.kind.value}{code})", "bold")
    yield from short_blocks(explanation.short)
    yield Field("means", entry.means)
    yield from _listed("raised by", (entry.raised,))
    yield from _listed("data", (entry.data,))
    yield from _listed("clients", (f"{one.client}: {one.text}" for one in entry.clients))
    if not entry.clients and entry.retriable is not None:
        yield Field("clients", "retry it by themselves" if entry.retriable else "do not retry it")
    yield from _listed("cause", entry.causes)
    yield from _listed("facts", (f"{fact.label}: {fact.text}" for fact in entry.facts))
    yield from _listed("next", entry.next_steps)
    yield from _listed("runbook", (f"eosctl runbook show {name}" for name in entry.runbooks if name != entry.name))
    yield from _listed("see", (", ".join(entry.see),))
    yield from _listed("sources", (", ".join(entry.sources),))
    yield from _listed("also", (", ".join(entry.aliases[:_MOST_ALIASES]),))


def short_blocks(short: ShortAnswer | None) -> Iterator[Block]:
    """Yield a short answer in another language, where there is one."""
    if short is not None:
        yield Line(short.headline)
        yield from (Field(fact.label, fact.text) for fact in short.facts)


def _listed(label: str, texts: Sequence[str] | Iterator[str]) -> Iterator[Block]:
    for at, text in enumerate(text for text in texts if text):
        yield Field("" if at else label, text)
