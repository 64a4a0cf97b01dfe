"""``eosctl sandbox``: a local cluster to try things on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import invocation_of, note, write_result
from eosctl.commands.options import Output, OutputFile, parse_duration_ms
from eosctl.commands.sandbox.real_kafka import (
    DEFAULT_RELEASE,
    REAL_KAFKA,
    Kafka,
    RealKafkaOrder,
    start_real_kafka,
    stop_real_kafka,
)
from eosctl.commands.sandbox.scenarios import EngineChoice
from eosctl.commands.sandbox.security import (
    Authorize,
    Sasl,
    Tls,
    Users,
    authorizer_settings,
    environment_of,
    mechanisms_of,
    users_of,
)
from eosctl.commands.sandbox.status import sandbox_item
from eosctl.errors import UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

if TYPE_CHECKING:
    from eosctl.sandbox.process.spec import RunningSandbox

Name = Annotated[str, typer.Option("--name", help="Which sandbox.")]
DEFAULT_NAME = "default"


def start_sandbox(
    context: typer.Context,
    name: Name = DEFAULT_NAME,
    brokers: Annotated[int, typer.Option("--brokers", min=1, max=16, help="How many brokers.")] = 3,
    controllers: Annotated[
        int, typer.Option("--controllers", min=1, max=3, help="How many controllers vote on who leads: 1 or 3.")
    ] = 1,
    log_dirs: Annotated[
        int, typer.Option("--log-dirs", min=1, max=8, help="How many log directories each broker has.")
    ] = 1,
    rack: Annotated[
        list[str] | None, typer.Option("--rack", help="Rack of a broker; repeatable, the brokers take them in turn.")
    ] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Where the brokers keep their files.")] = None,
    ephemeral: Annotated[bool, typer.Option("--ephemeral", help="Remove the files when it stops.")] = False,
    emulate: Annotated[str, typer.Option("--emulate", metavar="3.9|4.3", help="The release to behave as.")] = "4.3",
    transaction_version: Annotated[
        int | None, typer.Option("--transaction-version", min=0, max=2, help="Finalized transaction.version.")
    ] = None,
    port_base: Annotated[
        int | None, typer.Option("--port-base", min=1, max=65_000, help="First port; free ports when left out.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Short timeouts: failover in tenths of a second.")] = False,
    ttl: Annotated[
        int | None,
        typer.Option("--ttl", metavar="DURATION", parser=parse_duration_ms, help="Stop by itself after this time."),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port", min=1, max=65_000, help="First port of Prometheus endpoints, one for each broker."
        ),
    ] = None,
    config: Annotated[
        list[str] | None, typer.Option("--config", metavar="KEY=VALUE", help="A broker setting; repeatable.")
    ] = None,
    bug: Annotated[
        list[str] | None,
        typer.Option("--bug", metavar="NAME[=off]", help="Switch a known bug on or off; repeatable."),
    ] = None,
    sasl: Sasl = None,
    tls: Tls = False,
    user: Users = None,
    authorizer: Authorize = False,
    engine: Annotated[
        EngineChoice,
        typer.Option("--engine", help="Its own brokers, or real ones in JVMs.", rich_help_panel=REAL_KAFKA),
    ] = EngineChoice.SANDBOX,
    kafka: Kafka = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Start a cluster in the background and return when it answers clients."""
    from eosctl.sandbox.process import manage, places
    from eosctl.sandbox.process.spec import SandboxSpec

    settings = tuple(_setting(text) for text in config or ())
    data_dir = data_dir or places.default_data_dir(name)
    if engine is EngineChoice.APACHE:
        release = kafka or DEFAULT_RELEASE
        order = RealKafkaOrder(
            name, data_dir, brokers, release, transaction_version, port_base, settings, ephemeral, ttl
        )
        _tell_started(context, start_real_kafka(context, order), output, output_file)
        return
    if kafka is not None:
        raise UsageError("--kafka is for --engine apache.", "A sandbox emulates a release.", "Use --emulate.")
    if emulate not in ("3.9", "4.3"):
        raise UsageError(f"--emulate {emulate!r} is not known.", "The sandbox behaves as 3.9 or as 4.3.", "Choose one.")
    if controllers == 2:
        raise UsageError("--controllers 2 is not possible.", "Two bear no failure: both are a majority.", "Use 1 or 3.")
    mechanisms = mechanisms_of(sasl or ())
    rules = authorizer_settings(sasl=bool(mechanisms)) if authorizer else ()
    spec = SandboxSpec(
        name=name,
        data_dir=str(data_dir.absolute()),
        brokers=brokers,
        controllers=controllers,
        log_dirs=log_dirs,
        racks=tuple(rack or ()),
        emulate=emulate,
        transaction_version=transaction_version,
        port_base=port_base,
        settings=(*rules, *settings),
        fast=fast,
        ephemeral=ephemeral,
        ttl_ms=ttl,
        metrics_port=metrics_port,
        sasl=mechanisms,
        tls=tls,
        users=users_of(user or (), sasl=bool(mechanisms)),
        bugs=tuple(_bug(text, emulate) for text in bug or ()),
    )
    _tell_started(context, manage.start(spec), output, output_file)


def _tell_started(
    context: typer.Context, sandbox: RunningSandbox, output: OutputFormat, output_file: Path | None
) -> None:
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.sandbox.listing import SANDBOX_COLUMNS, render_started
    from eosctl.sandbox.process import manage

    invocation = invocation_of(context)
    item = sandbox_item(manage.Found(sandbox, running=True))
    if output in FOR_PEOPLE:
        text = render_started(item, invocation.style())
    else:
        result = listing("sandboxes", "sandbox up", invocation.now_ms(), (item,))
        text = render_listing(result, SANDBOX_COLUMNS, output)
    write_result(text, output_file)


def stop_sandbox(
    name: Name = DEFAULT_NAME,
    everything: Annotated[bool, typer.Option("--all", help="Stop all sandboxes of this user.")] = False,
) -> None:
    """Stop a sandbox: exactly the process that was started, however it stands."""
    from eosctl.sandbox.process import manage
    from eosctl.sandbox.process.data_directory import files_left

    one = manage.find(name)
    targets = manage.find_all() if everything else [] if one is None else [one]
    if not targets:
        note("no sandbox to stop" if everything else f"no sandbox named {name!r}: nothing to stop")
    for target in targets:
        how = stop_real_kafka(target) if target.sandbox.spec.kafka else manage.stop(target.sandbox)
        write_result(f"Sandbox {target.sandbox.name}: {how}\n")
        if target.sandbox.spec.ephemeral and (left := files_left(Path(target.sandbox.data_dir))):
            more = f", and {len(left) - 5:,} more" if len(left) > 5 else ""
            note(f"left in {target.sandbox.data_dir}, as this sandbox did not write it: {', '.join(left[:5])}{more}")


def execute(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The program and its arguments.")],
    name: Name = DEFAULT_NAME,
) -> None:
    """Run a program with the sandbox's address in its environment.

    It is set as BOOTSTRAP_SERVERS, KAFKA_BOOTSTRAP_SERVERS and EOSCTL_BOOTSTRAP_SERVERS. A secured sandbox adds its
    client file (KAFKA_CLIENT_CONFIG, EOSCTL_COMMAND_CONFIG) and its admin's login (KAFKA_SASL_USERNAME and others). The
    exit code is the program's.
    """
    import subprocess

    from eosctl.sandbox.process import manage

    variables = environment_of(manage.require(name))
    try:
        done = subprocess.run(command, env=os.environ | variables, check=False)
    except OSError as error:
        raise UsageError(f"Cannot run {command[0]}.", error.strerror or str(error), "Check the command.") from error
    raise typer.Exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


def _bug(text: str, release: str) -> tuple[str, bool]:
    from eosctl.sandbox.faults.bugs import find_bug, parse_switch

    name, on = parse_switch(text)
    return find_bug(name, release).name, on


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--config {text!r} is not KEY=VALUE.", "A broker setting has a name and a value.", "Mend it.")
    return name.strip(), value.strip()
