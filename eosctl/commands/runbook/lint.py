"""``eosctl runbook lint``: find what is wrong with runbooks."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.diagnosis_output import FindingResultOptions, write_judged
from eosctl.commands.gate import GateAtWarning
from eosctl.commands.invocation import Invocation
from eosctl.commands.session import callbacks
from eosctl.render.runbooks.lint import render_runbook_lint
from eosctl.services.lint_runbooks import lint_runbooks


def lint(
    invocation: Invocation,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="RUNBOOK...", help="Ids or files; the whole library without any.")
    ] = None,
    *,
    result: FindingResultOptions,
    gate: GateAtWarning,
) -> None:
    """Find flaws of runbooks: unknown probes and facts, steps that lead nowhere, and unconfirmed changes.

    Steps with procedures that are known to destroy data are findings too, with the safe procedure. Exit codes: 0 no
    finding at or above --fail-on (a warning, unless named), 2 usage or a malformed file, 3 findings, 4 with
    --require-complete when flaws keep steps or paths from being judged.
    """
    with callbacks(invocation.now_ms) as shown:
        linted = lint_runbooks(tuple(names or ()), gate.options, shown)
    text = render_runbook_lint(linted.names, linted.judged, result.output, invocation.style(), result.header)
    write_judged(linted.judged, text, result)
