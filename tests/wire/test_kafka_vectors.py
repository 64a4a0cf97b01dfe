"""Every message in every version against bytes that Kafka's own classes wrote."""

import pytest

from eosctl.wire.codec import load_message
from tests.wire.vectors import MESSAGES, differences, load_vectors


def test_every_message_and_version_has_vectors() -> None:
    covered = {(vector.name, vector.version) for vectors in load_vectors().values() for vector in vectors}
    wanted = {
        (message.name, version) for message in MESSAGES.values() for version in range(message.first, message.last + 1)
    }
    assert wanted == covered


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_kafka_bytes_decode_and_encode_identically(name: str) -> None:
    for vector in load_vectors()[name]:
        decode, encode = load_message(MESSAGES[name], vector.version)
        value, end = decode(vector.wire, 0)
        assert end == len(vector.wire), vector
        assert differences(value, vector.json, name) == [], vector
        assert encode(value) == vector.wire, vector
