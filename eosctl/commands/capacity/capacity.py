"""``eosctl capacity``: plans for transactional workloads."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import Invocation, invocation_of, note, remember_output, write_file, write_result
from eosctl.commands.options import (
    OUTPUT,
    Bootstrap,
    CommandConfig,
    Output,
    OutputFile,
    Overrides,
    Profile,
    Timeout,
    parse_duration_ms,
)
from eosctl.errors import ConfigFileError, UsageError
from eosctl.model.workload import ApplicationKind
from eosctl.render.formats import OutputFormat

if TYPE_CHECKING:
    from eosctl.model.calibration import CalibrationRow
    from eosctl.model.client_config import ClientConfig
    from eosctl.model.workload import Workload
    from eosctl.render.capacity.plan import PlanItem

DOES_NOT_FIT = 3

WorkloadFile = Annotated[Path, typer.Argument(metavar="WORKLOAD", help="A workload file; see capacity init.")]


class PlanFormat(StrEnum):
    """What ``-o`` accepts for a plan."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    TSV = "tsv"
    HTML = "html"


PlanOutput = Annotated[
    PlanFormat,
    typer.Option("--output", "-o", callback=remember_output, help="Format of the result.", rich_help_panel=OUTPUT),
]


def init_workload(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("workload.yaml"),
    kind: Annotated[ApplicationKind | None, typer.Option("--kind", help="How the application works.")] = None,
    brokers: Annotated[str | None, typer.Option("--brokers", help="How many brokers.")] = None,
    rate: Annotated[str | None, typer.Option("--rate", metavar="N/s", help="Records, e.g. 10000/s.")] = None,
    value: Annotated[str | None, typer.Option("--value", metavar="SIZE", help="Average record, e.g. '1 KiB'.")] = None,
    partitions: Annotated[str | None, typer.Option("--partitions", help="Partitions of its topics.")] = None,
    producers: Annotated[str | None, typer.Option("--producers", help="Producers (Streams: threads) in all.")] = None,
    commit_interval: Annotated[
        str | None, typer.Option("--commit-interval", metavar="DURATION", help="E.g. '100 ms'.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write a workload file; on a terminal it asks for what the options do not say."""
    from eosctl.capacity.template import write_template
    from eosctl.capacity.workload_file import parse_workload

    if path.exists() and not force:
        raise UsageError(f"{path} exists.", "It is not replaced.", "Choose another name, or --force.")
    chosen = kind or ApplicationKind(_ask("Kind (streams, consume-process-produce, producer)", None, "--kind"))
    answers = {
        "cluster.brokers": _ask("Brokers", brokers, "--brokers"),
        "topic.partitions": _ask("Partitions of its topics", partitions, "--partitions"),
        "topic.rate": _ask("Records per second, e.g. 10000/s", rate, "--rate"),
        "topic.value": _ask("Average record, e.g. 1 KiB", value, "--value"),
        "application.producers": _ask("Producers (Streams: threads) in all", producers, "--producers"),
        "application.commit_interval": _ask("Commit interval, e.g. 100 ms", commit_interval, "--commit-interval"),
    }
    text = write_template(path.stem, chosen, answers)
    parse_workload(text, str(path))
    write_file(text, path)
    write_result(f"{path}\nNext\n  $ eosctl capacity plan {path}\n")


def _ask(question: str, given: str | None, option: str) -> str:
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise UsageError(f"{option} is missing.", "Without a terminal there is nobody to ask.", f"Give {option}.")
    answer: str = typer.prompt(question, err=True)
    return answer


def plan_workload(
    context: typer.Context,
    workload: WorkloadFile,
    what_if: Annotated[
        list[str] | None,
        typer.Option("--what-if", metavar="SETTING=A,B,C", help="Plan with other values; repeatable."),
    ] = None,
    sensitivity: Annotated[bool, typer.Option("--sensitivity", help="What a tenth more of each does.")] = False,
    until: Annotated[
        str | None, typer.Option("--until", metavar="YYYY-MM-DD", help="Grow by growth_per_year to this date.")
    ] = None,
    output: PlanOutput = PlanFormat.TABLE,
    output_file: OutputFile = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write an HTML report as well.", rich_help_panel=OUTPUT),
    ] = None,
    static: Annotated[
        bool, typer.Option("--static", help="HTML without scripts: charts as plain SVG.", rich_help_panel=OUTPUT)
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 3 when it does not fit.")] = False,
) -> None:
    """Plan a workload: what it costs, what it needs, where it breaks first."""
    from eosctl.capacity.what_if import parse_what_if
    from eosctl.render.capacity.html import render_plan_html

    invocation = invocation_of(context)
    parameters = [parse_what_if(text) for text in what_if or ()]
    item = _planned(_read(workload), parameters, sensitivity, _date(until), invocation)
    now_ms = invocation.now_ms()
    write_result(_render([item], "capacity plan", output, invocation, static=static), output_file)
    if report is not None:
        write_file(render_plan_html([item], "capacity plan", now_ms, static=static), report)
        note(f"report: {report}")
    if check and item.plan.fits is False:
        raise typer.Exit(DOES_NOT_FIT)


def compare_workloads(
    context: typer.Context,
    one: WorkloadFile,
    other: WorkloadFile,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Put the plans of two workloads side by side."""
    from eosctl.capacity.plan import plan_capacity
    from eosctl.render.capacity.comparison import render_comparison

    invocation = invocation_of(context)
    plans = (plan_capacity(_read(one)), plan_capacity(_read(other)))
    text = render_comparison(*plans, invocation.now_ms(), output, invocation.style())
    write_result(text, output_file)


def _read(path: Path) -> Workload:
    from eosctl.capacity.workload_file import parse_workload

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigFileError(f"Cannot read {path}.", reason, "eosctl capacity init writes one.") from error
    return parse_workload(text, str(path))


def _planned(
    workload: Workload,
    parameters: list[tuple[str, tuple[tuple[str, object], ...]]],
    sensitivity: bool,
    until: date | None,
    invocation: Invocation,
) -> PlanItem:
    from eosctl.capacity.plan import plan_capacity
    from eosctl.capacity.what_if import grow, sense, vary
    from eosctl.render.capacity.plan import PlanItem

    plan = plan_capacity(workload)
    today = datetime.fromtimestamp(invocation.now_ms() / 1000, UTC).date()
    return PlanItem(
        plan,
        tuple(variant for name, values in parameters for variant in vary(workload, name, values)),
        sense(workload, plan) if sensitivity else (),
        grow(workload, today, until) if until is not None else (),
    )


def _date(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--until {text!r} is not a date.", "", "Write it like 2028-06-30.") from None


def _render(items: list[PlanItem], command: str, output: PlanFormat, invocation: Invocation, *, static: bool) -> str:
    if output is PlanFormat.HTML:
        from eosctl.render.capacity.html import render_plan_html

        return render_plan_html(items, command, invocation.now_ms(), static=static)
    from eosctl.render.capacity.plan import render_plan

    return render_plan(items, command, invocation.now_ms(), OutputFormat(output.value), invocation.style())


def calibrate(
    context: typer.Context,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    yes: Annotated[bool, typer.Option("--yes", help="Carry it out; without, only the plan is shown.")] = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Run small loads on a cluster and compare what its logs then hold with what the formulas predict.

    It makes topics of its own, one after the other, writes a few MB in some 1,200 transactions and removes the topics.
    Its transactional ids (and group ids) expire by themselves. Others' transactions at the same time would be counted
    too: choose a quiet cluster. Exit codes: 0 every prediction holds, 1 the cluster cannot be worked
    with, 3 one is off.
    """
    import asyncio

    from eosctl.commands.session import resolve_connection
    from eosctl.render.capacity.calibration import render_calibration, render_trials
    from eosctl.services.connection import Connection

    invocation = invocation_of(context)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    config = resolve_connection(connection).config
    if not yes:
        write_result(render_trials(str(config.bootstrap[0]), invocation.style()))
        return
    rows = asyncio.run(_calibrated(config, invocation))
    text = render_calibration(rows, "capacity calibrate", invocation.now_ms(), output, invocation.style())
    write_result(text, output_file)
    if not all(row.holds for row in rows):
        raise typer.Exit(DOES_NOT_FIT)


async def _calibrated(config: ClientConfig, invocation: Invocation) -> tuple[CalibrationRow, ...]:
    from eosctl.client import connect
    from eosctl.lab.calibration import Bench, find_level, run_trial, trials_for

    rows: list[CalibrationRow] = []
    async with connect(config) as client:
        level = await find_level(client)
        for trial in trials_for(level):
            note(f"trial: {trial.name}")
            rows += await run_trial(Bench(client, invocation.now_ms), trial, level)
    return tuple(rows)


def simulate(
    context: typer.Context,
    workload: WorkloadFile,
    duration_ms: Annotated[
        int, typer.Option("--duration", metavar="DURATION", parser=parse_duration_ms, help="Simulated time.")
    ] = "20s",  # type: ignore[assignment]
    lose_broker_at_ms: Annotated[
        int | None,
        typer.Option("--lose-broker-at", metavar="DURATION", parser=parse_duration_ms, help="Lose one broker then."),
    ] = None,
    failover_ms: Annotated[
        int, typer.Option("--failover", metavar="DURATION", parser=parse_duration_ms, help="Until others serve.")
    ] = "10s",  # type: ignore[assignment]
    appends: Annotated[
        str | None, typer.Option("--appends", metavar="N/s", help="What one broker appends, if the file does not say.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Repeat the same choices.")] = 1,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Simulate commits on virtual time: their latency while brokers queue, and while one of them is lost.

    The same seed gives the same result. Clients' own search for new leaders is not simulated: standstills are a lower
    bound.
    """
    from eosctl.capacity.quantities import QuantityError, parse_rate
    from eosctl.capacity.simulation import ANCHOR_APPENDS_PER_S, simulate_commits
    from eosctl.model.capacity_simulation import SimulationSettings
    from eosctl.render.capacity.simulation import render_simulation

    invocation = invocation_of(context)
    described = _read(workload)
    try:
        stated = parse_rate(appends) if appends is not None else described.cluster.appends_per_s
    except QuantityError as error:
        raise UsageError(f"--appends: {error}.", "", "Correct the value.") from None
    if stated == 0:
        raise UsageError("--appends: a broker that appends nothing carries no load.", "", "Correct the value.")
    if lose_broker_at_ms is not None and lose_broker_at_ms >= duration_ms:
        raise UsageError(
            f"--lose-broker-at {lose_broker_at_ms / 1000:g}s is outside the {duration_ms / 1000:g}s simulated.",
            "The broker would never be lost.",
            "Lengthen --duration, or lose it earlier.",
        )
    if not stated:
        note(f"assumed: a broker does {ANCHOR_APPENDS_PER_S:,.0f} appends/s, as one of two cores was measured to")
    settings = SimulationSettings(duration_ms, lose_broker_at_ms, failover_ms, stated or ANCHOR_APPENDS_PER_S)
    report = simulate_commits(described, settings, seed)
    write_result(render_simulation(report, invocation.now_ms(), output, invocation.style()), output_file)
