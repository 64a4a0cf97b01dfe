"""``eosctl runbook lint``: find what is wrong with runbooks."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.diagnosis_output import FindingResultOptions, write_judged
from eosctl.commands.gate import WarningGate
from eosctl.commands.session import callbacks
from eosctl.render.runbooks.lint import render_runbook_lint
from eosctl.services.lint_runbooks import lint_runbooks


def lint(
    invocation: Invocation,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="RUNBOOK...", help="Runbook ids or files; all runbooks by default.")
    ] = None,
    *,
    result: FindingResultOptions,
    gate: WarningGate,
) -> None:
    """Check runbooks for mistakes.

    Finds unknown probes and facts, unreachable or dangling steps, unconfirmed changes, and procedures that are known to
    destroy data. Exit codes: 0 no finding at or above --fail-on, 2 bad input, 3 findings.

    Examples:
        eosctl runbook lint
        eosctl runbook lint own-runbook.yaml
    """
    with callbacks(invocation.now_ms) as shown:
        linted = lint_runbooks(tuple(names or ()), gate, shown)
    text = render_runbook_lint(linted.names, linted.judged, result.output, invocation.style(), result.header)
    write_judged(linted.judged, text, result)
