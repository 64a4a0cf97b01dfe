"""The parts of every verdict: its subject, its confidence, and its evidence."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Confidence(StrEnum):
    """The confidence of a verdict."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Evidence(msgspec.Struct, frozen=True):
    """An observed fact. `source` is its provenance: `DescribeProducers broker 2`, `server.properties:14`."""

    name: str
    value: str
    source: str


class Resource(msgspec.Struct, frozen=True):
    """The subject of a finding; `kind` is cluster, broker, topic, partition, transaction, group, or file."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
