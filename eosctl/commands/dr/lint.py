"""``eosctl dr``: what survives when a region is lost."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit_list
from eosctl.commands.options import ResultOptions
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.page import render_page
from eosctl.render.runbooks.recovery import CARRIED_COLUMNS, carried_blocks, carried_item, finding_item
from eosctl.services.lint_mirrors import lint_mirrors


def lint(
    invocation: Invocation,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders of mirrors.", exists=True)],
    result: ResultOptions,
) -> None:
    """Check a mirror between two clusters.

    Reports what the mirror carries over, what it does not, and which settings are wrong. Reads mm2.properties,
    MirrorMaker's connectors, and the settings of cluster links. To rehearse the failover: eosctl runbook test
    region-failover. Exit codes: 2 a file is malformed or contains no mirror, 3 findings.

    Examples:
        eosctl dr lint mm2.properties
        eosctl dr lint connectors/ -o json
    """
    linted = perform(lint_mirrors, paths, invocation)
    items = (*map(carried_item, linted.carried), *map(finding_item, linted.findings))
    is_wrong = any(item.fate == "wrong" for item in items)
    code = ExitCode.BAD_INPUT if linted.unreadable else ExitCode.FINDINGS if is_wrong else ExitCode.DONE
    page = partial(render_page, carried_blocks(items))
    emit_list(("dr-lint", "dr lint"), items, CARRIED_COLUMNS, result, invocation, page=page, code=code)
