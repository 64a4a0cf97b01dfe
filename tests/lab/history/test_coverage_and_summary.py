"""Statistics of a history: coverage, and commits during each fault."""

from __future__ import annotations

from eosctl.lab.history.coverage import Cell, ClientState, count_meetings
from eosctl.lab.history.events import (
    Ended,
    EndInvoked,
    Event,
    FaultBegan,
    FaultEnded,
    Identified,
    InitInvoked,
    Outcome,
    SendInvoked,
)
from eosctl.lab.history.ledger import amount_of
from eosctl.lab.history.summary import NO_FAULT, WHOLE_RUN, summarize
from eosctl.model.transaction import TopicPartition
from tests.lab.history.synthetic import clean_history

PLACE = TopicPartition("t", 0)


def transaction(name: str, begin: int, asked: int, end: int, outcome: Outcome = Outcome.COMMITTED) -> list[Event]:
    return [
        SendInvoked(begin, "a", name, PLACE, f"{name}/0"),
        EndInvoked(asked, "a", name, True),
        Ended(end, "a", name, outcome),
    ]


def test_a_fault_covers_present_and_entered_states() -> None:
    history: tuple[Event, ...] = (
        InitInvoked(0, "a", "id"),
        Identified(1, "a", "id", 1, 0),
        SendInvoked(2, "a", "a/0", PLACE, "a/0/0"),
        FaultBegan(3, 1, "kill", "1"),
        SendInvoked(4, "a", "a/0", PLACE, "a/0/1"),
        EndInvoked(5, "a", "a/0", True),
        FaultEnded(6, 1, "kill", "1"),
        Ended(7, "a", "a/0", Outcome.COMMITTED),
    )
    assert count_meetings(history) == {
        Cell(ClientState.ONGOING, "kill"): 1,
        Cell(ClientState.PREPARE_COMMIT, "kill"): 1,
    }


def test_without_faults_nothing_is_covered() -> None:
    assert count_meetings(clean_history(3)) == {}


def test_commits_count_for_the_fault_active_at_their_end() -> None:
    history = (
        *transaction("a/0", 0, 10, 20),
        FaultBegan(2_000, 1, "cut", "1"),
        *transaction("a/1", 2_100, 2_200, 3_900),
        FaultEnded(3_950, 1, "cut", "1"),
        *transaction("a/2", 4_000, 4_100, 4_400, Outcome.UNKNOWN),
        *transaction("a/3", 5_000, 5_100, 5_130),
    )
    found = summarize(history)
    assert (found.transaction_count, found.committed_count, found.aborted_count, found.unknown_count) == (4, 3, 0, 1)
    spans = {span.condition: span for span in found.spans}
    assert list(spans) == [WHOLE_RUN, NO_FAULT, "cut"]
    cut = spans["cut"]
    assert (cut.length_ms, cut.committed_count, cut.failed_count, cut.max_ms) == (1_950, 1, 0, 1_700.0)
    assert cut.availability == 0.5  # of its two seconds one saw a commit
    quiet = spans[NO_FAULT]
    assert (quiet.committed_count, quiet.failed_count, quiet.availability) == (2, 1, 0.5)


def test_a_fault_without_an_end_lasts_to_the_end_of_the_work() -> None:
    history = (
        *transaction("a/0", 0, 10, 20),
        FaultBegan(1_000, 1, "pause", "1"),
        *transaction("a/1", 2_000, 2_010, 6_000),
    )
    assert {span.condition: span.length_ms for span in summarize(history).spans}["pause"] == 5_000


def test_counts_agree_with_the_model() -> None:
    for seed in range(20):
        history = clean_history(seed)
        found = summarize(history)
        ended = [event.outcome for event in history if isinstance(event, Ended)]
        assert found.committed_count == ended.count(Outcome.COMMITTED)
        assert found.aborted_count == ended.count(Outcome.ABORTED)
        assert found.committed_count + found.aborted_count + found.unknown_count == found.transaction_count


def test_an_empty_history_has_no_spans() -> None:
    assert summarize(()).spans == ()


def test_amounts_stand_at_the_end() -> None:
    texts = ("a/1/x$-25", "a/1/x$+3", "a/1/x", "a$b", "$7")
    assert [amount_of(text) for text in texts] == [-25, 3, None, None, 7]
