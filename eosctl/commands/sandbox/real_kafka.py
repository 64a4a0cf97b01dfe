"""``eosctl sandbox up --engine apache``: a sandbox whose brokers are real, and its end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer

from eosctl.commands.invocation import note
from eosctl.errors import UsageError

if TYPE_CHECKING:
    from eosctl.sandbox.process.manage import Found
    from eosctl.sandbox.process.spec import RunningSandbox

REAL_KAFKA = "Real Kafka"
DEFAULT_RELEASE = "4.3.1"
STOP_TIMEOUT_S: Final = 60.0

Kafka = Annotated[
    str | None,
    typer.Option(
        "--kafka",
        metavar="VERSION",
        help="The release to run with --engine apache: 4.3.1 (when left out) or 3.9.2.",
        rich_help_panel=REAL_KAFKA,
    ),
]

#: Options that only the sandbox's own brokers understand.
_OWN_ONLY: Final = (
    *("controllers", "log_dirs", "rack", "emulate", "fast", "metrics_port", "bug", "sasl", "tls", "user"),
    "authorizer",
)


class RealKafkaOrder(msgspec.Struct, frozen=True):
    """What a cluster of real brokers can be asked to be."""

    name: str
    data_dir: Path
    brokers: int
    kafka: str
    transaction_version: int | None
    port_base: int | None
    settings: tuple[tuple[str, str], ...]
    ephemeral: bool
    ttl_ms: int | None


def start_real_kafka(context: typer.Context, order: RealKafkaOrder) -> RunningSandbox:
    """Start real brokers in the background and return when they answer clients.

    Raises:
        UsageError: An option is for the sandbox's own brokers.
        EngineError: Java, the jars or the release is not there, or a node does not start.
    """
    from eosctl.lab.apache.cluster import PROGRAM, START_TIMEOUT_S
    from eosctl.lab.apache.jars import is_cached, source_of_jars
    from eosctl.lab.apache.java import prepare_runtime
    from eosctl.lab.apache.releases import resolve_release
    from eosctl.render.progress import show_progress
    from eosctl.sandbox.process import manage
    from eosctl.sandbox.process.spec import SandboxSpec

    _refuse_own_options(context)
    if order.brokers not in (1, 3):
        raise UsageError(
            f"--brokers {order.brokers} is not possible with --engine apache.",
            "Every node is a controller too, and a quorum has one or three.",
            "Use --brokers 1 or --brokers 3.",
        )
    release = resolve_release(order.kafka)
    if not is_cached(release) and (source := source_of_jars(os.environ)):
        note(f"Fetching the jars of Apache Kafka {release.version} {source}; this is done once.")
    with show_progress() as told:
        prepare_runtime(release, told=told)
    left = manage.find(order.name)
    if left is not None and not left.running:
        stop_real_kafka(left)
    spec = SandboxSpec(
        name=order.name,
        data_dir=str(order.data_dir.absolute()),
        brokers=order.brokers,
        emulate=".".join(release.version.split(".")[:2]),
        transaction_version=order.transaction_version,
        port_base=order.port_base,
        settings=order.settings,
        ephemeral=order.ephemeral,
        ttl_ms=order.ttl_ms,
        kafka=release.version,
    )
    return manage.start(spec, program=PROGRAM, timeout_s=START_TIMEOUT_S)


def stop_real_kafka(found: Found) -> str:
    """Stop a sandbox with real brokers, also those that its killed process has left behind; returns how it ended."""
    from eosctl.lab.apache.cluster import end_nodes, recorded_nodes
    from eosctl.sandbox.process import manage

    nodes = recorded_nodes(found.sandbox.spec)
    # Brokers that a killed process left behind write to files that the end of an ephemeral sandbox removes.
    left_count = 0 if found.running else end_nodes(nodes)
    how = manage.stop(found.sandbox, timeout_s=STOP_TIMEOUT_S)
    left_count += end_nodes(nodes)
    if not left_count:
        return how
    left = "a broker that it had left behind was" if left_count == 1 else f"{left_count} brokers left behind were"
    return f"{how}; {left} ended"


def _refuse_own_options(context: typer.Context) -> None:
    given = [name for name in _OWN_ONLY if _is_given(context, name)]
    if given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(
            f"{options} cannot be used with --engine apache.",
            "Only the sandbox's own brokers understand it; real ones take settings.",
            "Leave it out, or use --config KEY=VALUE.",
        )


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
