"""``eosctl sandbox up``: start a local cluster."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
from eosctl.commands.options import ResultOptions, duration_option
from eosctl.commands.sandbox.options import BrokerSettings, Bugs, Emulate, Name, TransactionVersion
from eosctl.commands.session import perform
from eosctl.model.emulation import NEWEST
from eosctl.render.formats import FOR_PEOPLE
from eosctl.render.sandbox.listing import render_sandboxes, render_started
from eosctl.services.sandboxes import DEFAULT_NAME, EngineChoice, OwnFeatures, SandboxRequest, start_sandbox

REAL_KAFKA: Final = "Real Kafka"
SECURITY: Final = "Security"
_real_kafka = partial(typer.Option, rich_help_panel=REAL_KAFKA)
_security = partial(typer.Option, rich_help_panel=SECURITY)


class OwnOptions(NamedTuple):
    """The options that only eosctl's own brokers understand."""

    controllers: Annotated[int, typer.Option("--controllers", min=1, max=3, help="Number of controllers: 1 or 3.")] = 1
    log_dirs: Annotated[
        int, typer.Option("--log-dirs", min=1, max=8, help="Number of log directories of each broker.")
    ] = 1
    rack: Annotated[
        list[str] | None, typer.Option("--rack", help="Rack; repeatable, assigned to the brokers in turn.")
    ] = None
    emulate: Emulate = NEWEST
    fast: Annotated[bool, typer.Option("--fast", help="Use short timeouts: failover in tenths of a second.")] = False
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port", min=1, max=65_000, help="First port of the Prometheus endpoints, one for each broker."
        ),
    ] = None
    bug: Bugs = None
    sasl: Annotated[
        list[str] | None,
        _security(
            "--sasl", metavar="MECHANISM", help="SASL mechanism: plain, scram-sha-256, or scram-sha-512; repeatable."
        ),
    ] = None
    tls: Annotated[bool, _security("--tls", help="Use TLS, with certificates created on first use.")] = False
    user: Annotated[
        list[str] | None,
        _security("--user", metavar="NAME", help="User in addition to admin, with its own password; repeatable."),
    ] = None
    authorizer: Annotated[
        bool, _security("--authorizer", help="Enforce access control lists; admin may do everything.")
    ] = False

    @property
    def features(self) -> OwnFeatures:
        """The requested features."""
        return OwnFeatures(
            controllers=self.controllers,
            log_dirs=self.log_dirs,
            racks=tuple(self.rack or ()),
            emulate=self.emulate,
            fast=self.fast,
            metrics_port=self.metrics_port,
            bugs=tuple(self.bug or ()),
            sasl=tuple(self.sasl or ()),
            tls=self.tls,
            users=tuple(self.user or ()),
            authorizer=self.authorizer,
        )


def start(
    invocation: Invocation,
    name: Name = DEFAULT_NAME,
    brokers: Annotated[int, typer.Option("--brokers", min=1, max=16, help="Number of brokers.")] = 3,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Directory for the brokers' files.")] = None,
    ephemeral: Annotated[bool, typer.Option("--ephemeral", help="Remove the files when the sandbox stops.")] = False,
    transaction_version: TransactionVersion = None,
    port_base: Annotated[
        int | None, typer.Option("--port-base", min=1, max=65_000, help="First port; free ports by default.")
    ] = None,
    ttl: Annotated[int | None, duration_option("--ttl", help="Time after which the sandbox stops on its own.")] = None,
    config: BrokerSettings = None,
    engine: Annotated[
        EngineChoice, _real_kafka("--engine", help="Brokers: the sandbox's own, or real ones in JVMs.")
    ] = EngineChoice.SANDBOX,
    kafka: Annotated[
        str | None,
        _real_kafka(
            "--kafka-version",
            metavar="VERSION",
            help="Release for --engine apache, 3.3 to 4.4, e.g. 3.9.2; 4.4.0 by default.",
        ),
    ] = None,
    *,
    own: OwnOptions,
    result: ResultOptions,
) -> None:
    """Start a sandbox cluster in the background.

    Returns when the cluster answers clients.

    Examples:
        eosctl sandbox up
        eosctl sandbox up --brokers 3 --config transaction.partition.verification.enable=false
        eosctl sandbox up --name tv1 --emulate 3.9 --ttl 1h
    """
    request = SandboxRequest(
        name=name,
        engine=engine,
        brokers=brokers,
        data_dir=data_dir,
        ephemeral=ephemeral,
        transaction_version=transaction_version,
        port_base=port_base,
        ttl_ms=ttl,
        settings=tuple(config or ()),
        kafka=kafka,
        own=own.features,
    )
    item = perform(start_sandbox, request, invocation)
    if result.output in FOR_PEOPLE:
        text = render_started(item, invocation.style())
    else:
        text = render_sandboxes("sandbox up", (item,), invocation.now_ms(), result.output)
    emit(text, result)
