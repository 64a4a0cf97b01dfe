"""Bytes that are not a message: an error that names field and offset, quickly and without much memory."""

import random
import tracemalloc
from collections.abc import Iterator

import pytest

from eosctl.wire.codec import codec, load_message
from eosctl.wire.errors import WireError
from eosctl.wire.messages.end_txn import EndTxnRequest
from eosctl.wire.messages.fetch import FetchRequest, FetchTopic
from tests.wire.vectors import MESSAGES, Vector, load_vectors

MUTATIONS = 10_000
HUGE = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\x0f", b"\xff" * 6, b"\x7f\xff")
LARGE = ("ProduceRequest", "FetchResponse", "MetadataResponse", "JoinGroupResponse", "PartitionRecord")


def one_for_each_layout(name: str) -> Iterator[Vector]:
    """Choose the fullest message of each layout."""
    for version in MESSAGES[name].layouts:
        found = [vector for vector in load_vectors().get(name, ()) if vector.version == version]
        assert found, f"no vectors for {name} v{version}: CONTRIBUTING.md, 'Add an API', tells how Kafka writes them"
        yield max(found, key=lambda vector: len(vector.wire))


def refusal(vector: Vector, wire: bytes) -> WireError | None:
    """Decode; any error other than the package's own fails the test."""
    decode, _ = load_message(MESSAGES[vector.name], vector.version)
    try:
        _, end = decode(wire, 0)
    except WireError as error:
        assert error.field != "?", vector
        assert 0 <= error.offset <= len(wire), vector
        assert error.field in str(error)
        assert str(error.offset) in str(error)
        return error
    assert end <= len(wire)
    return None


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_every_prefix_is_refused(name: str) -> None:
    chance = random.Random(name)
    for vector in one_for_each_layout(name):
        lengths: list[int] = list(range(len(vector.wire)))
        for length in chance.sample(lengths, min(len(lengths), 64)):
            assert refusal(vector, vector.wire[:length]) is not None, (vector, length)


def test_mutations_decode_or_are_refused() -> None:
    chance = random.Random(2026)
    vectors = [vector for name in sorted(MESSAGES) for vector in one_for_each_layout(name) if vector.wire]
    refused = 0
    for _ in range(MUTATIONS):
        vector = chance.choice(vectors)
        wire = bytearray(vector.wire)
        for _ in range(chance.randint(1, 3)):
            wire[chance.randrange(len(wire))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        refused += refusal(vector, bytes(wire)) is not None
    assert MUTATIONS // 10 < refused < MUTATIONS  # neither all fine nor all broken: the mutations bite


@pytest.mark.parametrize("name", LARGE)
def test_huge_lengths_allocate_nothing(name: str) -> None:
    for vector in one_for_each_layout(name):
        refusal(vector, b"")  # loads the table of the explanation
        tracemalloc.start()
        for position in range(0, len(vector.wire), 1 + len(vector.wire) // 40):
            for length in HUGE:
                refusal(vector, vector.wire[:position] + length + vector.wire[position:])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1_000_000, (vector.version, peak)


def test_the_error_names_field_offset_and_problem() -> None:
    request = FetchRequest(topics=[FetchTopic("a"), FetchTopic("bcd")], rack_id="r")
    form = codec(1, 12)
    wire = form.encode_request(request)
    cut = wire.index(b"bcd") + 1
    with pytest.raises(WireError) as caught:
        form.decode_request(wire[:cut], 0)
    assert caught.value.field == "topics[1].topic"
    assert caught.value.offset == cut - 1
    assert str(caught.value) == "Fetch request: needs 3 bytes, 1 left (field topics[1].topic at byte 31)"


def test_offsets_count_from_the_start_of_the_buffer() -> None:
    with pytest.raises(WireError) as caught:
        codec(26, 0).decode_request(bytes(100) + b"\x00\x09abc", 100)
    assert (caught.value.field, caught.value.offset) == ("transactional_id", 102)


def test_null_is_one_byte() -> None:
    with pytest.raises(WireError, match="null in more than one byte"):
        codec(3, 9).decode_request(b"\x80\x00" + bytes(4), 0)


@pytest.mark.parametrize(
    ("version", "wire", "what"),
    [
        (0, b"\xff\xff" + bytes(11), "null is not allowed"),
        (3, b"\x00" + bytes(12), "null is not allowed"),
        (3, b"\x80\x80\x80\x80\x80\x01", "more than five bytes"),
        (3, b"\x82\x80\x02" + b"a" * 32769 + bytes(12), "longer than Kafka allows"),
        (3, b"\x02a" + bytes(11) + b"\x01\x07\x09abc", "tag 7 of 9 bytes with 3 left"),
    ],
)
def test_kinds_of_damage(version: int, wire: bytes, what: str) -> None:
    with pytest.raises(WireError, match=what):
        codec(26, version).decode_request(wire, 0)


def test_unknown_tags_of_a_request_are_skipped() -> None:
    plain = codec(26, 3).encode_request(EndTxnRequest("a", 1, 2, True))
    tagged = plain[:-1] + b"\x02\x07\x03abc\x7f\x00"
    assert codec(26, 3).decode_request(tagged, 0) == (EndTxnRequest("a", 1, 2, True), len(tagged))


def test_broken_utf8_is_replaced_as_kafka_does() -> None:
    message, _ = codec(26, 3).decode_request(b"\x03\xff!" + bytes(12), 0)
    assert message.transactional_id == "\ufffd!"
