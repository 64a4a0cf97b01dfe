"""``eosctl config upgrade`` and ``config fix``: change configurations for a new release, or because of findings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit
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
    old: Annotated[str, typer.Option("--from-version", metavar="VERSION", help="Current release, e.g. 3.9.")],
    new: Annotated[str, typer.Option("--to-version", metavar="VERSION", help="Target release, e.g. 4.3.")],
    result: ResultOptions,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH]...", help="Files, folders.", exists=True)
    ] = None,
) -> None:
    """Show what another release changes for configurations.

    Lists removed, renamed, and rejected settings, defaults, and steps of an upgrade or a downgrade; no file is needed.
    Exit codes: 0 no setting is rejected or loses its effect, 2 a file is malformed, 3 one is rejected or loses effect.

    Examples:
        eosctl config upgrade conf/ --from-version 3.9 --to-version 4.3
        eosctl config upgrade --from-version 4.2 --to-version 4.0 -o json
    """
    changes, exit_code = perform(plan_configuration_upgrade, UpgradeRequest(tuple(paths or ()), old, new), invocation)
    text = render_upgrade(changes, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, code=exit_code)


def fix(
    invocation: Invocation,
    paths: Paths,
    kafka_version: Annotated[
        str | None,
        typer.Option(
            "--kafka-version", metavar="VERSION", help="Kafka release that provides the rules; the newest by default."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write the files; else only the patch is shown.")] = False,
    *,
    result: ResultOptions,
) -> None:
    """Fix configuration files, or show the patch.

    Only findings with exactly one correct fix are changed. Comments and the order of settings are kept, and the result
    is checked again. Exit codes: 0 nothing to fix, or the files were written; 3 fixes are available, or errors remain.

    Examples:
        eosctl config fix conf/
        eosctl config fix app.properties --yes
    """
    fixed = perform(fix_configuration, FixRequest(tuple(paths), kafka_version, yes), invocation)
    edits = (fixed.repairs, fixed.before, fixed.after)
    text = render_fixes(*edits, invocation.now_ms(), result.output, invocation.style())
    emit(text, result, code=fixed.exit_code)
