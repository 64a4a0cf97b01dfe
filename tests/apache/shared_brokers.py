"""Brokers that the tests of several files share; they run only while a file needs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Set

from eosctl.lab.apache.nodes import ApacheNodes


class SharedBrokers:
    """Clusters by name. The first use of one runs it; a later one starts it again on its files, if it was stopped."""

    def __init__(self, run: Callable[[str], ApacheNodes]) -> None:
        """Prepare the clusters.

        Args:
            run: Runs the cluster of a name, and ends it with the tests.
        """
        self._run = run
        self._clusters: dict[str, ApacheNodes] = {}
        self._stopped: set[str] = set()

    def use(self, name: str) -> ApacheNodes:
        """Return a running cluster."""
        if name not in self._clusters:
            self._clusters[name] = self._run(name)
        elif name in self._stopped:
            asyncio.run(self._clusters[name].up())
            self._stopped.discard(name)
        return self._clusters[name]

    def keep(self, names: Set[str]) -> None:
        """Stop the running clusters that have none of these names."""
        for name in self._clusters.keys() - names - self._stopped:
            asyncio.run(self._clusters[name].down())
            self._stopped.add(name)
