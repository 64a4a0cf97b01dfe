"""What every verdict carries: what it is about, how sure it is, and the facts it rests on."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Confidence(StrEnum):
    """How sure a verdict is."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Evidence(msgspec.Struct, frozen=True):
    """One observed fact. `source` is its provenance: `DescribeProducers broker 2`, `server.properties:14`."""

    name: str
    value: str
    source: str


class Resource(msgspec.Struct, frozen=True):
    """What a finding is about: `kind` is cluster, broker, topic, partition, transaction, group or file."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
