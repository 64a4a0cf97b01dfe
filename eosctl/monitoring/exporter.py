"""The last reading of a cluster as gauges, which is repeated periodically."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from eosctl.errors import EosctlError
from eosctl.model.metric_reading import Gauge
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.monitoring.cluster_gauges import measure_cluster, unreachable


class Exporter:
    """The last result of a cluster.

    Args:
        look: Takes a snapshot; an `EosctlError` means that the cluster is unreachable.
        report: Called when the cluster becomes unreachable or reachable again.
        measure: Returns the gauges of a snapshot.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[ClusterSnapshot]],
        report: Callable[[str], None],
        measure: Callable[[ClusterSnapshot], tuple[Gauge, ...]] = measure_cluster,
    ) -> None:
        self._look = look
        self._report = report
        self._measure = measure
        self._failure: str | None = None
        self.gauges = unreachable()

    async def refresh(self) -> None:
        """Collect once. A failure is exported as `eosctl_up 0` and reported when it is new."""
        try:
            gauges, failure = self._measure(await self._look()), None
        except EosctlError as error:
            gauges, failure = unreachable(), str(error)
        if failure != self._failure:
            self._report(failure or "the cluster can be asked again")
        self._failure = failure
        self.gauges = gauges

    async def keep_fresh(self, interval_ms: int) -> None:
        """Collect repeatedly, with a pause after each time."""
        while True:
            await asyncio.sleep(interval_ms / 1000)
            await self.refresh()
