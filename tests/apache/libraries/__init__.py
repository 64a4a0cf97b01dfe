"""Jars for tests and benchmarks that brokers do not need, verified by the checksums in this folder."""

from __future__ import annotations

from pathlib import Path

from eosctl.lab.apache.releases import KafkaRelease


class Library(KafkaRelease):
    """The artifacts that it names and what they need, under a name of its own."""

    @property
    def artifacts(self) -> tuple[str, ...]:
        return self.extra_artifacts

    @property
    def lock(self) -> Path:
        return Path(__file__).with_name(f"{self.version}.lock")


def library(name: str, *artifacts: str) -> Library:
    """Return the library with the checksums in `NAME.lock`; `group:artifact:version` each."""
    return Library(name, "", "", artifacts, 17)


def streams(version: str) -> Library:
    """Return Kafka Streams of a release."""
    return library(f"streams-{version}", f"org.apache.kafka:kafka-streams:{version}")
