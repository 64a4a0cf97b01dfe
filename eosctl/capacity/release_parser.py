"""Parse the releases that a workload file names: known ones alone, as a plan follows what a release does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from eosctl.capacity.quantities import QuantityError
from eosctl.knowledge.releases import flink_connector_releases, kafka_releases
from eosctl.model.known_bug import Version, version_text

#: The first release of Kafka with transactions (KIP-98).
FIRST_WITH_TRANSACTIONS: Final = (0, 11)


@dataclass(frozen=True)
class Release:
    """Parse a known release, or its branch: ``4.3.1`` or ``4.3``.

    Attributes:
        product: The name of the product, for messages.
        known: The releases that a workload can have, the oldest first.
        why_first: Why older releases are refused.
    """

    product: str
    known: tuple[Version, ...]
    why_first: str

    @property
    def names(self) -> tuple[str, ...]:
        """Return each known branch and release, as a workload file writes them."""
        branches = dict.fromkeys(version_text(version[:2]) for version in self.known)
        return (*branches, *map(version_text, self.known))

    def __call__(self, text: str) -> str:
        """Return the release as it is written.

        Raises:
            QuantityError: It is not a known release.
        """
        if text in self.names:
            return text
        first, last = (version_text(version[:2]) for version in (self.known[0], self.known[-1]))
        if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){1,3}", text, re.ASCII):
            raise QuantityError(f"{text!r} is not a release; write it like {last} (in quotes)")
        version = tuple(map(int, text.split(".")))
        branch = ", ".join(version_text(one) for one in self.known if one[:2] == version[:2])
        known = f"releases of {version_text(version[:2])} are {branch}" if branch else f"{first} to {last} are known"
        reason = f": {self.why_first}" if version < self.known[0] else ""
        raise QuantityError(f"{text} is not a release of {self.product} that can be planned with; {known}{reason}")


parse_version = Release(
    "Apache Kafka",
    tuple(version for version in kafka_releases() if version >= FIRST_WITH_TRANSACTIONS),
    "brokers have transactions from 0.11 on",
)
parse_connector = Release(
    "Flink's Kafka connector", flink_connector_releases(), "KafkaSink is planned as these releases have it"
)
