"""``eosctl verify replay``, ``show`` and ``export``: runs that are over."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Bootstrap, CommandConfig, OutputFile, Overrides, Profile, Timeout
from eosctl.commands.verify.options import OwnedCluster, VerifyOutput
from eosctl.commands.verify.play import finish, play_order, report_run, where_of
from eosctl.render.verify.items import VerifyFormat
from eosctl.services.connection import Connection


def replay_run(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")],
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    owned: OwnedCluster = None,
    output: VerifyOutput = VerifyFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Play a run again: the same work and the same faults at the same times, on the same or another cluster.

    What a network and threads do is not repeated to the microsecond: a rare anomaly may need several replays.
    """
    import dataclasses

    import msgspec

    from eosctl.lab.verify.play import NemesisKind, Order
    from eosctl.lab.verify.runs import load_run
    from eosctl.lab.verify.targets import EngineOrder

    invocation = invocation_of(context)
    record, _ = load_run(run)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    where = dict(record.where)
    nemeses = tuple(NemesisKind(name) for name in where.pop("nemeses", ()))
    program = where.pop("program", None)
    own = None
    if not connection.is_given:
        if "engine" in where:
            bugs = tuple((name, on) for name, on in where.pop("bugs", ()))
            own = EngineOrder(**where, bugs=bugs)
        else:
            file = where.get("command_config")
            connection = msgspec.structs.replace(
                connection,
                bootstrap=where.get("bootstrap"),
                command_config=Path(file) if file else None,
                profile=where.get("profile"),
            )
    order = Order(
        dataclasses.replace(record.plan, prefix=f"eosctl-verify-{invocation.now_ms()}"),
        nemeses,
        Path(program) if program else None,
        faults=record.faults,
        arguments=tuple(sys.argv[1:]) if not overrides else (),
        where=where_of(own, connection),
    )
    finish(play_order(order, own, connection, owned, invocation), invocation, output, output_file)


def show_run(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")],
    output: VerifyOutput = VerifyFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Check the history of a run that is over again, and show its report."""
    from eosctl.lab.verify.runs import load_run

    record, history = load_run(run)
    report_run(record, history, invocation_of(context), output, output_file)


def export_run(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")],
    output_file: OutputFile = None,
) -> None:
    """Write the history of a run for elle, Jepsen's checker: list-append in EDN, one operation a line."""
    from eosctl.lab.history.elle import encode_elle
    from eosctl.lab.verify.runs import load_run

    _, history = load_run(run)
    write_result("".join(f"{line}\n" for line in encode_elle(history)), output_file)
