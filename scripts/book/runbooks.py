"""A page per runbook of the library: symptoms, warnings, and decision tree."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.model.runbook import Runbook
from eosctl.render.runbooks.tree import edges, step_text
from eosctl.runbooks.changes import change_costs
from eosctl.runbooks.load import library
from scripts.book.cells import cell


def runbook_pages() -> dict[str, str]:
    """Return the pages by runbook id, and their index as `index`."""
    books = [source.book for source in library()]
    index = ["# Library of runbooks", "", *(f"- [{book.title}]({book.id}.md)" for book in books)]
    return {book.id: "\n".join(_page(book)) + "\n" for book in books} | {"index": "\n".join(index) + "\n"}


def _page(book: Runbook) -> Iterator[str]:
    yield f"# {book.title}\n\n{' '.join(book.about.split())}\n"
    yield f"    eosctl runbook run {book.id}\n"
    yield from _list("Symptoms", book.symptoms)
    yield from _list("Never", book.never)
    if book.findings:
        checks = ", ".join(f"[{check_id}](../../../checks/{check_id}.md)" for check_id in book.findings)
        yield f"Findings that lead here: {checks}.\n"
    costs = change_costs()
    yield "## Steps\n\n| Step | What | Then |\n|---|---|---|"
    for step in book.steps:
        then = "; ".join(f"{when}: {goto}" if when else goto for when, goto in edges(book, step))
        yield f"| `{step.id}` | {cell(step_text(step, costs).removeprefix(step.id))} | {cell(then)} |"


def _list(title: str, texts: tuple[str, ...]) -> Iterator[str]:
    if texts:
        yield f"## {title}\n"
        yield from (f"- {' '.join(text.split())}" for text in texts)
        yield ""
