"""Explained terms, for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.model.term import Term
from eosctl.render.listing import Column
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page

TERM_COLUMNS: Final[tuple[Column[Term], ...]] = (
    Column("NAME", lambda term: term.name),
    Column("KIND", lambda term: term.kind.value),
    Column("CODE", lambda term: "-" if term.code is None else str(term.code)),
    Column("MEANS", lambda term: term.means),
)


def render_terms(terms: Sequence[Term], style: Style = PLAIN) -> str:
    """Render terms for people, one block each."""
    blocks: list[Block] = []
    for term in terms:
        if blocks:
            blocks.append(Line(""))
        blocks += _blocks(term)
    return render_page(blocks, style)


def _blocks(term: Term) -> list[Block]:
    code = "" if term.code is None else f", code {term.code}"
    blocks: list[Block] = [Line(f"{term.name}  ({term.kind.value}{code})", "bold"), Field("means", term.means)]
    blocks += [
        Field("clients" if number == 0 else "", f"{handling.client}: {handling.text}")
        for number, handling in enumerate(term.handling)
    ]
    if not term.handling and term.retriable is not None:
        blocks.append(Field("clients", "retry it by themselves" if term.retriable else "do not retry it"))
    blocks += [Field("cause" if number == 0 else "", cause) for number, cause in enumerate(term.causes)]
    if term.related:
        blocks.append(Field("see", ", ".join(term.related)))
    if term.aliases:
        blocks.append(Field("also", ", ".join(term.aliases)))
    if term.next_step:
        blocks.append(Field("next", term.next_step))
    return blocks
