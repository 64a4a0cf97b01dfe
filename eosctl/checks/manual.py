"""The manual of a check: the sections of its docstring, and the references of its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from textwrap import fill
from typing import Final

from eosctl.checks.declaration import Check
from eosctl.findings.manual import FILES, CheckItem, ManualItem
from eosctl.text import release_text

WIDTH: Final = 112
SECTIONS: Final = (
    "What it checks",
    "Why it matters for exactly-once",
    "Example",
    "Fix",
    "Verify",
)


class ManualError(ValueError):
    """A docstring lacks a section, or has them in another order."""


@cache
def manual_of(check: Check) -> ManualItem:
    """Return a check as the catalog lists it, and the sections of its manual, the references last.

    Raises:
        ManualError: The docstring lacks a section, or has them in another order.
    """
    summary, sections = parse_manual(check.manual)
    item = CheckItem(
        id=check.id,
        name=check.name,
        title=check.title,
        area=check.area.value,
        severity=check.severity.value,
        summary=summary,
        needs=tuple(sorted(kind.value for kind in check.needs)) or (FILES,),
        uses=tuple(sorted(kind.value for kind in check.uses)),
        since="" if check.since is None else release_text(check.since),
        until="" if check.until is None else release_text(check.until),
        tags=check.tags,
        references=check.references,
    )
    return ManualItem(item, sections | {"References": _listed(check.references)})


def _listed(references: Sequence[str]) -> str:
    """Return the references as wrapped lines; names are never broken."""
    return fill(f"{'; '.join(references)}.", WIDTH, break_long_words=False, break_on_hyphens=False)


def parse_manual(docstring: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into its summary and its sections.

    A section begins with its title and a colon on a line of its own, at the docstring's margin.

    Returns:
        The summary line, and the text of each section, in order.

    Raises:
        ManualError: A section is missing, empty, unknown or out of order.
    """
    lines = inspect.cleandoc(docstring).splitlines()
    summary: list[str] = []
    sections: dict[str, list[str]] = {}
    target = summary
    for line in lines:
        title = line.removesuffix(":")
        if title != line and title in SECTIONS:
            target = sections.setdefault(title, [])
        else:
            target.append(line)
    found = tuple(sections)
    if found != SECTIONS:
        raise ManualError(f"sections are {', '.join(found) or 'none'}; expected {', '.join(SECTIONS)}")
    texts = {title: inspect.cleandoc("\n" + "\n".join(body)) for title, body in sections.items()}
    empty = [title for title, text in texts.items() if not text]
    if empty or not summary:
        raise ManualError(f"empty: {', '.join(empty) or 'summary'}")
    return " ".join(summary).strip(), texts
