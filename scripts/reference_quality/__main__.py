"""Ask the reference graded questions, and print how good the answers are.

Usage: python -m scripts.reference_quality [FILE] [--min P]

FILE is `queries.tsv` by default; `blind.tsv` says how good the answers were when they were first asked.

Questions about exceptions and terms go to `explain`, symptoms and printed output to `diagnose`. Prints for each kind
the mean reciprocal rank of the first right answer (MRR), how often the first answer is right (P@1) and one of the first
three (P@3), and how often a wrong answer comes first with confidence; then every miss. An acceptable answer (grade 1)
counts in P@3, not in P@1. With `--min` the exit code is 1 if P@1 over all is below P.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.services.explain import explain
from eosctl.services.find_runbooks import find_runbooks

QUERIES: Final = Path(__file__).with_name("queries.tsv")
_CONFIDENT: Final = 0.7
_EXPLAINED: Final = frozenset({"exception", "term"})
_ANY: Final = "*"
"""The right answer for text that must only not be misread: anything but a refusal."""


class Query(NamedTuple):
    """A question with its graded answers."""

    kind: str
    text: str
    right: frozenset[str]
    acceptable: frozenset[str]


class Answer(NamedTuple):
    """The names of an answer, best first, and the score of the best."""

    names: tuple[str, ...]
    score: float


class Outcome(NamedTuple):
    """The quality of an answer: `rank` is that of the first right answer, 0 without one."""

    query: Query
    answer: Answer
    rank: int
    is_near: bool

    @property
    def is_wrong_with_confidence(self) -> bool:
        """Return whether the first answer is wrong but confident."""
        first = self.answer.names[:1]
        return self.rank != 1 and self.answer.score >= _CONFIDENT and not set(first) & self.query.acceptable


def read_queries(path: Path = QUERIES) -> tuple[Query, ...]:
    """Read the questions."""
    lines = (line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return tuple(map(_query, lines))


def _query(line: str) -> Query:
    kind, text, right, acceptable = [*line.split("\t"), ""][:4]
    return Query(kind, text.replace("\\n", "\n").replace("\\t", "\t"), _names(right), _names(acceptable))


def _names(cell: str) -> frozenset[str]:
    return frozenset(filter(None, cell.split("|")))


def ask(query: Query) -> Answer:
    """Return the product's answer."""
    if query.kind in _EXPLAINED:
        explained = explain(query.text).explanations
        return Answer(tuple(one.entry.name for one in explained), explained[0].score if explained else 0.0)
    found = find_runbooks(query.text)
    if found.refused:
        return Answer(("REFUSED",), 1.0)
    names = tuple(one.entry.name for one in found.matches)
    return Answer(names, found.matches[0].score if found.matches else 0.0)


def judge(query: Query, answer: Answer) -> Outcome:
    """Compare an answer with the graded ones."""
    if query.right == {_ANY}:
        return Outcome(query, answer, int(answer.names[:1] != ("REFUSED",)), is_near=True)
    ranks = [rank for rank, name in enumerate(answer.names, 1) if name in query.right]
    near = bool(set(answer.names[:3]) & (query.right | query.acceptable))
    return Outcome(query, answer, min(ranks, default=0), near)


def _rows(outcomes: list[Outcome]) -> Iterator[str]:
    by_kind: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_kind[outcome.query.kind].append(outcome)
    yield f"{'kind':10} {'count':>5} {'MRR':>6} {'P@1':>6} {'P@3':>6} {'wrong and sure':>15}"
    for kind, found in [*by_kind.items(), ("all", outcomes)]:
        count = len(found)
        reciprocal = sum(1 / one.rank for one in found if one.rank) / count
        first = sum(one.rank == 1 for one in found) / count
        third = sum(one.is_near for one in found) / count
        wrong = sum(one.is_wrong_with_confidence for one in found) / count
        yield f"{kind:10} {count:5} {reciprocal:6.3f} {first:6.3f} {third:6.3f} {wrong:15.3f}"


def main(arguments: list[str]) -> int:
    """Print the quality."""
    files = [Path(argument) for argument in arguments if argument.endswith(".tsv")]
    queries = [query for file in files or [QUERIES] for query in read_queries(file)]
    outcomes = [judge(query, ask(query)) for query in queries]
    print("\n".join(_rows(outcomes)))
    for one in outcomes:
        if one.rank != 1:
            text = " ".join(one.query.text.split())[:90]
            print(f"MISS {one.query.kind}: {text!r}: {', '.join(one.answer.names[:3])} ({one.answer.score:.2f})")
    first = sum(one.rank == 1 for one in outcomes) / len(outcomes)
    return int("--min" in arguments and first < float(arguments[arguments.index("--min") + 1]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
