"""Scenarios on a running sandbox, with faults through its control socket."""

from __future__ import annotations

import asyncio

from eosctl.client.ports import Connector, WallClock
from eosctl.errors import UsageError
from eosctl.lab.scenarios.releases import newest_covered, parse_range
from eosctl.lab.scenarios.script import ClusterWords, Script
from eosctl.model.client_config import ClientConfig
from eosctl.model.emulation import FULL_RELEASE
from eosctl.sandbox.faults.bugs import parse_switch
from eosctl.sandbox.faults.order import FaultOrder
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec

LONGEST_CALL_S = 120.0


class SandboxEngine:
    """A running sandbox of this user."""

    connector: Connector | None = None

    def __init__(self, sandbox: RunningSandbox, config: ClientConfig, now_ms: WallClock) -> None:
        self._sandbox = sandbox
        self.config = config
        self._machine_ms = now_ms
        self._ahead_ms = self._read_ahead()

    @property
    def name(self) -> str:
        """Return the display name."""
        return f"sandbox {self._sandbox.name}"

    def now_ms(self) -> int:
        """Return the cluster's wall clock, which is ahead of the machine's once time was advanced."""
        return self._machine_ms() + self._ahead_ms

    def _read_ahead(self) -> int:
        if self._sandbox.spec.kafka:
            return 0
        now_ms: int = manage.send_command(self._sandbox, "now")
        return now_ms - self._machine_ms()

    async def inject(self, order: FaultOrder) -> None:
        """Inject a fault."""
        await asyncio.to_thread(manage.send_command, self._sandbox, "inject", LONGEST_CALL_S, words=str(order).split())

    async def heal(self) -> None:
        """End every fault."""
        await asyncio.to_thread(manage.send_command, self._sandbox, "end-faults", LONGEST_CALL_S)

    async def advance(self, duration_ms: float) -> None:
        """Advance the cluster's time."""
        await asyncio.to_thread(manage.advance_clock, self._sandbox, duration_ms)
        self._ahead_ms = await asyncio.to_thread(self._read_ahead)


def require_fit(script: Script, spec: SandboxSpec) -> None:
    """Check that a scenario can run on a sandbox.

    Raises:
        UsageError: Its release, number of brokers, or settings do not match; the message contains the command that
            starts a matching one.
    """
    wanted = script.cluster
    settings = dict(spec.settings)
    release = release_of(spec)
    reasons = [
        "" if parse_range(wanted.release).covers(release) else f"It is {release}, not {wanted.release}.",
        f"It has {spec.brokers} of {wanted.brokers} brokers." if spec.brokers < wanted.brokers else "",
        *(f"It lacks {name}={value}." for name, value in wanted.settings.items() if settings.get(name) != value),
        *(f"It lacks the bug {text}." for text in wanted.bugs if parse_switch(text) not in spec.bugs),
    ]
    if any(reasons):
        raise UsageError(
            f"The sandbox {spec.name} is not one for the scenario {script.name}.",
            " ".join(reason for reason in reasons if reason),
            f"Play it on a cluster of its own (without --name), or start one: {command_for(wanted)}",
        )


def release_of(spec: SandboxSpec) -> str:
    """Return the full release that a sandbox is, or behaves as."""
    return spec.kafka or FULL_RELEASE[spec.emulate]


def command_for(wanted: ClusterWords) -> str:
    """Return the command that starts a sandbox for a scenario."""
    version = wanted.transaction_version
    words = [
        "eosctl sandbox up --fast --ephemeral",
        f"--brokers {wanted.brokers}",
        f"--emulate {newest_covered(wanted.release, FULL_RELEASE)}",
        *([] if version is None else [f"--transaction-version {version}"]),
        *(f"--config {name}={value}" for name, value in wanted.settings.items()),
        *(f"--bug {text}" for text in wanted.bugs),
    ]
    return " ".join(words)
