"""The specification of a sandbox, and its state while it runs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from eosctl.model.emulation import NEWEST
from eosctl.sandbox.process.listeners import PlannedListener, plan_listeners
from eosctl.sandbox.security.protocol import ADMIN_USER, ListenerSecurity


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """The specification of `eosctl sandbox up`.

    `port_base` None means ephemeral ports, else broker N listens on `port_base + N - 1`. `transaction_version` None
    means the default of the emulated release. `settings` are broker settings by Kafka's names. `metrics_port` None
    disables metrics, else broker N serves them on `metrics_port + N - 1`. `ttl_ms` None means no time to live. An
    `ephemeral` sandbox deletes its data directory when it stops. `sasl` lists the mechanisms by which `users`
    authenticate; passwords are never included. One broker with one controller is a node with both roles, else
    controllers are separate nodes from id 100.
    """

    name: str
    data_dir: str
    brokers: int = 1
    emulate: str = NEWEST
    transaction_version: int | None = None
    port_base: int | None = None
    settings: tuple[tuple[str, str], ...] = ()
    fast: bool = False
    ephemeral: bool = False
    ttl_ms: int | None = None
    metrics_port: int | None = None
    sasl: tuple[str, ...] = ()
    tls: bool = False
    users: tuple[str, ...] = (ADMIN_USER,)
    controllers: int = 1
    log_dirs: int = 1  # Per broker.
    racks: tuple[str, ...] = ()  # Assigned to brokers in turn.
    bugs: tuple[tuple[str, bool], ...] = ()  # Switches of known bugs.
    kafka: str | None = None  # The Kafka release, for real brokers.
    listen: tuple[str, ...] = ()  # The listeners that the brokers bind; loopback by default.
    advertise: tuple[str, ...] = ()  # The addresses that they give to clients; without one, those that they bind.
    inter_broker_listener: str | None = None  # The first one by default.
    cluster_id: str | None = None  # A random one by default.
    processes: int = 1  # Processes that the nodes share; with several, one more starts and queries them.

    @property
    def listeners(self) -> tuple[PlannedListener, ...]:
        """Return the listeners of every broker."""
        return plan_listeners(self.listen, self.advertise, self.security.protocol.name, self.port_base)

    @property
    def security(self) -> ListenerSecurity:
        """Return the security of the client listener."""
        return ListenerSecurity(self.sasl, self.tls)

    def to_json(self) -> str:
        """Return the specification as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> SandboxSpec:
        """Read what `to_json` wrote."""
        fields = json.loads(text)
        fields["settings"] = tuple((name, value) for name, value in fields["settings"])
        fields["sasl"], fields["users"] = tuple(fields["sasl"]), tuple(fields["users"])
        fields["listen"], fields["advertise"] = tuple(fields["listen"]), tuple(fields["advertise"])
        fields["racks"] = tuple(fields.get("racks", ()))
        fields["bugs"] = tuple((name, on) for name, on in fields.get("bugs", ()))
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class RunningSandbox:
    """The content of the state file, which identifies a running sandbox.

    `process_start_ticks` is the start time of the process in clock ticks since boot (field 22 of `/proc/PID/stat`),
    since another process may have the same id later.
    """

    name: str
    pid: int
    process_start_ticks: int
    started_at_ms: int
    bootstrap: str
    control_socket: str
    data_dir: str
    log_file: str
    version: str
    spec: SandboxSpec = field(default_factory=lambda: SandboxSpec("", ""))

    def to_json(self) -> str:
        """Return the state as indented JSON."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> RunningSandbox:
        """Read what `to_json` wrote.

        Raises:
            ValueError: The text is not a state file of this release.
        """
        try:
            fields: dict[str, Any] = json.loads(text)
            fields["spec"] = SandboxSpec.from_json(json.dumps(fields["spec"]))
            return cls(**fields)
        except (TypeError, KeyError) as error:
            raise ValueError(f"not a sandbox state file: {error}") from error
