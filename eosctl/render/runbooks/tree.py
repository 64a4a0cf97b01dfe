"""A runbook as a decision tree, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from eosctl.model.runbook import Action, Assert, Confirm, Manual, Notify, Outcome, Probe, Runbook, Step, Wait
from eosctl.render.page import Block, Field, Line
from eosctl.render.wrapping import wrap

Costs = Mapping[str, str]
"""What each change can cost, in words, by its name."""
_HOLE: Final = re.compile(r"\{\{\s*([^}]*?)\s*\}\}")


def show_blocks(book: Runbook, costs: Costs, width: int | None = None) -> list[Block]:
    """Draw a runbook as a decision tree, wrapped within its branches to ``width`` columns."""
    blocks: list[Block] = [Line(f"{book.id}  {book.title}", "bold"), Line(" ".join(book.about.split())), Line("")]
    blocks += [
        Field("input", f"{name}: {spec.about}" + ("" if spec.default is None else f" (default {spec.default!r})"))
        for name, spec in book.inputs.items()
    ]
    if book.findings:
        blocks.append(Field("findings", ", ".join(book.findings)))
    blocks += [Field("never", text, "yellow") for text in book.never]
    blocks.append(Line(""))
    for twig in _tree(book, costs):
        blocks += [Line(line) for line in twig.lines(width)]
    return blocks


def edges(book: Runbook, step: Step) -> tuple[tuple[str, str], ...]:
    """Return where a step leads, each with the condition (empty for the way that is taken otherwise)."""
    following = book.after(step)
    match step:
        case Probe(branch=branches):
            return (*((branch.when, branch.goto) for branch in branches), ("else" if branches else "", following))
        case Assert():
            return ((step.that, following), ("else", step.otherwise))
        case Wait():
            return ((step.until, following), (f"not within {step.within}", step.otherwise))
        case Notify():
            return ()
        case Manual():
            return (("when resumed", following),) if step.next else ()
        case _:
            return (("", following),)


def step_text(step: Step, costs: Costs) -> str:
    """Return a step as one line: its type, what it runs and what that can cost, and what it says."""
    match step:
        case Probe() | Wait():
            what = f" {step.run}"
        case Action():
            what = f" {step.run}, {costs[step.run]}"
        case Confirm():
            what = f" by typing {step.expect}"
        case _:
            what = ""
    name = type(step).__name__.lower()
    # Values that are known only at run time are in angle brackets.
    text = f"{step.id} [{name}{what}] {' '.join(step.say.split())}"
    return _HOLE.sub(r"<\1>", text)


class _Twig(NamedTuple):
    """A line of the tree: ``margin`` stands before its first line, ``below`` before the lines after a wrap."""

    margin: str
    below: str
    text: str

    def lines(self, width: int | None) -> list[str]:
        if width is None:
            return [self.margin + self.text]
        # However deep the tree, a few words stand on a line.
        space = max(width - len(self.below), 24)
        first, *rest = wrap(self.text, space)
        return [self.margin + first, *(self.below + line for line in rest)]


def _tree(book: Runbook, costs: Costs) -> Iterator[_Twig]:
    seen: set[str] = set()

    def draw(target: str, condition: str, margin: str, branch: str) -> Iterator[_Twig]:
        lead = f"{condition}: " if condition else ""
        inner = margin + _under(branch)
        if target in set(Outcome):
            yield _Twig(margin + branch, inner, f"{lead}=> {target.upper()}")
            return
        if target in seen:
            yield _Twig(margin + branch, inner, f"{lead}-> {target} (above)")
            return
        seen.add(target)
        step = book.step(target)
        ways = edges(book, step)
        decides = len(ways) != 1 or bool(ways[0][0])
        yield _Twig(margin + branch, inner + ("│  " if decides and ways else "  "), f"{lead}{step_text(step, costs)}")
        if not decides:
            # A step with one way on continues the line; only decisions indent.
            yield from draw(ways[0][1], "", inner, "")
            return
        for index, (when, goto) in enumerate(ways):
            yield from draw(goto, when, inner, "└─ " if index == len(ways) - 1 else "├─ ")

    yield from draw(book.steps[0].id, "", "", "")


def _under(branch: str) -> str:
    return {"": "", "├─ ": "│  "}.get(branch, "   ")
