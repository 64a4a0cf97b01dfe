"""A sandbox of this user, and the records of its nodes' logs."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec


class NodeRecord(NamedTuple):
    """One record of a node's log; `text` has the lines of its exception as well, without a final newline."""

    stamp: str
    node: str
    text: str


class SandboxItem(msgspec.Struct, frozen=True):
    """A sandbox of this user; `running` False means that its process is gone and only its state is left.

    `kafka` is the release of real brokers; None if they are the sandbox's own, which behave as `emulate`.
    """

    name: str
    running: bool
    bootstrap: str
    broker_count: int
    emulate: str
    kafka: str | None
    transaction_version: int | None
    pid: int
    started_at_ms: int
    data_dir: str
    log_file: str
    logs_dir: str
    metrics_port: int | None
    ephemeral: bool
    settings: dict[str, str]
    security_protocol: str
    client_config: str | None
    cluster: dict[str, Any] | None
