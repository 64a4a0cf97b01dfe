"""Producer ids: unique over brokers, prefetched, never waited for."""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.coordinator.transaction.producer_ids import ProducerIdManager
from eosctl.wire.error_codes import ErrorCode


def test_a_hundred_callers_on_three_brokers_never_get_one_twice(make_world: Any) -> None:
    world = make_world("4.3-tv1", brokers=3)
    world.channel.block_length = 7
    given: list[int] = []

    def call(manager: ProducerIdManager, left: int) -> None:
        producer_id = manager.next_id()
        if producer_id is not None:
            given.append(producer_id)
            left -= 1
        if left:
            world.runtime.call_later(1 if producer_id is None else 0, lambda: call(manager, left))

    for caller in range(100):
        manager = world.brokers[caller % 3].producer_ids
        world.runtime.call_soon(lambda manager=manager: call(manager, 20))
    world.runtime.advance(5_000)
    assert len(given) == 100 * 20
    assert len(set(given)) == len(given)


def test_the_next_block_is_asked_for_when_nine_tenths_are_used(make_world: Any) -> None:
    world = make_world("4.3-tv1")
    ids = world.broker.producer_ids
    assert world.channel.controller_requests == 1
    for number in range(899):
        assert ids.next_id() == number
    world.runtime.run()
    assert world.channel.controller_requests == 1
    assert ids.next_id() == 899
    world.runtime.run()
    assert world.channel.controller_requests == 2
    assert [ids.next_id() for _ in range(200)] == list(range(900, 1100))
    world.runtime.run()
    assert world.channel.controller_requests == 2


def test_starvation_answers_14_until_the_controller_is_back(world: Any) -> None:
    ids = world.broker.producer_ids
    world.channel.controller_error = ErrorCode.STALE_BROKER_EPOCH
    while ids.next_id() is not None:
        world.runtime.run()
    assert world.init(None).error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert world.init().error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    world.channel.controller_error = None  # no answer at all
    world.runtime.advance(200)
    assert world.init().error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    world.channel.controller_error = ErrorCode.NONE
    world.runtime.advance(50)
    assert world.init().producer_id == 1000


def test_one_request_for_producer_ids_is_in_flight(make_world: Any) -> None:
    world = make_world("4.3-tv1")
    fresh = ProducerIdManager(node_id=1, runtime=world.runtime, channel=world.channel, broker_epoch=lambda: 1)
    before = world.channel.controller_requests
    assert [fresh.next_id() for _ in range(5)] == [None] * 5
    assert world.channel.controller_requests == before + 1
    world.runtime.run()
    assert fresh.next_id() is not None
