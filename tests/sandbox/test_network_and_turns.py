"""Turns of the loop, links between nodes, timers of a node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from eosctl.sandbox.channel import NodeChannel
from eosctl.sandbox.network import FaultAction, Frame, LinkFault, Network, Passed, Port
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.ticks import Ticks
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_request
from eosctl.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from tests.sandbox.harness import VirtualLoop


@pytest.fixture
def loop() -> VirtualLoop:
    return VirtualLoop()


@pytest.fixture
def ticks(loop: VirtualLoop) -> Ticks:
    return Ticks(loop)


# --- turns --------------------------------------------------------------------------------------------------------


def test_flushes_come_after_all_work_and_writes_after_flushes(loop: VirtualLoop, ticks: Ticks) -> None:
    seen: list[str] = []

    def work() -> None:
        seen.append("work")
        ticks.at_write(lambda: seen.append("write"))
        ticks.at_flush(lambda: seen.append("flush"))
        ticks.post(lambda: seen.append("more work"))

    ticks.post(work)
    loop.run(0)
    assert seen == ["work", "more work", "flush", "write"]


def test_work_that_a_write_makes_belongs_to_the_same_turn(loop: VirtualLoop, ticks: Ticks) -> None:
    seen: list[str] = []
    ticks.at_write(lambda: ticks.post(lambda: seen.append("work")))
    loop.run(0)
    assert seen == ["work"]


def test_everything_before_a_settled_call_is_flushed_once(loop: VirtualLoop, ticks: Ticks) -> None:
    seen: list[str] = []

    def append(name: str) -> None:
        seen.append(name)
        ticks.at_flush(lambda: seen.append(f"{name} flushed"))

    def decide() -> None:
        append("decision")
        ticks.post_settled(lambda: append("first marker"))
        ticks.post_settled(lambda: append("second marker"))

    ticks.post(decide)
    loop.run(0)
    assert seen[:4] == ["decision", "decision flushed", "first marker", "second marker"]
    assert sorted(seen[4:]) == ["first marker flushed", "second marker flushed"]


def test_a_settled_call_runs_where_a_flush_fails(loop: VirtualLoop, ticks: Ticks) -> None:
    seen: list[str] = []

    def fail() -> None:
        raise ValueError("broken")

    ticks.at_flush(fail)
    ticks.post_settled(lambda: seen.append("next"))
    with pytest.raises(ValueError, match="broken"):
        loop.run(0)
    loop.run(0)
    assert seen == ["next"]


def test_a_failing_call_costs_no_other_call(loop: VirtualLoop, ticks: Ticks) -> None:
    seen: list[str] = []

    def fail() -> None:
        raise ValueError("broken")

    ticks.post(fail)
    ticks.post(lambda: seen.append("next"))
    with pytest.raises(ValueError, match="broken"):
        loop.run(0)
    loop.run(0)
    assert seen == ["next"]


def test_deep_chains_do_not_recurse(loop: VirtualLoop, ticks: Ticks) -> None:
    left = 50_000

    def again() -> None:
        nonlocal left
        left -= 1
        if left:
            ticks.post(again)

    ticks.post(again)
    loop.run(0)
    assert left == 0


# --- a node's runtime ---------------------------------------------------------------------------------------------


def test_a_stopped_node_has_no_timers(loop: VirtualLoop, ticks: Ticks) -> None:
    runtime, seen = NodeRuntime(loop, ticks, 1000), []
    late = runtime.call_later(10, lambda: seen.append("late"))
    soon = runtime.call_later(0, lambda: seen.append("soon"))
    cancelled = runtime.call_later(5, lambda: seen.append("cancelled"))
    runtime.call_later(1, lambda: seen.append("early"))
    cancelled.cancel()
    loop.run(0.005)
    runtime.call_later(0, lambda: seen.append("at stop"))
    runtime.stop()
    runtime.call_later(1, lambda: seen.append("after"))
    loop.run(1)
    assert seen == ["soon", "early"]
    assert not late.is_pending
    assert not soon.is_pending


def test_what_was_posted_before_a_node_stops_is_not_done_by_it(loop: VirtualLoop, ticks: Ticks) -> None:
    # A kill comes between a timer and the turn that it wakes: the node's logs are closed by then.
    runtime, other, seen = NodeRuntime(loop, ticks, 1000), NodeRuntime(loop, ticks, 1000), []
    waker = NodeRuntime(loop, ticks, 1000)
    waker.call_later(10, waker.stop)
    waker.call_later(10, lambda: seen.append("timer of the same moment"))
    runtime.call_soon(runtime.stop)
    runtime.call_soon(lambda: seen.append("call of the same turn"))
    other.call_soon(lambda: seen.append("of another node"))
    loop.run(1)
    assert seen == ["of another node"]


def test_a_timer_can_be_cancelled_by_a_simultaneous_one(loop: VirtualLoop, ticks: Ticks) -> None:
    runtime, seen = NodeRuntime(loop, ticks, 1000), []
    runtime.call_later(10, lambda: second.cancel())
    second = runtime.call_later(10, lambda: seen.append("cancelled"))
    loop.run(1)
    assert seen == []


def test_clocks_can_be_skewed_one_by_one(loop: VirtualLoop, ticks: Ticks) -> None:
    first, second = NodeRuntime(loop, ticks, 1000), NodeRuntime(loop, ticks, 1000)
    second.skew_ms = -300
    loop.run(2)
    assert (first.now_ms(), second.now_ms()) == (3000, 2700)


# --- links --------------------------------------------------------------------------------------------------------


class Nodes:
    """Three nodes that note what arrives."""

    def __init__(self, loop: VirtualLoop, ticks: Ticks) -> None:
        self.loop = loop
        self.network = Network(loop, ticks)
        self.arrived: list[tuple[int, bytes]] = []
        self.gone: list[tuple[int, int]] = []
        for node_id in (1, 2, 3):
            self.network.attach(node_id, Port(self.receive, partial(self.lost, node_id)))

    def receive(self, frame: Frame | Passed) -> None:
        self.arrived.append((frame.destination, frame.message if isinstance(frame, Passed) else frame.data))

    def lost(self, node_id: int, other: int) -> None:
        self.gone.append((node_id, other))

    def send(self, data: bytes, source: int = 1, destination: int = 2, api_key: int = 1) -> bool:
        return self.network.send(Frame(source, destination, api_key, True, data))

    def hand_over(self, message: bytes, source: int = 1, destination: int = 2) -> bool:
        return self.network.hand_over(Passed(source, destination, 1, True, 0, 7, message))


@pytest.fixture
def nodes(loop: VirtualLoop, ticks: Ticks) -> Nodes:
    return Nodes(loop, ticks)


def test_frames_arrive_in_the_same_turn_in_order(nodes: Nodes) -> None:
    for number in range(3):
        assert nodes.send(bytes([number]))
    nodes.loop.run(0)
    assert nodes.arrived == [(2, b"\0"), (2, b"\1"), (2, b"\2")]


def test_what_is_passed_keeps_its_place_among_frames(nodes: Nodes) -> None:
    assert nodes.send(b"a")
    assert nodes.hand_over(b"b")
    assert nodes.send(b"c")
    nodes.loop.run(0)
    assert [data for _, data in nodes.arrived] == [b"a", b"b", b"c"]


def test_passed_messages_wait_for_paused_nodes(nodes: Nodes) -> None:
    nodes.network.pause(2)
    assert nodes.hand_over(b"a")
    nodes.loop.run(0)
    assert nodes.arrived == []
    nodes.network.resume(2)
    nodes.loop.run(0)
    assert nodes.arrived == [(2, b"a")]
    assert nodes.hand_over(b"b")
    nodes.network.detach(2)
    assert not nodes.hand_over(b"c")
    nodes.loop.run(0)
    assert nodes.arrived == [(2, b"a")]


def test_a_detached_node_receives_nothing(nodes: Nodes) -> None:
    nodes.network.detach(2)
    assert not nodes.send(b"x")
    nodes.loop.run(0)
    assert sorted(nodes.gone) == [(1, 2), (3, 2)]
    assert nodes.arrived == []


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (LinkFault(FaultAction.DROP, source=1, destination=2), []),
        (LinkFault(FaultAction.DROP, source=3), [b"a", b"b", b"c"]),
        (LinkFault(FaultAction.DROP, api_key=7), [b"a", b"b", b"c"]),
        (LinkFault(FaultAction.DROP, requests=False), [b"a", b"b", b"c"]),
        (LinkFault(FaultAction.DROP, skip=1, count=1), [b"a", b"c"]),
        (LinkFault(FaultAction.DUPLICATE, count=1), [b"a", b"a", b"b", b"c"]),
        (LinkFault(FaultAction.REORDER, count=1), [b"b", b"a", b"c"]),
        (LinkFault(FaultAction.DELAY, count=1, delay_ms=20), [b"b", b"c", b"a"]),
    ],
)
def test_faults(nodes: Nodes, fault: LinkFault, expected: list[bytes]) -> None:
    nodes.network.add_fault(fault)
    for data in (b"a", b"b", b"c"):
        nodes.send(data)
    nodes.loop.run(1)
    assert [data for _, data in nodes.arrived] == expected


def test_a_frame_held_for_reordering_does_not_wait_for_ever(nodes: Nodes) -> None:
    nodes.network.add_fault(LinkFault(FaultAction.REORDER, count=1))
    nodes.send(b"a")
    nodes.loop.run(0.01)
    assert nodes.arrived == []
    nodes.loop.run(1)
    assert nodes.arrived == [(2, b"a")]


def test_a_cut_is_healed(nodes: Nodes) -> None:
    nodes.network.cut(1, 2)
    nodes.send(b"lost")
    nodes.send(b"lost too", source=2, destination=1)
    nodes.send(b"passes", destination=3)
    nodes.network.heal()
    nodes.send(b"again")
    nodes.loop.run(0)
    assert nodes.arrived == [(3, b"passes"), (2, b"again")]


def test_a_cut_of_a_node_from_all_others(nodes: Nodes) -> None:
    nodes.network.cut(2)
    sends: list[Callable[[], bool]] = [
        lambda: nodes.send(b"x"),
        lambda: nodes.send(b"x", source=2, destination=3),
        lambda: nodes.send(b"passes", destination=3),
    ]
    assert all(send() for send in sends)
    nodes.loop.run(0)
    assert nodes.arrived == [(3, b"passes")]


# --- channels -----------------------------------------------------------------------------------------------------


class Answers:
    """A node's service that keeps requests until they are answered."""

    def __init__(self) -> None:
        self.contexts: list[RequestContext] = []

    def serve(self, api_key: int, version: int, context: RequestContext, request: object) -> None:
        self.contexts.append(context)

    def decode(self, api_key: int, version: int, frame: bytes, position: int) -> object:
        return decode_request(frame)[1]


def open_channel(node_id: int, network: Network, loop: VirtualLoop, ticks: Ticks, service: Answers) -> NodeChannel:
    channel = NodeChannel(node_id, network, NodeRuntime(loop, ticks, 0), service, lambda: None)
    network.attach(node_id, Port(channel.receive, channel.disconnected))
    return channel


@pytest.mark.parametrize("fault", [None, LinkFault(FaultAction.DROP, count=0)])
def test_a_late_response_finds_no_request_of_a_later_run(
    loop: VirtualLoop, ticks: Ticks, fault: LinkFault | None
) -> None:
    network, service = Network(loop, ticks), Answers()
    if fault is not None:
        network.add_fault(fault)
    open_channel(1, network, loop, ticks, service)
    seen: list[object] = []

    def send(name: str) -> None:
        channel = open_channel(2, network, loop, ticks, service)
        channel.send(1, ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest(coordinator_keys=[name]), seen.append)
        loop.run(0)

    send("former")
    network.detach(2)
    send("later")
    answers = [FindCoordinatorResponse(coordinators=[Coordinator(name, 1)]) for name in ("former", "later")]
    for context, answer in zip(service.contexts, answers, strict=True):
        context.reply(answer)
    loop.run(0)
    assert seen == answers[1:]
