"""Sandboxes whose brokers are real: their start and their end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.errors import UsageError
from eosctl.lab.apache.cluster import PROGRAM, START_TIMEOUT_S, end_nodes, recorded_nodes
from eosctl.lab.apache.jars import is_cached, source_of_jars
from eosctl.lab.apache.java import prepare_runtime
from eosctl.lab.apache.releases import resolve_release
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.manage import Found
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.services.callbacks import Callbacks

STOP_TIMEOUT_S: Final = 60.0


class RealKafkaRequest(NamedTuple):
    """What a cluster of real brokers can be asked to be; see `SandboxSpec`."""

    name: str
    data_dir: Path
    brokers: int
    kafka: str
    transaction_version: int | None
    port_base: int | None
    settings: tuple[tuple[str, str], ...]
    ephemeral: bool
    ttl_ms: int | None
    racks: tuple[str, ...] = ()


def start_real_kafka(
    request: RealKafkaRequest, callbacks: Callbacks, environment: Mapping[str, str] = os.environ
) -> RunningSandbox:
    """Start real brokers in the background and return when they answer clients.

    Raises:
        UsageError: The number of brokers is neither 1 nor 3.
        EngineError: Java, the jars or the release is not there, or a node does not start.
    """
    if request.brokers not in (1, 3):
        raise UsageError(
            f"--brokers {request.brokers} is not possible with --engine apache.",
            "Every node is a controller too, and a quorum has one or three.",
            "Use --brokers 1 or --brokers 3.",
        )
    release = resolve_release(request.kafka)
    if not is_cached(release) and (source := source_of_jars(environment)):
        callbacks.remark(f"Fetching the jars of Apache Kafka {release.version} {source}; this is done once.")
    prepare_runtime(release, progress=callbacks.progress)
    callbacks.progress("")
    left = manage.find(request.name)
    if left is not None and not left.running:
        stop_real_kafka(left)
    spec = SandboxSpec(
        name=request.name,
        data_dir=str(request.data_dir.absolute()),
        brokers=request.brokers,
        emulate=".".join(release.version.split(".")[:2]),
        transaction_version=request.transaction_version,
        port_base=request.port_base,
        settings=request.settings,
        ephemeral=request.ephemeral,
        ttl_ms=request.ttl_ms,
        racks=request.racks,
        kafka=release.version,
    )
    return manage.start(spec, program=PROGRAM, timeout_s=START_TIMEOUT_S)


def stop_real_kafka(found: Found) -> str:
    """Stop a sandbox with real brokers, also those that its killed process has left behind; returns how it ended."""
    nodes = recorded_nodes(found.sandbox.spec)
    # Brokers that a killed process left behind write to files that the end of an ephemeral sandbox removes.
    left_count = 0 if found.running else end_nodes(nodes)
    how = manage.stop(found.sandbox, timeout_s=STOP_TIMEOUT_S)
    left_count += end_nodes(nodes)
    if not left_count:
        return how
    left = "a broker that it had left behind was" if left_count == 1 else f"{left_count} brokers left behind were"
    return f"{how}; {left} ended"
