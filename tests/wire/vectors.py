"""Messages that Kafka's own classes serialized, for the tests of this folder.

`kafka-vectors*.jsonl.gz` hold, for each version of each message, one with all fields set and a sparse one, as written
by the generated classes of Kafka 4.3.1 (3.9.2 for the versions that 4.3 no longer has, 4.4.0 for those that it does not
have yet), with their JSON form.
"""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import asdict

from eosctl.wire.codec import load_message
from eosctl.wire.generated.index import APIS, RECORDS
from eosctl.wire.message import Message
from eosctl.wire.uuid import render_uuid

FIXTURES = Path(__file__).parents[1] / "fixtures" / "protocol"
MESSAGES: dict[str, Message] = {message.name: message for _, message in RECORDS.values()} | {
    message.name: message for api in APIS.values() for message in (api.request, api.response)
}


#: Fields that the tables call as 4.3 does, and one that shares its name with that of an older version: class and name.
RENAMED = {
    ("TxnOffsetCommitRequestData", "generationIdOrMemberEpoch"): "generationId",
    ("StreamsGroupHeartbeatResponseData", "acceptableRecoveryLag"): "acceptableRecoveryLagLong",
}


class Vector(NamedTuple):
    """One message: its name, version, bytes, and Kafka's JSON form of it."""

    name: str
    version: int
    wire: bytes
    json: dict[str, Any]

    def decode(self) -> Any:
        return load_message(MESSAGES[self.name], self.version)[0](self.wire, 0)[0]


@cache
def load_vectors() -> dict[str, list[Vector]]:
    found: dict[str, list[Vector]] = {}
    for path in sorted(FIXTURES.glob("kafka-vectors*.jsonl.gz")):
        for vector in _read(path):
            found.setdefault(vector.name, []).append(vector)
    return found


def _read(path: Path) -> Iterator[Vector]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            wire = bytes.fromhex(row["hex"])
            fields = row["json"]
            if row["kafka"] == "4.4.0":
                fields = {RENAMED.get((row["class"], name), name): value for name, value in fields.items()}
            yield Vector(row["class"].removesuffix("Data"), row["version"], wire, fields)


def to_snake(name: str) -> str:
    """Follow Kafka: an underscore before a capital that a small letter or a digit precedes."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name.replace("kRaft", "kraft")).lower()


def differences(value: Any, expected: Any, path: str) -> list[str]:
    """Return the differences of a decoded value from its JSON form; fields that the form lacks are ignored."""
    if isinstance(expected, dict):
        fields = asdict(value)
        found: list[str] = []
        for name, inner in expected.items():
            if not name.startswith("records"):  # batches are not spelled out in Kafka's JSON form
                found += differences(fields[to_snake(name)], inner, f"{path}.{name}")
        return found
    if isinstance(expected, list):
        if len(value) != len(expected):
            return [f"{path}: {len(value)} elements, not {len(expected)}"]
        return [text for one, other in zip(value, expected, strict=True) for text in differences(one, other, path)]
    if isinstance(value, bytes):
        same = expected in (render_uuid(value), base64.b64encode(value).decode(), value.hex(), _dashed(value))
        return [] if same else [f"{path}: {value!r} is not {expected!r}"]
    return [] if value == expected else [f"{path}: {value!r} is not {expected!r}"]


def _dashed(value: bytes) -> str:
    text = value.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
