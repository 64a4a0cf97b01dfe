"""``eosctl config upgrade`` and ``config fix``: change configurations for a new release, or because of findings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.emit import emit
from eosctl.commands.invocation import Invocation
from eosctl.commands.options import ResultOptions
from eosctl.commands.session import perform
from eosctl.render.configuration.change import render_fixes, render_upgrade
from eosctl.services.change_configuration import (
    FixRequest,
    UpgradeRequest,
    fix_configuration,
    plan_configuration_upgrade,
)

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders.", exists=True)]


def upgrade(
    invocation: Invocation,
    paths: Paths,
    old: Annotated[str, typer.Option("--from", metavar="VERSION", help="The release that runs now, e.g. 3.9.")],
    new: Annotated[str, typer.Option("--to", metavar="VERSION", help="The release to come, e.g. 4.3.")],
    result: ResultOptions,
) -> None:
    """Show what an upgrade changes for configurations: removed, renamed and refused settings, defaults, steps.

    Exit code: 0 when no setting is refused or loses its effect, 2 when a file is malformed, 3 when one is.
    """
    changes, exit_code = perform(plan_configuration_upgrade, UpgradeRequest(tuple(paths), old, new), invocation)
    text = render_upgrade(changes, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, code=exit_code)


def fix(
    invocation: Invocation,
    paths: Paths,
    kafka_version: Annotated[
        str | None,
        typer.Option("--kafka-version", metavar="VERSION", help="The release whose rules hold; else the newest."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write the files; without it the patch is shown.")] = False,
    *,
    result: ResultOptions,
) -> None:
    """Fix what leaves no choice, and show the patch first; comments and order are kept.

    Only findings with one right answer are fixed, until nothing changes any more, and the result is judged again. Each
    edit changes one line and holds only if the file then means exactly what was wanted. Exit code: 0 when there is
    nothing to fix or with --yes, 3 when there is, or when errors are left in a file that was written.
    """
    fixed = perform(fix_configuration, FixRequest(tuple(paths), kafka_version, yes), invocation)
    edits = (fixed.repairs, fixed.before, fixed.after)
    text = render_fixes(*edits, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, code=fixed.exit_code)
