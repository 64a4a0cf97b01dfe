"""``eosctl check``: the catalogue, the manuals, and selected checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.check.acl import acl
from eosctl.commands.doctor.doctor import HtmlReport, Request, SaveSnapshot, present
from eosctl.commands.gate import (
    BaselineFile,
    ExitZero,
    FailOnOrRules,
    GateOptions,
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
    Output,
    OutputFile,
    Overrides,
    Profile,
    SecondLookAfter,
    SnapshotFile,
    Timeout,
)
from eosctl.commands.session import load_or_capture
from eosctl.errors import UsageError, unknown_name
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.checks.declaration import Check

app = typer.Typer(help="The catalogue of checks.", no_args_is_help=True)

Selectors = Annotated[
    list[str] | None, typer.Argument(metavar="[ID|NAME|AREA|TAG]...", help="What to choose; everything when left out.")
]


@app.command("list")
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

    invocation = invocation_of(context)
    items = tuple(check_item(check) for check in sorted(_select(selectors, catalogue=True), key=lambda check: check.id))
    result = listing("checks", "check list", invocation.now_ms(), items)
    write_result(render_listing(result, CHECK_COLUMNS, output, invocation.style()), output_file)


@app.command("explain")
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


@app.command("run")
def run_checks(
    context: typer.Context,
    selectors: Selectors = None,
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,  # type: ignore[assignment]
    snapshot: SnapshotFile = None,
    save_snapshot: SaveSnapshot = None,
    output: FindingOutput = FindingFormat.TABLE,
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
    invocation = invocation_of(context)
    checks = _select(selectors)
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    kinds = frozenset().union(*(check.needs | check.uses for check in checks))
    evidence = load_or_capture(
        connection, snapshot, kinds, now_ms=invocation.now_ms, second_look_after_ms=second_look_after
    )
    gate = GateOptions(fail_on, exit_zero, require_complete, min_score, baseline, write_baseline, rules)
    request = Request("check run", output, output_file, report, save_snapshot, gate)
    raise typer.Exit(present(evidence, checks, request, invocation))


app.command()(acl)


def _select(selectors: list[str] | None, *, catalogue: bool = False) -> tuple[Check, ...]:
    """Choose among the checks of a cluster, or of the whole catalogue."""
    from eosctl.checks.registry import ALL_CHECKS, CATALOGUE, find_check, names_of, select_checks

    try:
        return select_checks(selectors or (), CATALOGUE if catalogue else ALL_CHECKS)
    except LookupError as error:
        selector = str(error.args[0])
        named = find_check(selector)
        if not catalogue and named is not None and named.is_about_configuration:
            raise UsageError(
                f"{selector} judges configuration files, not a cluster.",
                "",
                "Run: eosctl config lint PATH; with --with-cluster the brokers are judged too.",
            ) from error
        among = CATALOGUE if catalogue else ALL_CHECKS
        names = {*names_of(among), *(name for check in among for name in (check.area.value, *check.tags))}
        raise unknown_name("check, area or tag", selector, names, "List them: eosctl check list") from error
