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


def flink(version: str, connector: str) -> Library:
    """Return a release of Flink that runs jobs in one JVM, with a release of its Kafka connector."""
    parts = ("clients", "streaming-java", "connector-base")
    return library(
        f"flink-{version}",
        *(f"org.apache.flink:flink-{part}:{version}" for part in parts),
        f"org.apache.flink:flink-connector-kafka:{connector}",
    )


class EarlyKafka(KafkaRelease):
    """A release whose KRaft was a preview: users cannot run it in the lab, and clusters of it are still read."""

    @property
    def lock(self) -> Path:
        return Path(__file__).with_name(f"kafka-{self.version}.lock")


def early_kafka(version: str) -> EarlyKafka:
    """Return a release of 3.1 or 3.2."""
    return EarlyKafka(version, "log4j", "log4j.configuration", (), 11)
