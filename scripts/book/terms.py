"""Pages of `eosctl explain`: errors, exceptions, states, and concepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.knowledge.terms import load_terms
from eosctl.model.term import Term, TermKind
from scripts.book.cells import cell

_TITLES: Final = {
    TermKind.ERROR: ("errors", "Error codes", "What a broker answers, by number."),
    TermKind.EXCEPTION: ("exceptions", "Exceptions", "What the Java clients throw."),
    TermKind.STATE: ("states", "States of a transaction", "As the coordinator keeps them in `__transaction_state`."),
    TermKind.CONCEPT: ("concepts", "Concepts", "The words that the rest of the book uses."),
}


def term_pages() -> dict[str, str]:
    """Return a page per kind of term, by file name."""
    return {name: "\n".join(_page(kind, title, about)) for kind, (name, title, about) in _TITLES.items()}


def _page(kind: TermKind, title: str, about: str) -> Iterator[str]:
    terms = [term for term in load_terms() if term.kind is kind]
    yield f"# {title}\n\n{about} `eosctl explain NAME` says the same in a terminal.\n"
    for term in terms:
        if _is_explained(term):
            yield from _section(term)
    rest = [term for term in terms if not _is_explained(term)]
    if rest:
        yield "## The others, in Kafka's own words\n\n| Code | Name | Retriable | Message |\n|---:|---|---|---|"
        for term in rest:
            yield f"| {term.code} | {term.name} | {'yes' if term.retriable else 'no'} | {cell(term.means)} |"
        yield ""


def _is_explained(term: Term) -> bool:
    return bool(term.next_step or term.causes or term.handling)


def _section(term: Term) -> Iterator[str]:
    code = "" if term.code is None else f" ({term.code})"
    yield f"## {term.name}{code}\n\n{term.means}\n"
    names = ", ".join(f"`{alias}`" for alias in term.aliases)
    if names:
        yield f"Also: {names}.\n"
    if term.handling:
        yield "| Client | What it makes of it |\n|---|---|"
        yield from (f"| {handling.client} | {cell(handling.text)} |" for handling in term.handling)
        yield ""
    if term.causes:
        yield "Usual causes:\n"
        yield from (f"- {cause}" for cause in term.causes)
        yield ""
    if term.next_step:
        yield f"Next: {term.next_step}\n"
