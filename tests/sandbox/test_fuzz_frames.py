"""Mutated frames never crash the core: each is answered or closes its connection, and the others continue.

`EOSCTL_FUZZ_FRAMES` says how many frames are sent, 10,000 when it is not set (`make prove fuzz-frames`: a million).
The frames are those of every API in every version, those with a hostile value in each field, and those of a real
conversation with names that the broker knows.
"""

from __future__ import annotations

import os
import random
import resource
import struct
from functools import cache
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api.registry import client_versions
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.generated.index import APIS
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness, HarnessClient
from tests.sandbox.hostile_fields import hostile_frames
from tests.sandbox.test_exactly_once_machine import FEW_PARTITIONS
from tests.sandbox.test_group_machine import Groups, GroupsOn39
from tests.wire.vectors import load_vectors

FRAMES = int(os.environ.get("EOSCTL_FUZZ_FRAMES", "10000"))
ROUNDS = 10
FRAMES_PER_CLUSTER = 500
CONNECTIONS = 6
MEMORY_GROWTH_BYTES = 300 << 20
MAX_OUTPUT_BYTES = 64 << 20
ORDERS = TopicPartition("orders", 0)
LENGTHS = (0, 1, -1, -2, 0x7F, 0x7FFF, 0x7FFFFFFF, 1 << 20)


@cache
def frames_of_every_api() -> list[bytes]:
    """Frame every request that the vectors have: each API in each version, full and sparse."""
    frames = []
    for key, api in APIS.items():
        flexible_from = api.request.flexible_from
        for vector in load_vectors().get(api.request.name, ()):
            tags = b"\0" if flexible_from is not None and vector.version >= flexible_from else b""
            frames.append(struct.pack(">hhih", key, vector.version, 1, 1) + b"f" + tags + vector.wire)
    return frames


@cache
def frames_with_hostile_fields(release: str) -> list[bytes]:
    """Frame each API of a release in its newest version, with a hostile value in each field."""
    newest = {key: max(client_versions(key, Emulation(release)), default=None) for key in APIS}
    return [frame for key, version in newest.items() if version is not None for frame in hostile_frames(key, version)]


@pytest.fixture(scope="module")
def conversation() -> dict[str, list[bytes]]:
    """Record the requests of the state machines' clients to a broker of each release."""
    recorded: dict[str, list[bytes]] = {}
    with pytest.MonkeyPatch.context() as patch:
        feed = HarnessClient.feed
        for release, machine in (("4.3", Groups), ("3.9", GroupsOn39)):
            frames: list[bytes] = []
            patch.setattr(
                HarnessClient,
                "feed",
                lambda self, data, frames=frames: (frames.append(data[4:]), feed(self, data))[1],
            )
            talk = machine()
            talk.create()
            talk.join(slot=0)
            talk.commit(slot=0, partition=0)
            for name in ("a", "b"):
                talk.init(name=name)
                talk.commit_in_transaction(name=name, partition=1)
                assert talk.client.produce(talk.producers[name].handle, ORDERS, ["v"]) is ErrorCode.NONE
            talk.end(name="a", commit=True)
            talk.client.read(ORDERS)
            talk.offsets_are_what_was_committed()
            talk.leave(slot=0)
            talk.delete_offset(partition=0)
            talk.teardown()
            recorded[release] = frames
    return recorded


def mutate(frame: bytes, chance: random.Random) -> bytes:
    """Change some bytes, most often behind the header: bits, lengths, cuts, repetitions, noise."""
    content = bytearray(frame)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 4))):
        at = chance.randrange(8 if len(content) > 8 and chance.random() < 0.9 else 0, len(content) + 1)
        match chance.randrange(6):
            case 0 if at < len(content):
                content[at] ^= 1 << chance.randrange(8)
            case 1:
                content[at : at + 4] = chance.choice(LENGTHS).to_bytes(4, "big", signed=True)
            case 2:
                content[at : at + 2] = (chance.choice(LENGTHS) & 0xFFFF).to_bytes(2, "big")
            case 3:
                del content[at : at + chance.randrange(1, 12)]
            case 4:
                start = chance.randrange(len(content) + 1)
                content[at:at] = content[start : start + chance.randrange(40)]
            case _:
                content[at : at + 1] = chance.randbytes(1)
    return bytes(content)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_mutated_frames_cost_at_most_their_connection(
    number: int, conversation: dict[str, list[bytes]], tmp_path: Path
) -> None:
    chance = random.Random(f"frames {number}")
    release = "3.9" if number % 3 == 2 else "4.3"
    seeds = frames_of_every_api(), frames_with_hostile_fields(release), conversation[release]
    assert min(map(len, seeds[:2])) > 300
    grown_from = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    left, answered = FRAMES // ROUNDS, 0
    cluster = 0
    while left > 0:
        count = min(left, FRAMES_PER_CLUSTER)
        left -= count
        cluster += 1
        shape = ClusterShape(1, Emulation(release), None, {**FEW_PARTITIONS, "auto.create.topics.enable": "true"})
        harness = Harness(tmp_path / str(cluster), shape)
        EosClient(harness).create_topic("orders", 2)
        frames = [mutate(chance.choice(chance.choice(seeds)), chance) for _ in range(count)]
        answered += bombard(harness, frames, chance)
        harness.close()
    assert answered > FRAMES // ROUNDS // 20  # many a frame gets through to its handler
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - grown_from) * 1024
    assert grown < MEMORY_GROWTH_BYTES


def bombard(harness: Harness, frames: list[bytes], chance: random.Random) -> int:
    """Send frames on several connections; return the number of responses. Errors of the core are raised."""
    witness = harness.client(client_id="witness")
    talkers = [Talker(harness) for _ in range(CONNECTIONS)]
    answered = 0
    for position, frame in enumerate(frames):
        talker = chance.choice(talkers)
        talker.say(frame)
        if position % 20 == 19:
            harness.advance(20)
            alive = witness.request(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("fuzz", "1"))
            assert alive is not None
            assert alive.error_code == ErrorCode.NONE
            for one in talkers:
                answered += one.listen(harness)
    harness.advance(120_000)  # all waits end: timeouts, sessions, rebalances
    assert witness.request(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("fuzz", "1")) is not None
    return answered + sum(one.listen(harness) for one in talkers)


class Talker:
    """A client that sends anything; a closed or blocked connection is replaced."""

    def __init__(self, harness: Harness) -> None:
        self._client = harness.client(client_id="fuzz")
        self._said = 0

    def say(self, frame: bytes) -> None:
        self._said += 1
        self._client.feed(struct.pack(">i", len(frame)) + frame)

    def listen(self, harness: Harness) -> int:
        answered = self._client.answer_count
        if self._client.closed or self._said > 3:
            if not self._client.closed:
                self._client.disconnect()
            self._client = harness.client(client_id="fuzz")
            self._said = 0
        return answered


def test_every_api_of_both_releases_is_among_the_frames() -> None:
    for release in ("3.9", "4.3"):
        sent = {struct.unpack(">h", frame[:2])[0] for frame in frames_of_every_api()}
        served = {key for key in APIS if client_versions(key, Emulation(release))}
        assert served <= sent
