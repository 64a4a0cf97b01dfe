"""Every message in every version against bytes that Kafka's own classes wrote.

`kafka-vectors.jsonl.gz` holds, for each version, one message with all fields set and one sparse message, as
serialised by the generated classes of Kafka 4.3.1 (3.9.2 for the versions that 4.3 no longer has), together with
their JSON form.
"""

import base64
import gzip
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from eosctl.wire.codec import load_message
from eosctl.wire.messages.index import APIS, RECORDS, Message
from eosctl.wire.uuid import render_uuid

VECTORS = Path(__file__).parents[1] / "fixtures" / "protocol" / "kafka-vectors.jsonl.gz"


def load_vectors() -> dict[str, list[dict[str, Any]]]:
    vectors = defaultdict(list)
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        for line in lines:
            vector = json.loads(line)
            vectors[vector["class"].removesuffix("Data")].append(vector)
    return vectors


MESSAGES: dict[str, Message] = {message.name: message for _, message in RECORDS.values()} | {
    message.name: message for api in APIS.values() for message in (api.request, api.response)
}
BY_NAME = load_vectors()


def to_snake(name: str) -> str:
    """Follow Kafka: an underscore before a capital that a small letter precedes."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name.replace("kRaft", "kraft")).lower()


def differences(value: Any, expected: Any, path: str) -> list[str]:
    """Compare a decoded value with Kafka's JSON form of it."""
    if isinstance(expected, dict):
        fields = value._asdict()
        found = []
        for name, inner in expected.items():
            if name in ("records", "recordsSizeInBytes"):  # not spelled out in the JSON form
                continue
            found += differences(fields[to_snake(name)], inner, f"{path}.{name}")
        return found
    if isinstance(expected, list):
        if len(value) != len(expected):
            return [f"{path}: {len(value)} elements"]
        return [text for one, other in zip(value, expected, strict=True) for text in differences(one, other, path)]
    if isinstance(value, bytes):
        same = expected in (render_uuid(value), base64.b64encode(value).decode())
        return [] if same else [f"{path}: {value!r} is not {expected!r}"]
    return [] if value == expected else [f"{path}: {value!r} is not {expected!r}"]


def test_every_message_and_version_has_vectors() -> None:
    covered = {(name, vector["version"]) for name, vectors in BY_NAME.items() for vector in vectors}
    wanted = {
        (message.name, version) for message in MESSAGES.values() for version in range(message.first, message.last + 1)
    }
    assert wanted == covered


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_bytes_of_kafka_decode_to_its_values_and_encode_to_the_same_bytes(name: str) -> None:
    message = MESSAGES[name]
    for vector in BY_NAME[name]:
        decode, encode = load_message(message, vector["version"])
        wire = bytes.fromhex(vector["hex"])
        value, end = decode(wire, 0)
        assert end == len(wire), vector
        assert differences(value, vector["json"], name) == [], vector
        assert encode(value) == wire, vector
