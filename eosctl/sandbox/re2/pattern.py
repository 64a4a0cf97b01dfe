"""Match whole texts: a deterministic automaton whose states are made as texts need them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from eosctl.sandbox.re2.classes import is_word
from eosctl.sandbox.re2.nodes import Characters, Edge
from eosctl.sandbox.re2.parser import parse
from eosctl.sandbox.re2.program import ACCEPT, Program, compile_program

MAX_STORED: Final = 50_000
"""Most instructions in the states that are kept; beyond it, all are made again."""


@lru_cache(maxsize=32)
def compile_re2(pattern: str) -> Pattern:
    """Compile a pattern in RE2 syntax.

    Raises:
        InvalidPattern: RE2 rejects it, or it contains Unicode classes.
    """
    return Pattern(compile_program(parse(pattern)))


class _State(NamedTuple):
    """The instructions from which a text continues, and what stands before it: a character's kind, or nothing."""

    threads: frozenset[int]
    before: str


class Pattern:
    """A compiled pattern; matching takes time in proportion to the length of the text and the size of the pattern."""

    def __init__(self, program: Program) -> None:
        self._instructions = program.instructions
        self._start = _State(frozenset([program.start]), "")
        self._next: dict[_State, dict[str, _State]] = {}
        self._stored = 0

    def fullmatch(self, text: str) -> bool:
        """Return whether the pattern matches a whole text."""
        state = self._start
        for character in text:
            state = self._after(state, character)
            if not state.threads:
                return False
        return ACCEPT in self._reached(state, "")

    def _after(self, state: _State, character: str) -> _State:
        known = self._next.get(state)
        if known is None:
            known = self._store(state)
        found = known.get(character)
        if found is None:
            found = known[character] = self._step(state, character)
            self._stored += 1 + len(found.threads)
        return found

    def _store(self, state: _State) -> dict[str, _State]:
        if self._stored > MAX_STORED:
            self._next.clear()
            self._stored = 0
        self._stored += len(state.threads)
        return self._next.setdefault(state, {})

    def _step(self, state: _State, character: str) -> _State:
        threads = set[int]()
        for reached in self._reached(state, character):
            needs, follows = self._instructions[reached]
            if isinstance(needs, Characters) and needs.has(character):
                threads.update(follows)
        return _State(frozenset(threads), _kind(character))

    def _reached(self, state: _State, following: str) -> set[int]:
        """Return the instructions that are reached before the following character; empty at the end."""
        reached = set(state.threads)
        waiting = list(reached)
        after = _kind(following)
        while waiting:
            needs, follows = self._instructions[waiting.pop()]
            if needs is None or (isinstance(needs, Edge) and _holds(needs, state.before, after)):
                new = [one for one in follows if one not in reached]
                reached.update(new)
                waiting += new
        return reached


def _kind(character: str) -> str:
    """Return what edges need to know of a character; empty without one."""
    return character if character in ("", "\n") else "word" if is_word(character) else "other"


def _holds(edge: Edge, before: str, after: str) -> bool:
    match edge:
        case Edge.TEXT_BEGIN:
            return not before
        case Edge.TEXT_END:
            return not after
        case Edge.LINE_BEGIN:
            return before in ("", "\n")
        case Edge.LINE_END:
            return after in ("", "\n")
        case Edge.WORD:
            return (before == "word") is not (after == "word")
        case Edge.NOT_WORD:
            return (before == "word") is (after == "word")
