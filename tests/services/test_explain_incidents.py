"""Every incident of `logs report` has an entry, by its kind and by its cause."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import eosctl.logs.incidents
from eosctl.logs.classifier.catalog import load_incidents
from eosctl.model.reference import Certainty, EntryKind, Explanation
from eosctl.services.explain import explain

_UNEXPLAINED = "unexplained"


def _words_of_detectors() -> Iterator[str]:
    """Yield the kinds and causes that detectors write, also those of conditional expressions."""
    folder = Path(next(iter(eosctl.logs.incidents.__path__)))
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "incident":
                for argument in node.args[:2]:
                    yield from (one.value for one in ast.walk(argument) if isinstance(one, ast.Constant))


def _first(text: str) -> Explanation | None:
    return next(iter(explain(text).explanations), None)


def test_each_kind_and_cause_of_an_incident_is_explained() -> None:
    cataloged = {word for one in load_incidents().values() for word in (one.kind, one.cause)}
    words = {*cataloged, *_words_of_detectors()} - {_UNEXPLAINED}
    assert len(words) > len(load_incidents())
    kinds = {word: _first(f"logs/{word}") for word in words if "_" in word}
    assert [word for word, one in kinds.items() if one is None or one.entry.kind is not EntryKind.INCIDENT] == []
    found = {word: _first(word) for word in words}
    assert [word for word, one in found.items() if one is None or one.certainty is not Certainty.EXACT] == []


def test_the_id_of_an_incidents_finding_is_explained() -> None:
    first = explain("logs/transaction_timeout").explanations[0].entry
    assert (first.kind, first.runbooks) == (EntryKind.INCIDENT, ("transaction-timeout",))
