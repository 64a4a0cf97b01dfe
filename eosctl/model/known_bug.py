"""Known bugs of Kafka and its clients, and their affected releases."""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from eosctl.model.severity import Severity

Version = tuple[int, ...]


class Product(StrEnum):
    """The product with the bug. Apache Kafka's clients, Streams, and Connect have Kafka's release numbers."""

    BROKER = "broker"
    CLIENT = "client"
    STREAMS = "streams"
    CONNECT = "connect"
    LIBRDKAFKA = "librdkafka"
    FLINK = "flink"


class KnownBug(msgspec.Struct, frozen=True):
    """A bug; `fixed` has the first fixed release of each branch, and is empty while the bug is open."""

    id: str
    product: Product
    severity: Severity
    since: Version
    fixed: tuple[Version, ...]
    symptom: str
    workaround: str

    def affects(self, version: Version) -> bool:
        """Return whether a release has the bug.

        A branch (major and minor number) with a fixed release is affected before that release; any other branch is
        affected up to the newest fixed release.
        """
        if version < self.since:
            return False
        if not self.fixed:
            return True
        on_branch = [fix for fix in self.fixed if fix[:2] == version[:2]]
        return version < (on_branch[0] if on_branch else max(self.fixed))

    @property
    def reference(self) -> str:
        """Return the issue's URL; empty with only a release note."""
        if self.id.startswith(("KAFKA-", "FLINK-")):
            return f"https://issues.apache.org/jira/browse/{self.id}"
        number = re.fullmatch(r"librdkafka-(\d{3,})", self.id)
        return f"https://github.com/confluentinc/librdkafka/issues/{number[1]}" if number else ""


def parse_version(text: str) -> Version:
    """Parse `3.9.1`, `v2.5`, `3.7.1-IV0` or `4.0.0-rc1`; missing parts count as 0.

    Raises:
        ValueError: The text does not begin with major and minor number.
    """
    match = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?(?![\d.])", text.strip())
    if match is None:
        raise ValueError(text)
    parts = tuple(int(part) for part in match.groups() if part is not None)
    return (*parts, 0) if len(parts) < 3 else parts


def version_text(version: Version) -> str:
    """Write a version: `3.9.1`."""
    return ".".join(map(str, version))
