"""The Kafka releases that the lab runs, and their additional dependencies."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

from eosctl.errors import UsageError


class KafkaRelease(NamedTuple):
    """A release of Apache Kafka.

    Attributes:
        version: Kafka's own version.
        logging: Base name of the logging configuration of this release (`log4j` or `log4j2`).
        logging_property: System property with the path of that configuration.
        extra_artifacts: Coordinates `group:artifact:version` of the logging backend.
        java_major: The oldest supported Java (KIP-1013 for 4.x brokers).
    """

    version: str
    logging: str
    logging_property: str
    extra_artifacts: tuple[str, ...]
    java_major: int

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Return the coordinates to resolve; all others are transitive."""
        own = (f"org.apache.kafka:kafka_2.13:{self.version}", f"org.apache.kafka:kafka-tools:{self.version}")
        return own + self.extra_artifacts

    @property
    def lock(self) -> Traversable:
        """Return the lock file with the SHA-256 (hex) of the jars that the lab was tested with."""
        return resources.files(__package__) / "jars" / f"{self.version}.lock"


def _kafka_3(version: str) -> KafkaRelease:
    """Describe a 3.x release, whose kafka-tools brings slf4j-reload4j along."""
    return KafkaRelease(version, "log4j", "log4j.configuration", (), 11)


def _kafka_4(version: str, log4j: str) -> KafkaRelease:
    """Describe a 4.x release, whose users choose the logging backend; ``log4j`` is the version of Log4j."""
    group = "org.apache.logging.log4j"
    extra = (f"{group}:log4j-slf4j-impl:{log4j}", f"{group}:log4j-1.2-api:{log4j}")
    return KafkaRelease(version, "log4j2", "log4j2.configurationFile", extra, 17)


RELEASES: Final = {
    release.version: release
    for release in (
        *map(_kafka_3, ("3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1", "3.9.2")),
        _kafka_4("4.0.2", "2.24.3"),
        _kafka_4("4.1.2", "2.25.3"),
        _kafka_4("4.2.2", "2.25.3"),
        _kafka_4("4.3.1", "2.25.4"),
        _kafka_4("4.4.0", "2.25.5"),
    )
}
"""By version, the oldest first: the last patch of each branch with KRaft for production (3.3) and later."""


def branches() -> dict[str, str]:
    """Return the supported versions by branch, e.g. `4.4.0` by `4.4`, the oldest first."""
    return {release.rpartition(".")[0]: release for release in RELEASES}


def resolve_release(version: str) -> KafkaRelease:
    """Return the release of this version; ``4.4`` is the last patch of that branch.

    Raises:
        UsageError: The lab does not support this version.
    """
    try:
        return RELEASES[branches().get(version, version)]
    except KeyError:
        raise UsageError(
            f"Apache Kafka {version} is not a release that the lab can run.",
            "Each release needs its own jars and its own way of logging, which the lab knows for some only.",
            f"Choose one of {', '.join(RELEASES)}.",
        ) from None
