"""``eosctl check``: the catalogue, the manuals, and selected checks."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.diagnosis_output import Destinations, HtmlReport, SaveSnapshot, write_diagnosis
from eosctl.commands.gate import (
    BaselineFile,
    ExitZero,
    FailOnOrRules,
    MinScore,
    RequireComplete,
    RulesFile,
    WriteBaseline,
)
from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    Bootstrap,
    CommandConfig,
    FindingOutput,
    Header,
    Output,
    OutputFile,
    Overrides,
    Profile,
    SecondLookAfter,
    SnapshotFile,
    Timeout,
)
from eosctl.commands.session import callbacks
from eosctl.errors import unknown_name
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.services.connection import Connection

Selectors = Annotated[
    list[str] | None, typer.Argument(metavar="[ID|NAME|AREA|TAG]...", help="What to choose; everything when left out.")
]


def list_checks(
    context: typer.Context,
    selectors: Selectors = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """List the checks: id, name, severity, what they find, what evidence they need."""
    from eosctl.render.diagnosis.catalogue import CHECK_COLUMNS, check_item
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.services.check_selection import choose_checks

    invocation = invocation_of(context)
    chosen = sorted(choose_checks(selectors or (), of_files=True), key=lambda check: check.id)
    items = tuple(check_item(check) for check in chosen)
    result = listing("checks", "check list", invocation.now_ms(), items)
    write_result(render_listing(result, CHECK_COLUMNS, output, invocation.style()), output_file)


def explain_check(
    context: typer.Context,
    check_id: Annotated[
        str, typer.Argument(metavar="ID|NAME", help="The check, e.g. EOS-TXN-001 or hanging-transaction.")
    ],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show a check's manual: what it looks at, why it matters, how to fix and how to verify."""
    from eosctl.checks.registry import CATALOGUE, find_check, names_of
    from eosctl.render.diagnosis.catalogue import manual_item, render_manual
    from eosctl.render.machine import render_json, render_tsv, render_yaml

    found = find_check(check_id)
    if found is None:
        raise unknown_name("check", check_id, names_of(CATALOGUE), "List them: eosctl check list")
    match output:
        case OutputFormat.JSON:
            text = render_json(manual_item(found))
        case OutputFormat.YAML:
            text = render_yaml(manual_item(found))
        case OutputFormat.TSV:
            text = render_tsv(manual_item(found).sections.items())
        case _:
            text = render_manual(found, invocation_of(context).style())
    write_result(text, output_file)


def run_checks(
    context: typer.Context,
    selectors: Selectors = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    snapshot: SnapshotFile = None,
    save_snapshot: SaveSnapshot = None,
    output: FindingOutput = FindingFormat.TABLE,
    header: Header = None,
    output_file: OutputFile = None,
    report: HtmlReport = None,
    fail_on: FailOnOrRules = None,
    exit_zero: ExitZero = False,
    require_complete: RequireComplete = False,
    min_score: MinScore = None,
    baseline: BaselineFile = None,
    write_baseline: WriteBaseline = None,
    rules: RulesFile = None,
) -> None:
    """Run selected checks; only the evidence that they need is collected."""
    from eosctl.services.diagnose import DiagnoseRequest, diagnose
    from eosctl.services.gate_options import GateOptions

    invocation = invocation_of(context)
    request = DiagnoseRequest(
        Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout),
        snapshot,
        checks=tuple(selectors or ()),
        second_look_after_ms=second_look_after,
        save_snapshot=save_snapshot,
        gate=GateOptions(fail_on, exit_zero, require_complete, min_score, baseline, rules),
        command="check run",
    )
    with callbacks(invocation.now_ms) as shown:
        diagnosed = diagnose(request, shown)
    write_diagnosis(diagnosed, Destinations(output, output_file, report, write_baseline, header), invocation)
    raise typer.Exit(diagnosed.exit_code)
