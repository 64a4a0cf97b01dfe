"""The connector whose streams can be cut, slowed and held back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eosctl.client.memory import MemoryNetwork
from eosctl.lab.verify.links import CUT, DELAY, DISCONNECT, LATE_END_TXN, LinkNemesis
from eosctl.lab.verify.plan import PlannedFault
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.client_config import Endpoint

PLACE = Endpoint("broker", 9092)


class End:
    """Collects what arrives, with the time."""

    def __init__(self) -> None:
        self.got: list[tuple[float, bytes]] = []
        self.lost: list[Exception | None] = []

    def data_received(self, data: bytes) -> None:
        self.got.append((asyncio.get_running_loop().time(), data))

    def connection_lost(self, error: Exception | None) -> None:
        self.lost.append(error)

    @property
    def text(self) -> bytes:
        return b"".join(data for _, data in self.got)


class World:
    """A broker that remembers what every connection has sent it, and the link in front of it."""

    def __init__(self) -> None:
        self.network = MemoryNetwork()
        self.link = LinkNemesis(self.network)
        self.ends: list[tuple[End, Any]] = []
        self.network.listen(PLACE, self._accept)

    def _accept(self, transport: Any) -> End:
        self.ends.append((End(), transport))
        return self.ends[-1][0]

    async def open(self) -> tuple[Any, End]:
        client = End()
        return await self.link.open(PLACE, client, None), client

    async def begin(self, kind: str, amount: int = 0) -> None:
        await self.link.begin(PlannedFault(0, 0, kind, 0, amount))


async def settle(seconds: float = 0.01) -> None:
    await asyncio.sleep(seconds)


def test_without_a_fault_bytes_go_through_both_ways() -> None:
    async def scenario() -> None:
        world = World()
        stream, client = await world.open()
        stream.write(b"ask")
        await settle()
        broker, back = world.ends[0]
        back.write(b"answer")
        await settle()
        assert (broker.text, client.text) == (b"ask", b"answer")
        stream.close()
        await settle()
        assert broker.lost == [None]

    run_virtual(scenario())


def test_delayed_bytes_arrive_after_their_sender_gave_up() -> None:
    async def scenario() -> None:
        world = World()
        old, _ = await world.open()
        await world.begin(DELAY)
        old.write(b"EndTxn of one")
        old.close()
        new, _ = await world.open()
        new.write(b"EndTxn of one again, write of two")
        await settle()
        assert world.ends[1][0].text == b"EndTxn of one again, write of two"
        assert (world.ends[0][0].text, world.ends[0][0].lost) == (b"", [])
        await world.link.heal()
        await settle()
        assert world.ends[0][0].text == b"EndTxn of one"
        await settle(1)
        assert world.ends[0][0].lost == [None]

    run_virtual(scenario())


def test_only_the_connection_of_the_next_end_txn_is_held() -> None:
    async def scenario() -> None:
        world = World()
        old, _ = await world.open()
        await world.begin(LATE_END_TXN)
        old.write(b"\0\0\0\x08\0\0produce")
        old.write(b"\0\0\0\x08\0\x1aend")
        old.write(b"after")
        new, _ = await world.open()
        new.write(b"\0\0\0\x08\0\x1aagain")
        await settle()
        assert world.ends[0][0].text == b"\0\0\0\x08\0\0produce"
        assert world.ends[1][0].text.endswith(b"again")
        await world.link.heal()
        await settle()
        assert world.ends[0][0].text.endswith(b"endafter")

    run_virtual(scenario())


def test_answers_pass_while_requests_are_held() -> None:
    async def scenario() -> None:
        world = World()
        _, client = await world.open()
        await world.begin(DELAY)
        world.ends[0][1].write(b"answer")
        await settle()
        assert client.text == b"answer"

    run_virtual(scenario())


def test_a_cut_holds_both_directions_and_rejects_connections() -> None:
    async def scenario() -> None:
        world = World()
        stream, client = await world.open()
        await world.begin(CUT)
        stream.write(b"1")
        stream.write(b"2")
        world.ends[0][1].write(b"a")
        await settle()
        assert (world.ends[0][0].text, client.text) == (b"", b"")
        with pytest.raises(ConnectionRefusedError, match="cut by this run"):
            await world.open()
        await world.link.heal()
        await settle()
        assert (world.ends[0][0].text, client.text) == (b"12", b"a")
        await world.open()

    run_virtual(scenario())


def test_a_delay_keeps_the_order_also_when_it_ends() -> None:
    async def scenario() -> None:
        world = World()
        stream, client = await world.open()
        await world.begin(DELAY, 200)
        began = asyncio.get_running_loop().time()
        stream.write(b"1")
        world.ends[0][1].write(b"a")
        await settle()
        await world.link.heal()
        stream.write(b"2")
        world.ends[0][1].write(b"b")
        await settle(0.5)
        broker = world.ends[0][0]
        assert (broker.text, client.text) == (b"12", b"ab")
        assert broker.got[0][0] - began >= 0.2

    run_virtual(scenario())


def test_a_broken_connection_is_reported_and_the_next_works() -> None:
    async def scenario() -> None:
        world = World()
        stream, client = await world.open()
        await world.begin(DISCONNECT)
        stream.write(b"lost")
        await settle()
        assert [type(error) for error in client.lost] == [ConnectionResetError]
        assert world.ends[0][0].text == b""
        again, _ = await world.open()
        again.write(b"works")
        await settle()
        assert world.ends[1][0].text == b"works"

    run_virtual(scenario())


def test_a_connection_that_the_broker_closes_is_noted_once() -> None:
    async def scenario() -> None:
        world = World()
        _, client = await world.open()
        world.ends[0][1].close()
        await settle()
        await world.begin(DISCONNECT)
        assert client.lost == [None]

    run_virtual(scenario())
