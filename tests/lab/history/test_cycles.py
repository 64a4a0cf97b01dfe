"""Circles of dependencies: which there are in small histories by hand, and in graphs against a plain search."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from eosctl.lab.history.check import check_history
from eosctl.lab.history.cycles import CycleCounts, check_cycles, components, count_cycles, shortest_circle
from eosctl.lab.history.events import Ended, EndInvoked, Event, Outcome, Polled, SendInvoked, Sent, TransactionRead
from eosctl.model.transaction import TopicPartition
from tests.lab.history.synthetic import clean_history

ONE, TWO = TopicPartition("lists", 0), TopicPartition("lists", 1)


def sent(actor: str, place: TopicPartition, value: str, offset: int) -> tuple[Event, Event]:
    return SendInvoked(0, actor, actor, place, value), Sent(0, actor, place, value, offset)


def committed(actor: str) -> tuple[Event, Event]:
    return EndInvoked(0, actor, actor, True), Ended(0, actor, actor, Outcome.COMMITTED)


def test_interleaved_writes_are_allowed_by_kafka() -> None:
    history = (
        *(*sent("a", ONE, "a1", 0), *sent("b", ONE, "b1", 1), *sent("b", TWO, "b2", 0), *sent("a", TWO, "a2", 1)),
        *(*committed("a"), *committed("b")),
        *(Polled(0, "r", ONE, 0, "a1"), Polled(0, "r", ONE, 1, "b1")),
        *(Polled(0, "r", TWO, 0, "b2"), Polled(0, "r", TWO, 1, "a2")),
    )
    assert count_cycles(history) == CycleCounts(g0_count=1, g1c_count=0, g_single_count=0)
    assert check_history(history) == ()


def test_a_read_across_a_commit_is_allowed_by_kafka() -> None:
    history = (
        TransactionRead(0, "b", "b", ONE, 0, 0),
        *(*sent("a", ONE, "a1", 0), *sent("a", TWO, "a2", 0), *committed("a")),
        *(Polled(0, "b", TWO, 0, "a2"), TransactionRead(0, "b", "b", TWO, 0, 1)),
        *(*sent("b", TWO, "b1", 2), *committed("b")),
        *(Polled(0, "r", ONE, 0, "a1"), Polled(0, "r", TWO, 0, "a2"), Polled(0, "r", TWO, 2, "b1")),
    )
    assert count_cycles(history) == CycleCounts(g0_count=0, g1c_count=0, g_single_count=1)
    assert check_history(history) == ()


def test_mutual_reads_are_reported_with_their_values() -> None:
    history = (
        *(*sent("a", ONE, "a1", 0), *sent("b", TWO, "b1", 0)),
        *(Polled(0, "a", TWO, 0, "b1"), TransactionRead(0, "a", "a", TWO, 0, 1)),
        *(Polled(0, "b", ONE, 0, "a1"), TransactionRead(0, "b", "b", ONE, 0, 1)),
        *(*committed("a"), *committed("b")),
    )
    (anomaly,) = check_cycles(history)
    assert anomaly.subject in ("a reads from b reads from a", "b reads from a reads from b")
    assert len(anomaly.witness) == 6
    assert count_cycles(history).g1c_count == 1


def test_values_before_or_after_a_read_do_not_belong_to_it() -> None:
    history = (
        *sent("a", ONE, "a1", 5),
        *(Polled(0, "b", ONE, 5, "a1"), TransactionRead(0, "b", "b", ONE, 6, 9)),
        *sent("b", TWO, "b1", 0),
        *(TransactionRead(0, "a", "a", TWO, 0, 1), Polled(0, "a", TWO, 0, "b1")),
    )
    assert list(check_cycles(history)) == []


Edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30)


def graph_of(edges: list[tuple[int, int]]) -> dict[str, dict[str, None]]:
    graph: dict[str, dict[str, None]] = {}
    for source, target in edges:
        graph.setdefault(str(source), {})[str(target)] = None
    return graph


def reached(graph: dict[str, dict[str, None]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = list(graph.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += graph.get(node, ())
    return found


@given(Edges)
def test_components_are_those_who_reach_each_other(edges: list[tuple[int, int]]) -> None:
    graph = graph_of(edges)
    nodes = set(graph) | {target for targets in graph.values() for target in targets}
    together = {
        frozenset({node} | {other for other in reached(graph, node) if node in reached(graph, other)}) for node in nodes
    }
    expected = {group for group in together if len(group) > 1}
    assert {frozenset(component) for component in components(graph)} == expected


@given(Edges)
def test_no_shorter_circle_lies_within_the_one_that_is_shown(edges: list[tuple[int, int]]) -> None:
    graph = graph_of([edge for edge in edges if edge[0] != edge[1]])
    for component in components(graph):
        circle = shortest_circle(graph, component)
        assert set(circle) <= set(component)
        for number, node in enumerate(circle):
            within = [target for target in graph[node] if target in circle]
            assert within == [circle[(number + 1) % len(circle)]], "a chord would be a shorter circle"


def test_long_chains_need_no_deep_stack() -> None:
    count = 50_000
    graph = {str(number): {str((number + 1) % count): None} for number in range(count)}
    (component,) = components(graph)
    assert len(component) == count
    assert components({str(number): {str(number + 1): None} for number in range(count)}) == []


def test_clean_histories_have_dependencies_without_read_cycles() -> None:
    chance = random.Random(1)
    assert all(count_cycles(clean_history(chance.getrandbits(32))).g1c_count == 0 for _ in range(50))
