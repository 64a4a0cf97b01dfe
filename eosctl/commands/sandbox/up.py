"""``eosctl sandbox up``: start a local cluster."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import options
from eosctl.commands.emit import emit
from eosctl.commands.options import ResultOptions, duration_option
from eosctl.commands.sandbox.options import BrokerSettings, Bugs, Emulate, Name, TransactionVersion
from eosctl.commands.session import perform
from eosctl.render.formats import FOR_PEOPLE
from eosctl.render.sandbox.listing import render_sandboxes, render_started
from eosctl.services.sandboxes import OwnFeatures, SandboxRequest, start_sandbox

REAL_KAFKA: Final = "Real Kafka"
SECURITY: Final = "Security"
NETWORK: Final = "Network"
_real_kafka = partial(typer.Option, rich_help_panel=REAL_KAFKA)
_network = partial(typer.Option, rich_help_panel=NETWORK)
_security = partial(typer.Option, rich_help_panel=SECURITY)


OwnOptions = Annotated[
    OwnFeatures,
    options(
        controllers=typer.Option("--controllers", min=1, max=3, help="Number of controllers: 1 or 3."),
        log_dirs=typer.Option("--log-dirs", min=1, max=8, help="Number of log directories of each broker."),
        racks=typer.Option("--rack", help="Rack; repeatable, assigned to the brokers in turn."),
        emulate=Emulate,
        processes=typer.Option("--processes", min=1, max=16, help="Number of processes that the brokers share."),
        fast=typer.Option("--fast", help="Use short timeouts: failover in tenths of a second."),
        metrics_port=typer.Option(
            "--metrics-port", min=1, max=65_000, help="First port of the Prometheus endpoints, one for each broker."
        ),
        bugs=Bugs,
        sasl=_security(
            "--sasl", metavar="MECHANISM", help="SASL mechanism: plain, scram-sha-256, or scram-sha-512; repeatable."
        ),
        tls=_security("--tls", help="Use TLS, with certificates created on first use."),
        users=_security("--user", metavar="NAME", help="User in addition to admin, with its own password; repeatable."),
        authorizer=_security("--authorizer", help="Enforce access control lists; admin may do everything."),
        listen=_network(
            "--listen",
            metavar="[NAME://]ADDRESS[:PORT]",
            help="Listener that the brokers bind, 0.0.0.0 for all addresses; repeatable with names.",
        ),
        advertise=_network(
            "--advertise",
            metavar="[NAME://]HOST[:PORT]",
            help="Address that the brokers give to clients of a listener; repeatable.",
        ),
        inter_broker_listener=_network(
            "--inter-broker-listener", metavar="NAME", help="Listener between brokers; the first one by default."
        ),
        insecure=_network("--insecure", help="Let other machines connect without TLS and a login."),
    ),
]
"""The options that only eosctl's own brokers understand."""

SandboxOptions = Annotated[
    SandboxRequest,
    options(
        name=Name,
        brokers=typer.Option("--brokers", min=1, max=16, help="Number of brokers."),
        data_dir=typer.Option("--data-dir", help="Directory for the brokers' files."),
        ephemeral=typer.Option("--ephemeral", help="Remove the files when the sandbox stops."),
        transaction_version=TransactionVersion,
        port_base=typer.Option("--port-base", min=1, max=65_000, help="First port; free ports by default."),
        ttl_ms=duration_option("--ttl", help="Time after which the sandbox stops on its own."),
        settings=BrokerSettings,
        engine=_real_kafka("--engine", help="Brokers: the sandbox's own, or real ones in JVMs."),
        kafka=_real_kafka(
            "--kafka-version", metavar="VERSION", help="Release for --engine apache, 3.3 to 4.4; 4.4.0 by default."
        ),
        own=OwnOptions,
    ),
]


def start(invocation: Invocation, request: SandboxOptions, result: ResultOptions) -> None:
    """Start a sandbox cluster in the background.

    Returns when the cluster answers clients.

    Examples:
        eosctl sandbox up
        eosctl sandbox up --brokers 3 --config transaction.partition.verification.enable=false
        eosctl sandbox up --name tv1 --emulate 3.9 --ttl 1h
    """
    item = perform(start_sandbox, request, invocation)
    if result.output in FOR_PEOPLE:
        text = render_started(item, invocation.style())
    else:
        text = render_sandboxes("sandbox up", (item,), invocation.now_ms(), result.output)
    emit(text, result)
