"""``eosctl verify``: is this deployment really exactly-once?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eosctl.commands.invocation import Invocation, invocation_of, note, write_result
from eosctl.commands.options import (
    Bootstrap,
    CommandConfig,
    OutputFile,
    Overrides,
    Profile,
    Timeout,
    parse_duration_ms,
)
from eosctl.commands.session import Connection
from eosctl.commands.verify_app import verify_app, verify_dlq
from eosctl.commands.verify_canary import verify_canary
from eosctl.commands.verify_options import VerifyOutput, exit_code
from eosctl.errors import UsageError
from eosctl.render.verify import VerifyFormat, render_verify, verify_item

if TYPE_CHECKING:
    from eosctl.history.events import History
    from eosctl.verify.play import NemesisKind, Order, Played
    from eosctl.verify.runs import RunRecord
    from eosctl.verify.targets import EngineOrder, Target

app = typer.Typer(
    help="Verify that a deployment is exactly-once: applications, faults, and the checked history.",
    no_args_is_help=True,
)

WORK = "Work"
FAULTS = "Faults"
CLUSTER = "A cluster of the run's own"

OwnedCluster = Annotated[
    str | None,
    typer.Option(
        "--i-own-this-cluster",
        metavar="CLUSTER-ID",
        help="Allow faults on a cluster that eosctl did not start.",
        rich_help_panel=FAULTS,
    ),
]


@app.command("run")
def verify_run(
    context: typer.Context,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="embedded|4.3.1|3.9.2",
            help="Start a cluster for this run: a sandbox, or a release of Apache Kafka.",
            rich_help_panel=CLUSTER,
        ),
    ] = None,
    brokers: Annotated[
        int, typer.Option("--brokers", min=1, max=16, help="How many brokers it has.", rich_help_panel=CLUSTER)
    ] = 3,
    emulate: Annotated[
        str,
        typer.Option(
            "--emulate", metavar="3.9|4.3", help="The release that a sandbox behaves as.", rich_help_panel=CLUSTER
        ),
    ] = "4.3",
    transaction_version: Annotated[
        int | None,
        typer.Option(
            "--transaction-version", min=0, max=2, help="Finalized transaction.version.", rich_help_panel=CLUSTER
        ),
    ] = None,
    bug: Annotated[
        list[str] | None,
        typer.Option(
            "--bug",
            metavar="NAME[=off]",
            help="A known bug that a sandbox has, or lacks; repeatable.",
            rich_help_panel=CLUSTER,
        ),
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload",
            metavar="NAME",
            help="appends, chain, bank, zombies, aborts or mixed; repeatable, all by default.",
            rich_help_panel=WORK,
        ),
    ] = None,
    clients: Annotated[
        str,
        typer.Option(
            "--clients",
            metavar="auto|tv0|tv1|tv2|librdkafka",
            help="Whose protocol producers speak: what Java's client would by default; librdkafka speaks itself.",
            rich_help_panel=WORK,
        ),
    ] = "auto",
    duration_ms: Annotated[
        int,
        typer.Option(
            "--duration", metavar="DURATION", parser=parse_duration_ms, help="How long to work.", rich_help_panel=WORK
        ),
    ] = "30s",  # type: ignore[assignment]
    rate: Annotated[
        float,
        typer.Option(
            "--rate", min=0.01, max=5_000, help="Transactions per second of each workload.", rich_help_panel=WORK
        ),
    ] = 20.0,
    ids: Annotated[
        int, typer.Option("--ids", min=1, max=500, help="Transactional ids of each workload.", rich_help_panel=WORK)
    ] = 3,
    partitions: Annotated[
        int, typer.Option("--partitions", min=1, max=100, help="Partitions of each topic.", rich_help_panel=WORK)
    ] = 3,
    replicas: Annotated[
        int | None,
        typer.Option("--replicas", min=1, help="Replicas; 3 or as many as brokers.", rich_help_panel=WORK),
    ] = None,
    record_bytes: Annotated[
        int, typer.Option("--record-bytes", min=0, max=900_000, help="Size of a value.", rich_help_panel=WORK)
    ] = 100,
    skew: Annotated[
        float,
        typer.Option(
            "--skew", min=0.0, max=10.0, help="Choose partition n with weight 1 / n^SKEW.", rich_help_panel=WORK
        ),
    ] = 0.0,
    hops: Annotated[int, typer.Option("--hops", min=1, max=4, help="Steps of a chain.", rich_help_panel=WORK)] = 2,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Repeat the same choices.", rich_help_panel=WORK)
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option("--prefix", help="Begins every topic, group and id; a new one by default.", rich_help_panel=WORK),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the topics.", rich_help_panel=WORK)] = False,
    nemesis: Annotated[
        list[str] | None,
        typer.Option(
            "--nemesis",
            metavar="KIND",
            help="brokers (kill, stop, part, slow them), links (those of the run's own clients) or none; repeatable.",
            rich_help_panel=FAULTS,
        ),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            metavar="KIND",
            help="Of the faults that --nemesis can make, only this one; repeatable.",
            rich_help_panel=FAULTS,
        ),
    ] = None,
    program: Annotated[
        Path | None,
        typer.Option(
            "--command-nemesis",
            metavar="PROGRAM",
            help="Called as PROGRAM begin|end BROKER to stop and start brokers.",
            rich_help_panel=FAULTS,
        ),
    ] = None,
    gap_ms: Annotated[
        int,
        typer.Option(
            "--fault-gap",
            metavar="DURATION",
            parser=parse_duration_ms,
            help="Pause between two faults, on average.",
            rich_help_panel=FAULTS,
        ),
    ] = "2s",  # type: ignore[assignment]
    owned: OwnedCluster = None,
    output: VerifyOutput = VerifyFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Run transactional applications on a cluster, disturb it, and check what they did and saw.

    Nothing is written but to topics of the run's own, which are removed afterwards. The exit code is 0 when no anomaly
    was found, 3 when one was, 4 when the run decides nothing.
    """
    from eosctl.sandbox.faults.bugs import parse_switch
    from eosctl.verify.plan import ClientKind, VerifyPlan, Workload
    from eosctl.verify.play import Order
    from eosctl.verify.targets import EngineOrder

    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    if engine is not None and connection.is_given:
        raise UsageError(
            "--engine and a cluster were both given.",
            "--engine starts a cluster for this run.",
            "Leave one of them out.",
        )
    chosen_seed = seed if seed is not None else invocation.now_ms() % 1_000_000
    plan = VerifyPlan(
        prefix=prefix or f"eosctl-verify-{invocation.now_ms()}",
        seed=chosen_seed,
        workloads=tuple(_choose(Workload, name, "--workload") for name in workload or ()) or tuple(Workload),
        clients=_choose(ClientKind, clients, "--clients"),
        duration_ms=duration_ms,
        rate_per_s=rate,
        id_count=ids,
        partition_count=partitions,
        replica_count=replicas,
        record_bytes=record_bytes,
        skew=skew,
        hops=hops,
    )
    switches = tuple(parse_switch(text) for text in bug or ())
    if switches and engine is None:
        raise UsageError("--bug goes with --engine embedded.", "A cluster that runs has its own.", "Leave it out.")
    own = EngineOrder(engine, brokers, emulate, transaction_version, switches) if engine is not None else None
    order = Order(
        plan,
        _nemeses(nemesis or ()),
        program,
        gap_ms,
        keep,
        kinds=tuple(fault or ()),
        arguments=tuple(sys.argv[1:]) if not overrides else (),
        where=_where(own, connection),
    )
    _finish(_play(order, own, connection, owned, invocation), invocation, output, output_file)


app.command("app")(verify_app)
app.command("dlq")(verify_dlq)
app.command("canary")(verify_canary)


@app.command("replay")
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
    from dataclasses import replace

    from eosctl.verify.play import NemesisKind, Order
    from eosctl.verify.runs import load_run
    from eosctl.verify.targets import EngineOrder

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
            connection = replace(
                connection,
                bootstrap=where.get("bootstrap"),
                command_config=Path(file) if file else None,
                profile=where.get("profile"),
            )
    order = Order(
        replace(record.plan, prefix=f"eosctl-verify-{invocation.now_ms()}"),
        nemeses,
        Path(program) if program else None,
        faults=record.faults,
        arguments=tuple(sys.argv[1:]) if not overrides else (),
        where=_where(own, connection),
    )
    _finish(_play(order, own, connection, owned, invocation), invocation, output, output_file)


@app.command("show")
def show_run(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")],
    output: VerifyOutput = VerifyFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Check the history of a run that is over again, and show its report."""
    from eosctl.verify.runs import load_run

    record, history = load_run(run)
    _report(record, history, invocation_of(context), output, output_file)


@app.command("export")
def export_run(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")],
    output_file: OutputFile = None,
) -> None:
    """Write the history of a run for elle, Jepsen's checker: list-append in EDN, one operation a line."""
    from eosctl.history.elle import encode_elle
    from eosctl.verify.runs import load_run

    _, history = load_run(run)
    write_result("".join(f"{line}\n" for line in encode_elle(history)), output_file)


def _finish(played: Played, invocation: Invocation, output: VerifyFormat, output_file: Path | None) -> None:
    from eosctl.verify.runs import save_run

    note(f"run: {save_run(played.record, played.history)}")
    _report(played.record, played.history, invocation, output, output_file)


def _report(
    record: RunRecord, history: History, invocation: Invocation, output: VerifyFormat, output_file: Path | None
) -> None:
    from eosctl.verify.report import judge

    report = judge(
        history,
        fault_kinds=record.fault_kinds,
        speaks_end_txn_5=record.speaks_end_txn_5,
        unsettled=record.unsettled,
    )
    text = render_verify(verify_item(record, report), output, invocation.now_ms(), invocation.style())
    write_result(text, output_file)
    if exit_code(report.verdict.value):
        raise typer.Exit(exit_code(report.verdict.value))


def _play(
    order: Order, own: EngineOrder | None, connection: Connection, owned: str | None, invocation: Invocation
) -> Played:
    import asyncio
    import random
    import time
    from dataclasses import replace

    from eosctl.render.progress import show_progress
    from eosctl.verify.play import play
    from eosctl.verify.safety import check_may_disturb
    from eosctl.verify.targets import own_cluster, running_cluster

    began = time.monotonic()

    def elapsed_ms() -> int:
        return int((time.monotonic() - began) * 1_000)

    words = {
        "nemeses": [str(kind) for kind in order.nemeses],
        **({"program": str(order.program.absolute())} if order.program is not None else {}),
    }
    order = replace(order, where={**(order.where or {}), **words})

    async def run() -> Played:
        nonlocal began
        with show_progress() as progress:
            if own is not None:
                progress("starting the cluster")
                async with own_cluster(own, random.Random(order.plan.seed)) as target:
                    began = time.monotonic()
                    return await play(order, target, now_ms=invocation.now_ms, elapsed_ms=elapsed_ms, progress=progress)
            target, protected = await look()
            if order.disturbs:
                check_may_disturb(
                    target.cluster_id,
                    is_ours=target.is_ours,
                    owned_id=owned,
                    protected_profile=protected,
                    what="Disturbing it",
                )
            began = time.monotonic()
            return await play(order, target, now_ms=invocation.now_ms, elapsed_ms=elapsed_ms, progress=progress)

    async def look() -> tuple[Target, str | None]:
        from eosctl.commands.session import resolve_connection

        resolved = resolve_connection(connection)
        return await running_cluster(resolved.config), resolved.profile if resolved.protected else None

    return asyncio.run(run())


def _where(own: EngineOrder | None, connection: Connection) -> dict[str, Any]:
    """Return how the cluster was named; values of -X are left out, as they may be secret."""
    if own is not None:
        return {
            "engine": own.engine,
            "brokers": own.brokers,
            "emulate": own.emulate,
            "transaction_version": own.transaction_version,
            "bugs": own.bugs,
        }
    file = connection.command_config
    return {
        "bootstrap": connection.bootstrap,
        "command_config": str(file.absolute()) if file is not None else None,
        "profile": connection.profile,
    }


def _choose(kind: Any, name: str, option: str) -> Any:
    try:
        return kind(name)
    except ValueError:
        known = ", ".join(str(one) for one in kind)
        raise UsageError(f"{option} {name!r} is not known.", f"It is one of {known}.", "Choose one.") from None


def _nemeses(names: list[str] | tuple[str, ...]) -> tuple[NemesisKind, ...]:
    from eosctl.verify.play import NemesisKind

    chosen = tuple(dict.fromkeys(_choose(NemesisKind, name, "--nemesis") for name in names))
    if NemesisKind.NONE in chosen and len(chosen) > 1:
        raise UsageError("--nemesis none goes with no other.", "It means that there are no faults.", "Leave it out.")
    return chosen
