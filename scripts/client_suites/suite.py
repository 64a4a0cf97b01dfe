"""A suite of tests of a client: how it is built, and how it runs against a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from scripts.client_suites.clusters import ClusterPlan
from scripts.client_suites.outcomes import Outcomes


class Place(NamedTuple):
    """The directories of a run.

    Attributes:
        source: A copy of the client's fetched source.
        work: Where programs are built, and outputs are kept.
        engine: The engine of the current cluster, for suites that start it on their own.
    """

    source: Path
    work: Path
    engine: str = ""

    def log(self, name: str) -> Path:
        """Return the file for the output of a program; a number keeps those of earlier runs."""
        number = sum(1 for _ in self.work.glob(f"{name}-*.log"))
        return self.work / f"{name}-{number}.log"


class Suite(Protocol):
    """A suite. Its tests have names that `run` accepts."""

    @property
    def name(self) -> str:
        """The name of the client, in records."""

    @property
    def repository(self) -> str:
        """`owner/name` of the source."""

    @property
    def cluster(self) -> ClusterPlan | None:
        """The cluster; None if the suite starts it on its own."""

    def build(self, place: Place) -> None:
        """Build the tests in `place.work`.

        Raises:
            subprocess.CalledProcessError: A compiler or a package is missing.
        """

    def run(self, place: Place, tests: Sequence[str] | None) -> Outcomes:
        """Run the named tests, or all of them for None; return a result for each of them."""
