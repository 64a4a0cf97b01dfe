"""Resolve Jinja conditions: the branch that variables select stays, and undecided alternatives stay open.

Lines keep their numbers. A setting in several undecided alternatives has an unknown value. What an undecided condition
without an alternative guards stays, unless that condition is assumed not to hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.settings.formats.jinja import evaluate
from eosctl.settings.formats.tree import Node

_CONTROL: Final = re.compile(r"^\s*\{%[-+]?\s*(if|elif|else|endif|set|for|endfor)\b\s*(.*?)\s*[-+]?%\}\s*$")
_SETTING: Final = re.compile(r"^(\s*[\w.-]+\s*[=:]\s*)\S.*$")
_OR: Final = re.compile(r"\s+or\s+")
_AND: Final = re.compile(r"\s+and\s+")
_TEST: Final = re.compile(r"^(?P<left>.+?)\s+is\s+(?P<negated>not\s+)?(?P<test>defined|undefined)$")
_EQUAL: Final = re.compile(r"^(?P<left>.+?)\s*(?P<sign>==|!=)\s*(?P<right>'[^']*'|\"[^\"]*\"|[\w.-]+)$")
_FALSE: Final = frozenset({"", "false", "no", "off", "0", "none", "null", "~"})
OPEN: Final = "{{ undecided }}"


class _Choice:
    """An ``if`` with its branches, and the result of each condition as far as it is known."""

    def __init__(self, line: int, holds: bool | None) -> None:
        self.line = line
        self.holds = holds
        self.decided = holds is True
        self.has_open_before = holds is None

    def next_branch(self, holds: bool | None) -> None:
        """Enter the next branch, which counts only where none before it was taken."""
        if self.decided:
            self.holds = False
            return
        self.holds = None if self.has_open_before else holds
        self.decided = holds is True and not self.has_open_before
        self.has_open_before = self.has_open_before or holds is None


class Condition(NamedTuple):
    """A condition that nothing decides, and the line of the template on which it guards settings."""

    text: str
    line: int


def open_conditions(text: str, variables: Mapping[str, Node]) -> dict[str, Condition]:
    """Return the undecided conditions that guard settings and have no alternative; conditions of loops are left out.

    >>> list(open_conditions("{% if a %}\\nx=1\\n{% endif %}\\n{% if b %}\\n{% endif %}", {}))
    ['a']
    """
    if "{%" not in text:
        return {}
    lines = text.split("\n")
    alternatives = _alternatives(lines)
    found: dict[str, Condition] = {}
    above: list[tuple[int, str]] = []
    loops = 0
    for number, line in enumerate(lines):
        control = _CONTROL.match(line)
        word, condition = (control[1], control[2]) if control else ("", "")
        loops += {"for": 1, "endfor": -1}.get(word, 0)
        if word == "if":
            above.append((number, condition))
        elif word == "endif" and above:
            above.pop()
        elif not word and above and not loops and _SETTING.match(line):
            start, guard = above[-1]
            if start not in alternatives and holds(guard, variables) is None:
                found.setdefault(guard, Condition(guard, start + 1))
    return found


def keep_branches(text: str, variables: Mapping[str, Node], without: str = "") -> str:
    """Return a template with the branches that are taken; lines of the others, and of control, are empty.

    Args:
        text: The template.
        variables: The variables by name, as far as they are written down.
        without: A condition that is assumed not to hold.

    >>> keep_branches("{% if a %}\\nx=1\\n{% else %}\\nx=2\\n{% endif %}", {}).split("\\n")
    ['', 'x={{ undecided }}', '', 'x={{ undecided }}', '']
    """
    if "{%" not in text:
        return text
    lines = text.split("\n")
    alternatives = _alternatives(lines)
    kept: list[str] = []
    stack: list[_Choice] = []
    for number, line in enumerate(lines):
        control = _CONTROL.match(line)
        if control is None:
            kept.append(_in_branch(line, stack, alternatives))
            continue
        word, condition = control[1], control[2]
        if word == "if":
            stack.append(_Choice(number, False if without and condition == without else holds(condition, variables)))
        elif word == "elif" and stack:
            stack[-1].next_branch(holds(condition, variables))
        elif word == "else" and stack:
            stack[-1].next_branch(True)
        elif word == "endif" and stack:
            stack.pop()
        kept.append("")
    return "\n".join(kept)


def _in_branch(line: str, stack: list[_Choice], alternatives: frozenset[int]) -> str:
    if any(choice.holds is False for choice in stack):
        return ""
    if any(choice.holds is None and choice.line in alternatives for choice in stack):
        return _SETTING.sub(rf"\1{OPEN}", line)
    return line


def _alternatives(lines: list[str]) -> frozenset[int]:
    """Return the lines of each ``if`` that has another branch."""
    found: set[int] = set()
    opened: list[int] = []
    for number, line in enumerate(lines):
        control = _CONTROL.match(line)
        word = control[1] if control else ""
        if word == "if":
            opened.append(number)
        elif word in ("elif", "else") and opened:
            found.add(opened[-1])
        elif word == "endif" and opened:
            opened.pop()
    return frozenset(found)


def holds(condition: str, variables: Mapping[str, Node]) -> bool | None:
    """Return whether a condition holds; None where its variables, or its form, are not known.

    >>> from eosctl.settings.formats.tree import Leaf
    >>> holds("a and not b", {"a": Leaf("yes", 1), "b": Leaf("false", 1)}), holds("c", {})
    (True, None)
    """
    if "(" in condition and _OR.search(condition):
        return None
    parts = [_all(part, variables) for part in _OR.split(condition)]
    return True if True in parts else None if None in parts else False


def _all(condition: str, variables: Mapping[str, Node]) -> bool | None:
    parts = [_one(part.strip(), variables) for part in _AND.split(condition)]
    return False if False in parts else None if None in parts else True


def _one(condition: str, variables: Mapping[str, Node]) -> bool | None:
    if condition.startswith("not "):
        inner = _one(condition[4:].strip(), variables)
        return None if inner is None else not inner
    if (test := _TEST.match(condition)) is not None:
        # Variables of hosts may come from elsewhere: only what is there is known.
        is_there = evaluate(test["left"], variables) is not None
        wanted = (test["test"] == "defined") != bool(test["negated"])
        return wanted if is_there else None
    if (equal := _EQUAL.match(condition)) is not None:
        left = evaluate(equal["left"], variables)
        return None if left is None else (left == equal["right"].strip("'\"")) == (equal["sign"] == "==")
    value = evaluate(condition, variables)
    return None if value is None or "{{" in value else value.strip().lower() not in _FALSE
