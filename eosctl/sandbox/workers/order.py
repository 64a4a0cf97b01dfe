"""The order of a worker: what the supervisor gives to a new process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eosctl.sandbox.process.shape import Share
from eosctl.sandbox.process.spec import SandboxSpec


@dataclass(frozen=True, slots=True)
class WorkerOrder:
    """A worker to start.

    Attributes:
        spec: The sandbox's specification, with its cluster id.
        worker: The worker's number, from 1.
        start_number: How many processes the supervisor has started before.
        hosted: The nodes of the worker.
        started: Those that it starts first.
        ports: The ports that brokers bound in an earlier process, in the order of their listeners.
    """

    spec: SandboxSpec
    worker: int
    start_number: int
    hosted: Sequence[int]
    started: Sequence[int]
    ports: Mapping[int, Sequence[int]] = field(default_factory=dict)

    @property
    def share(self) -> Share:
        """Return the nodes that the worker hosts."""
        return Share(frozenset(self.hosted), frozenset(self.started), self.ports)

    def to_json(self) -> str:
        """Return the order as one line of JSON."""
        return json.dumps(
            {
                "spec": json.loads(self.spec.to_json()),
                "worker": self.worker,
                "start_number": self.start_number,
                "hosted": list(self.hosted),
                "started": list(self.started),
                "ports": {str(broker_id): list(ports) for broker_id, ports in self.ports.items()},
            }
        )

    @classmethod
    def from_json(cls, text: str) -> WorkerOrder:
        """Read what `to_json` wrote."""
        fields = json.loads(text)
        fields["spec"] = SandboxSpec.from_json(json.dumps(fields["spec"]))
        fields["ports"] = {int(broker_id): ports for broker_id, ports in fields["ports"].items()}
        return cls(**fields)
