"""What a run of a runbook needs of the world around it: a cluster, a person, and places to write to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from eosctl.actions.protocol import Cluster
from eosctl.model.runbook import Value
from eosctl.model.runbook_run import StepReport
from eosctl.model.snapshot import ClusterSnapshot


class Scene(Cluster, Protocol):
    """What a run needs of the world around it."""

    async def sleep(self, ms: int) -> None:
        """Wait."""

    async def confirm(self, question: str, expected: str) -> bool:
        """Ask a person to type what is expected."""

    def show(self, report: StepReport) -> None:
        """Show what happens."""

    def keep(self, snapshot: ClusterSnapshot, step: str) -> dict[str, str]:
        """Keep evidence and return where, with its hash."""

    def audit(self, action: str, cluster_id: str, details: Mapping[str, Value]) -> None:
        """Write a line of the audit file."""
