"""No request holds a turn for long, however many entries it has: every API and every repeated field.

The oldest and the newest version that have a field stand for those between them. Work is counted in executed lines,
which other load does not change. A line costs 0.1 to 0.2 microseconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from os import sep
from pathlib import Path
from types import FrameType, UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec
import pytest

from eosctl.sandbox.api.registry import client_versions
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.sandbox.replication.replica_manager import APPLIED_PER_STEP
from eosctl.sandbox.turns import SLICE
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import encode_request
from eosctl.wire.generated.index import APIS
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.sandbox.harness import Harness, VirtualHandle

EMULATION: Final = Emulation("4.4")
CREATION: Final = "auto.create.topics.enable"
FEW, MANY = SLICE + 100, 2 * SLICE + 200
LINES_PER_ENTRY: Final = 25
"""What a further entry may add to the longest turn: where a request is handled in slices, its check and response."""
WHOLE: Final = {
    ApiKey.ADD_PARTITIONS_TO_TXN: 40,  # A transaction takes all partitions of a request or none.
    ApiKey.ALTER_CLIENT_QUOTAS: 40,  # Entries for the same entity: the first one is applied.
    ApiKey.CONSUMER_GROUP_HEARTBEAT: 40,  # One change of one member.
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: 95,  # The groups are read in slices, and answered together.
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: 170,  # It describes 2,000 partitions at most.
    ApiKey.FETCH: 80,  # The partitions are read in slices, and answered together.
    ApiKey.OFFSET_COMMIT: 75,  # One batch of a group's offsets.
    ApiKey.OFFSET_DELETE: 45,  # The same.
    ApiKey.OFFSET_FETCH: 55,  # The offsets of one group.
    ApiKey.SHARE_GROUP_HEARTBEAT: 40,  # One change of one member.
    ApiKey.STREAMS_GROUP_HEARTBEAT: 40,  # One change of one member.
    ApiKey.TXN_OFFSET_COMMIT: 70,  # One batch of a group's offsets.
    ApiKey.WRITE_TXN_MARKERS: 55,  # The partitions of one topic.
}
"""APIs whose entries Kafka handles together, with the lines that a further entry may take, and why."""
CLIENT_APIS: Final = [key for key in sorted(APIS) if client_versions(key, EMULATION)]


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    # The topics of one request are not there for the next one.
    started = Harness(tmp_path / "data", ClusterShape(settings={CREATION: "false"}))
    for kind in (0, 1):
        started.request(1, ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest(key_type=kind, coordinator_keys=["n0"]))
    started.request(1, ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([CreatableTopic("n0", 10, 1)]))
    started.advance(1_000)
    yield started
    started.close()


@pytest.mark.parametrize("api_key", CLIENT_APIS, ids=lambda key: ApiKey(key).name)
def test_no_request_holds_a_turn_for_long(api_key: int, harness: Harness) -> None:
    kind = request_type(api_key)
    added = {}
    for path in repeated(kind):
        frames = {version: frames_of(api_key, version, path) for version in client_versions(api_key, EMULATION)}
        having = [version for version, (few, many) in frames.items() if len(many) - len(few) >= MANY - FEW]
        for version in {*having[:1], *having[-1:]}:
            taken = [lines_of_longest_turn(harness, api_key, version, frame) for frame in frames[version]]
            added[version, ".".join(path)] = (taken[1] - taken[0]) / (MANY - FEW)
    allowed = WHOLE.get(ApiKey(api_key), LINES_PER_ENTRY)
    assert {case: lines for case, lines in added.items() if lines > allowed} == {}


def test_replicas_of_many_topics_are_created_in_turns(tmp_path: Path) -> None:
    """Metadata of unknown names creates them by one request, and their replicas are hosted a few per turn."""
    harness = Harness(tmp_path / "data")
    wanted = MetadataRequest([MetadataRequestTopic(name=f"n{number}") for number in range(SLICE)])
    hosted = [0]
    requested: list[CreateTopicsRequest] = []
    broker = harness.core.broker(1)
    send = broker.channel.send_to_controller

    def call(handle: VirtualHandle) -> None:
        handle.callback(*handle.arguments)
        hosted.append(len(broker.replicas.partitions))

    def note(api_key: int, version: int, message: Any, *rest: Any, **options: Any) -> None:
        requested.extend([message] if isinstance(message, CreateTopicsRequest) else [])
        send(api_key, version, message, *rest, **options)

    broker.channel.send_to_controller = note  # type: ignore[method-assign]
    harness.loop.call = call  # type: ignore[method-assign]
    harness.request(1, ApiKey.METADATA, 0, wanted)
    harness.advance(1_000)
    assert hosted[-1] == SLICE
    assert max(after - before for before, after in pairwise(hosted)) <= APPLIED_PER_STEP
    assert [len(request.topics) for request in requested] == [SLICE]
    harness.close()


def frames_of(api_key: int, version: int, path: tuple[str, ...]) -> tuple[bytes, bytes]:
    """Return two requests with few and with many entries of a field; they are alike in a version without the field."""
    kind = request_type(api_key)
    few, many = (encode_request(api_key, version, 1, "turns", example(kind, path, count)) for count in (FEW, MANY))
    return few, many


def lines_of_longest_turn(harness: Harness, api_key: int, version: int, frame: bytes) -> int:
    """Send a request; return the executed lines of the longest turn until its response, and shortly after it."""
    longest = 0

    def call(handle: VirtualHandle) -> None:
        nonlocal longest
        longest = max(longest, lines(lambda: handle.callback(*handle.arguments)))

    client = harness.client()
    response = client.expect(api_key, version)
    harness.loop.call = call  # type: ignore[method-assign]
    try:
        harness.loop.call_soon(client.feed, frame)
        harness.loop.run(harness.loop.time() + 60, lambda: response.is_over)
        harness.advance(100)
    finally:
        del harness.loop.call
    client.disconnect()
    return longest


def lines(operation: Callable[[], object]) -> int:
    """Count the executed lines of an operation in the sandbox itself, without the codec."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if event == "call" and f"{sep}sandbox{sep}" not in frame.f_code.co_filename:
            return None
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        operation()
    finally:
        sys.settrace(before)
    return count


@cache
def hints(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the types of a struct's fields."""
    return get_type_hints(kind)


def request_type(api_key: int) -> type[msgspec.Struct]:
    """Return the struct of an API's request."""
    module = import_module(f"eosctl.wire.messages.{ApiKey(api_key).name.lower()}")
    found: type[msgspec.Struct] = getattr(module, f"{APIS[api_key].name}Request")
    return found


def repeated(kind: type[msgspec.Struct]) -> Iterator[tuple[str, ...]]:
    """Yield the path of each repeated field."""
    for name, of in hints(kind).items():
        element = element_of(of)
        if element is not None:
            yield (name,)
            if issubclass(element, msgspec.Struct):
                yield from ((name, *path) for path in repeated(element))


def element_of(of: Any) -> type | None:
    """Return the type of a sequence's elements; None for other fields."""
    for part in get_args(of) if get_origin(of) is UnionType else (of,):
        if get_origin(part) is Sequence:
            found: type = get_args(part)[0]
            return found
    return None


def example(kind: type[msgspec.Struct], path: tuple[str, ...], size: int, number: int = 0) -> msgspec.Struct:
    """Return a request with `size` distinct elements in one repeated field, and one in each of the others."""
    given: dict[str, Any] = {}
    for name, of in hints(kind).items():
        element = element_of(of)
        if element is not None:
            count = size if path == (name,) else 1
            within = path[1:] if path[:1] == (name,) else ()
            given[name] = [
                example(element, within, size, at)
                if issubclass(element, msgspec.Struct)
                else scalar(name, element, at) or 0
                for at in range(count)
            ]
        elif isinstance(of, type) and issubclass(of, msgspec.Struct):
            given[name] = example(of, (), size)
        elif (value := scalar(name, of, number)) is not None:
            given[name] = value
    return kind(**given)


def element_at(name: str, element: type, path: tuple[str, ...], size: int, number: int) -> Any:
    """Return the element with this number of a repeated field."""
    if issubclass(element, msgspec.Struct):
        return example(element, path, size, number)
    return scalar(name, element, number) or 0


#: Values that lead past the first checks of a request.
FITTING: Final = {"num_partitions": 1, "replication_factor": 1, "count": 2, "resource_type": 2, "timeout_ms": 30_000}
LARGE_NUMBERS: Final = ("partition_index", "partition_indexes", "partition", "partitions", "broker_ids", "producer_id")


def scalar(name: str, of: Any, number: int) -> Any:
    """Return the value of a field in the entry with this number; None for the default."""
    kinds = set(get_args(of)) or {of}
    if name in FITTING:
        return FITTING[name]
    if str in kinds:
        return f"n{number}"
    if bytes in kinds and name.endswith("id"):
        return (number + 1).to_bytes(16, "big")
    if kinds == {int} and number:
        return number if name in LARGE_NUMBERS else number % 2 + 1
    return None
