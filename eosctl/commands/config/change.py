"""``eosctl config upgrade`` and ``config fix``: change configurations for a new release, or because of findings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.config.releases import release_of
from eosctl.commands.invocation import invocation_of, note, tell, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import ConfigFileError, EosctlError, ExitCode, UsageError
from eosctl.model.severity import Severity
from eosctl.render.formats import OutputFormat

if TYPE_CHECKING:
    from eosctl.checks.configuration.repairs import Repair

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders.", exists=True)]


def upgrade(
    context: typer.Context,
    paths: Paths,
    old: Annotated[str, typer.Option("--from", metavar="VERSION", help="The release that runs now, e.g. 3.9.")],
    new: Annotated[str, typer.Option("--to", metavar="VERSION", help="The release to come, e.g. 4.3.")],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Show what an upgrade changes for configurations: removed, renamed and refused settings, defaults, steps.

    Exit code: 0 when no setting is refused or loses its effect, 2 when a file is malformed, 3 when one is.
    """
    from eosctl.checks.upgrade_plan import plan_upgrade
    from eosctl.knowledge.upgrades import load_upgrade_knowledge
    from eosctl.render.configuration.change import UPGRADE_COLUMNS, upgrade_item
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.settings.deployment_files import read_deployment
    from eosctl.settings.sources import Releases

    invocation = invocation_of(context)
    before, after = release_of(old), release_of(new)
    if before >= after:
        raise UsageError(f"{old} is not before {new}.", "An upgrade goes to a later release.", "Swap --from and --to.")
    sides = [read_deployment(paths, releases=Releases(release)) for release in (before, after)]
    changes = plan_upgrade(sides[0].deployment, sides[1].deployment, load_upgrade_knowledge())
    items = tuple(upgrade_item(change) for change in changes)
    result = listing("config-upgrade", "config upgrade", invocation.now_ms(), items)
    text = render_listing(
        result, UPGRADE_COLUMNS, output, invocation.style(), empty="The upgrade changes nothing here."
    )
    write_result(text, output_file)
    for broken in sides[0].unreadable:
        tell(broken.error)
    if sides[0].unreadable:
        raise typer.Exit(ExitCode.BAD_INPUT)
    if any(change.severity.at_least(Severity.WARNING) for change in changes):
        raise typer.Exit(ExitCode.FINDINGS)


def fix(
    context: typer.Context,
    paths: Paths,
    kafka_version: Annotated[
        str | None,
        typer.Option("--kafka-version", metavar="VERSION", help="The release whose rules hold; else the newest."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write the files; without it the patch is shown.")] = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Mend what leaves no choice, and show the patch first; comments and order are kept.

    Only findings with one right answer are mended. Each edit changes one line and holds only if the file then means
    exactly what was wanted. Exit code: 0 when there is nothing to mend or with --yes, 3 when there is.
    """
    from eosctl.checks.configuration.repairs import plan_repairs
    from eosctl.checks.judge import findings_of, judge
    from eosctl.render.configuration.change import REPAIR_COLUMNS, render_patch, repair_item
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.settings.deployment_files import read_deployment
    from eosctl.settings.sources import Releases

    invocation = invocation_of(context)
    files = read_deployment(paths, releases=Releases(None if kafka_version is None else release_of(kafka_version)))
    repairs = plan_repairs(findings_of(judge(files.deployment)))
    texts = {repair.file: _text(repair.file) for repair in repairs}
    mended = dict(texts)
    items = []
    # From the bottom up: a removed line moves those below it.
    for repair in reversed(repairs):
        mended[repair.file], obstacle = _mend(mended[repair.file], repair)
        items.append(repair_item(repair, obstacle))
    result = listing("config-fix", "config fix", invocation.now_ms(), tuple(reversed(items)))
    shown = render_listing(
        result, REPAIR_COLUMNS, output, invocation.style(), empty="Nothing can be mended without a choice."
    )
    patches = [render_patch(name, texts[name], mended[name]) for name in texts]
    people = output in (OutputFormat.TABLE, OutputFormat.WIDE)
    write_result("\n".join([shown, *(p for p in patches if p)]) if people else shown, output_file)
    changed = [name for name in texts if mended[name] != texts[name]]
    for broken in files.unreadable:
        tell(broken.error)
    if yes:
        for name in changed:
            _replace(Path(name), mended[name])
            note(f"{name}: mended.")
    if files.unreadable:
        raise typer.Exit(ExitCode.BAD_INPUT)
    if changed and not yes:
        note("Nothing was written. --yes writes the files.")
        raise typer.Exit(ExitCode.FINDINGS)


def _text(file: str) -> str:
    try:
        return Path(file).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigFileError(f"{file}: not UTF-8.", "Only UTF-8 files are edited.", "Edit it by hand.") from error


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all, behind a link and with the permissions that it had."""
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.eosctl")
    try:
        mode = target.stat().st_mode & 0o777
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(text.encode())
        temporary.replace(target)
    except OSError as error:
        raise EosctlError(f"Cannot write {path}.", error.strerror or str(error), "Check its permissions.") from error


def _mend(text: str, repair: Repair) -> tuple[str, str]:
    """Return the edited text, or the text as it was and what stood against the edit."""
    from eosctl.checks.configuration.repairs import Action
    from eosctl.settings.editing import EditError, remove_key, rename_key, set_value

    try:
        match repair.action:
            case Action.SET:
                return set_value(repair.file, text, repair.line, repair.key, repair.text), ""
            case Action.RENAME:
                return rename_key(repair.file, text, repair.line, repair.key, repair.text), ""
            case Action.REMOVE:
                return remove_key(repair.file, text, repair.line, repair.key), ""
    except EditError as error:
        return text, str(error)
