"""Links between the networks of two workers: order, connections, runs, and the place where a fault acts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from eosctl.sandbox.channel import NodeChannel
from eosctl.sandbox.network import FaultAction, Frame, LinkFault, Network, Passed, Port
from eosctl.sandbox.ports import Envelope, RequestContext
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.ticks import Ticks
from eosctl.sandbox.workers.links import Links
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_request
from eosctl.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

API = int(ApiKey.FIND_COORDINATOR)


class Service:
    """Answers each request with its own key, and remembers the client that it was forwarded for."""

    def __init__(self) -> None:
        self.principals: list[str] = []

    def serve(self, api_key: int, version: int, context: RequestContext, request: FindCoordinatorRequest) -> None:
        self.principals.append(context.principal)
        key = request.coordinator_keys[0]
        context.reply(None if key == "close" else FindCoordinatorResponse(coordinators=[Coordinator(key, 1)]))

    def decode(self, api_key: int, version: int, frame: bytes, position: int) -> object:
        return decode_request(frame)[1]


class Side:
    """A worker: its network, its links, and what its nodes have received."""

    def __init__(self, service: Service | None) -> None:
        self.service = service
        self.loop = asyncio.get_running_loop()
        self.ticks = Ticks(self.loop)
        self.network = Network(self.loop, self.ticks)
        self.links = Links(self.network, self.ticks)
        self.received: list[bytes | str] = []

    def attach(self, node_id: int) -> None:
        if self.service is not None:
            runtime = NodeRuntime(self.loop, self.ticks, 0)
            self.channel = NodeChannel(node_id, self.network, runtime, self.service, lambda: None)
            self.network.attach(node_id, Port(self.channel.receive, self.channel.disconnected))
            return

        def receive(frame: Frame | Passed) -> None:
            assert isinstance(frame, Frame)
            self.received.append(frame.data)

        self.network.attach(node_id, Port(receive, lambda gone: self.received.append(f"{node_id} lost {gone}")))

    def send(self, *data: bytes, source: int = 1, to: int = 2) -> list[bool]:
        return [self.network.send(Frame(source, to, API, True, each)) for each in data]

    async def until(self, expected: Sequence[bytes | str]) -> None:
        while len(self.received) < len(expected):
            await asyncio.sleep(0.001)
        assert self.received == list(expected)


Scenario = Callable[[Side, Side], Awaitable[None]]


def linked(folder: Path, scenario: Scenario, service: Service | None = None) -> None:
    """Run a scenario with node 1 at the first worker and node 2 at the second."""

    async def run() -> None:
        first, second = Side(service), Side(service)
        first.attach(1)
        await second.links.listen(folder / "link")
        await first.links.connect([folder / "link"])
        second.attach(2)
        while not (first.links.has(2) and second.links.has(1)):
            await asyncio.sleep(0.001)
        try:
            await scenario(first, second)
        finally:
            first.links.close()
            second.links.close()
            await asyncio.sleep(0)

    asyncio.run(run())


def test_frames_keep_their_order(tmp_path: Path) -> None:
    async def scenario(first: Side, second: Side) -> None:
        assert first.send(b"a", b"b", b"c") == [True] * 3
        await second.until([b"a", b"b", b"c"])

    linked(tmp_path, scenario)


def test_a_node_that_does_not_run_refuses(tmp_path: Path) -> None:
    async def scenario(first: Side, second: Side) -> None:
        assert first.send(b"a", to=3) == [False]

    linked(tmp_path, scenario)


def test_the_end_of_a_node_follows_its_last_frame(tmp_path: Path) -> None:
    async def scenario(first: Side, second: Side) -> None:
        first.send(b"last")
        first.network.detach(1)
        await second.until([b"last", "2 lost 1"])
        assert second.send(b"late", source=2, to=1) == [False]

    linked(tmp_path, scenario)


def test_the_end_of_a_worker_disconnects_its_nodes(tmp_path: Path) -> None:
    async def scenario(first: Side, second: Side) -> None:
        first.links.close()
        await second.until(["2 lost 1"])
        assert not second.links.has(1)

    linked(tmp_path, scenario)


def test_a_new_worker_replaces_one_whose_end_is_not_read_yet(tmp_path: Path) -> None:
    async def scenario(first: Side, second: Side) -> None:
        second.attach(5)
        while not first.links.has(5):
            await asyncio.sleep(0.001)
        third = Side(None)
        third.attach(2)
        await third.links.listen(tmp_path / "third")
        await first.links.connect([tmp_path / "third"])
        await first.until(["1 lost 2"])
        second.links.close()
        await first.until(["1 lost 2", "1 lost 5"])
        assert first.send(b"for the new worker") == [True]
        await third.until([b"for the new worker"])
        third.links.close()

    linked(tmp_path, scenario)


def test_a_frame_to_an_earlier_run_is_lost(tmp_path: Path) -> None:
    async def scenario(first: Side, second: Side) -> None:
        first.send(b"for the earlier run")
        second.network.detach(2)
        second.attach(2)
        await first.until(["1 lost 2"])
        while not first.links.has(2):
            await asyncio.sleep(0.001)
        first.send(b"for the later run")
        await second.until([b"for the later run"])

    linked(tmp_path, scenario)


@pytest.mark.parametrize(
    "fault",
    [
        LinkFault(FaultAction.DROP, destination=2, count=2),
        LinkFault(FaultAction.DROP, source=1, count=2),
        LinkFault(FaultAction.DROP, source=1, destination=2, count=2),
    ],
)
def test_a_fault_counts_each_frame_once(tmp_path: Path, fault: LinkFault) -> None:
    async def scenario(first: Side, second: Side) -> None:
        copies = [
            LinkFault(fault.action, source=fault.source, destination=fault.destination, count=fault.count)
            for _ in range(2)
        ]
        for side, copy in zip((first, second), copies, strict=True):
            side.network.add_fault(copy)
        first.send(b"a", b"b", b"c")
        await second.until([b"c"])
        assert sorted(copy.hit_count for copy in copies) == [0, 2]

    linked(tmp_path, scenario)


def test_a_delayed_frame_reaches_another_worker(tmp_path: Path) -> None:
    async def scenario(first: Side, second: Side) -> None:
        first.network.add_fault(LinkFault(FaultAction.DELAY, source=1, count=1, delay_ms=5))
        first.send(b"delayed", b"prompt")
        await second.until([b"prompt", b"delayed"])

    linked(tmp_path, scenario)


@pytest.mark.parametrize("key", ["orders", "close"])
def test_requests_without_a_fault_are_encoded(tmp_path: Path, key: str) -> None:
    service, answers = Service(), list[object]()

    async def scenario(first: Side, second: Side) -> None:
        request = FindCoordinatorRequest(coordinator_keys=[key])
        client = Envelope("User:alice", "app", "127.0.0.1")
        first.ticks.post(partial(first.channel.send, 2, API, 4, request, answers.append, envelope=client))
        while not answers:
            await asyncio.sleep(0.001)

    linked(tmp_path, scenario, service)
    assert service.principals == ["User:alice"]
    assert answers == [None if key == "close" else FindCoordinatorResponse(coordinators=[Coordinator(key, 1)])]


def test_a_stranger_is_disconnected(tmp_path: Path) -> None:
    async def scenario(first: Side, second: Side) -> None:
        reader, writer = await asyncio.open_unix_connection(tmp_path / "link")
        writer.write(b"\0\0\0\4GET ")
        assert await reader.readexactly(4)  # The introduction of the worker.
        await reader.read()
        writer.close()
        first.send(b"still linked")
        await second.until([b"still linked"])

    linked(tmp_path, scenario)
