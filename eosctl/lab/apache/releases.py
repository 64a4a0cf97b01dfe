"""The Kafka releases that the lab runs, and their additional dependencies."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

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


# kafka-tools 3.9 includes slf4j-reload4j; 4.x leaves the choice of a logging backend to its user.
RELEASES = {
    release.version: release
    for release in (
        KafkaRelease("3.9.2", "log4j", "log4j.configuration", (), 11),
        KafkaRelease(
            "4.3.1",
            "log4j2",
            "log4j2.configurationFile",
            (
                "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4",
                "org.apache.logging.log4j:log4j-1.2-api:2.25.4",
            ),
            17,
        ),
    )
}


def resolve_release(version: str) -> KafkaRelease:
    """Return the release of this version.

    Raises:
        UsageError: The lab does not support this version.
    """
    try:
        return RELEASES[version]
    except KeyError:
        raise UsageError(
            f"Apache Kafka {version} is not a release that the lab can run.",
            "Each release needs its own jars and its own way of logging, which the lab knows for some only.",
            f"Choose one of {', '.join(RELEASES)}.",
        ) from None
