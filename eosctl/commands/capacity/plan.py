"""``eosctl capacity plan`` and ``compare``: plans for transactional workloads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, note, remember_output, write_file, write_result
from eosctl.commands.emit import emit
from eosctl.commands.options import OutputFile, ResultOptions, output_option
from eosctl.commands.session import perform
from eosctl.render.capacity.comparison import render_comparison
from eosctl.render.capacity.html import render_plan_html
from eosctl.render.capacity.plan import PlanFormat, render_plan
from eosctl.services.plan_capacity import PlanRequest, exit_code_of, plan_both
from eosctl.services.plan_capacity import plan_workload as plan_of

WorkloadFile = Annotated[Path, typer.Argument(metavar="WORKLOAD", help="Workload file, see capacity init.")]
PlanOutput = Annotated[
    PlanFormat, output_option("--output", "-o", callback=remember_output, help="Format of the result.")
]


def plan_workload(
    invocation: Invocation,
    workload: WorkloadFile,
    what_if: Annotated[
        list[str] | None,
        typer.Option("--what-if", metavar="KEY=A,B,C", help="Alternative values of any key of the file; repeatable."),
    ] = None,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Halve and double each input, and rank them by effect.")
    ] = False,
    until: Annotated[
        str | None, typer.Option("--until", metavar="YYYY-MM-DD", help="Date to extrapolate to, with growth_per_year.")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option("--prices", metavar="FILE", help="Price list for the costs of a month.")
    ] = None,
    output: PlanOutput = PlanFormat.TABLE,
    output_file: OutputFile = None,
    report: Annotated[
        Path | None, output_option("--report", metavar="FILE", help="HTML report to write as well.")
    ] = None,
    static: Annotated[bool, output_option("--static", help="Render HTML without scripts, with charts as SVG.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 3 if it does not fit, 4 if unknown.")] = False,
) -> None:
    """Plan the capacity of a workload.

    Shows the cost of transactions, the required hardware, and the first bottleneck.

    Examples:
        eosctl capacity plan workload.yaml
        eosctl capacity plan workload.yaml --what-if commit.interval.ms=100,500,1000
        eosctl capacity plan workload.yaml --until 2028-01-01 --prices examples/prices.yaml -o markdown
    """
    item = perform(plan_of, PlanRequest(workload, tuple(what_if or ()), sensitivity, until, prices), invocation)
    now_ms, command = invocation.now_ms(), "capacity plan"
    if output is PlanFormat.HTML:
        text = render_plan_html([item], command, now_ms, static=static)
    else:
        text = render_plan([item], command, now_ms, output, invocation.style())
    write_result(text, output_file)
    if report is not None:
        write_file(render_plan_html([item], command, now_ms, static=static), report)
        note(f"report: {report}")
    if check:
        raise typer.Exit(exit_code_of(item))


def compare_workloads(invocation: Invocation, one: WorkloadFile, other: WorkloadFile, result: ResultOptions) -> None:
    """Compare the capacity plans of two workloads.

    Examples:
        eosctl capacity compare today.yaml tomorrow.yaml
        eosctl capacity compare today.yaml tomorrow.yaml -o json
    """
    plans = perform(lambda paths, shown: plan_both(*paths, shown), (one, other), invocation)
    text = render_comparison(*plans, invocation.now_ms(), result.output, invocation.style())
    emit(text, result)
