"""The ledger of other vendors' clients notices every way in which a transaction can be wrong."""

from __future__ import annotations

import pytest

from scripts.endurance.ledger import Outcome, violations

WHOLE = ["a:1:0", "a:1:1", "a:1:2"]


@pytest.mark.parametrize(
    ("outcome", "values"),
    [
        (Outcome.COMMITTED, WHOLE),
        (Outcome.ABORTED, []),
        (Outcome.UNKNOWN, []),
        (Outcome.UNKNOWN, WHOLE),
    ],
)
def test_what_may_be_there_is_accepted(outcome: Outcome, values: list[str]) -> None:
    assert violations({"a:1": outcome}, values) == []


@pytest.mark.parametrize(
    ("outcome", "values"),
    [
        (Outcome.COMMITTED, []),
        (Outcome.COMMITTED, WHOLE[:2]),
        (Outcome.COMMITTED, WHOLE + WHOLE[:1]),
        (Outcome.ABORTED, WHOLE),
        (Outcome.ABORTED, WHOLE[:1]),
        (Outcome.UNKNOWN, WHOLE[1:]),
        (Outcome.UNKNOWN, WHOLE + WHOLE),
    ],
)
def test_what_must_not_be_there_is_a_violation(outcome: Outcome, values: list[str]) -> None:
    (found,) = violations({"a:1": outcome}, values)
    assert found.startswith("a:1: ")


def test_a_record_without_a_writer_is_a_violation() -> None:
    assert violations({}, ["a:1:0"]) == ["a:1: no client wrote it"]
