"""Every runbook of the library, from faults that are really made to the end, by every way that it can take."""

from __future__ import annotations

import pytest

from eosctl.lab.rehearsals.rehearsal import rehearsals
from eosctl.lab.rehearsals.rehearse import rehearse
from eosctl.runbooks.load import find_runbook, library
from eosctl.runbooks.ways import ways_of


def test_every_runbook_has_a_rehearsal() -> None:
    assert list(rehearsals()) == [source.book.id for source in library()]
    assert all(name == rehearsal.runbook for name, rehearsal in rehearsals().items())


@pytest.mark.parametrize("name", rehearsals())
def test_a_runbook_ends_as_expected_and_takes_every_path(name: str) -> None:
    book = find_runbook(name).book
    performances = [rehearse(book, story) for story in rehearsals()[name].scenarios]
    assert {p.scenario: p.failure for p in performances if p.failure} == {}
    taken = frozenset().union(*(p.ways for p in performances))
    assert [str(way) for way in ways_of(book) if way not in taken] == []


@pytest.mark.parametrize("name", ["consumer-stuck"])
def test_a_run_killed_at_every_step_still_completes(name: str) -> None:
    """One of the library, quickly; ``make prove runbooks-interrupted`` is about all of it."""
    book = find_runbook(name).book
    performances = [rehearse(book, story, interrupted=True) for story in rehearsals()[name].scenarios]
    assert {p.scenario: p.failure for p in performances if p.failure} == {}
