"""Plan what an upgrade changes for configuration files, and fix findings that have one right answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from eosctl.checks.configuration.repairs import Action, Repair, plan_repairs
from eosctl.checks.judge import findings_of, judge
from eosctl.checks.upgrade_plan import UpgradeChange, plan_upgrade
from eosctl.errors import ConfigFileError, EosctlError, ExitCode, UsageError
from eosctl.knowledge.upgrades import load_upgrade_knowledge
from eosctl.model.severity import Severity
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.releases import release_if_named, release_of
from eosctl.settings.deployment_files import read_deployment
from eosctl.settings.editing import EditError, remove_key, rename_key, set_value
from eosctl.settings.sources import Releases
from eosctl.whole_file import whole_file


class UpgradeRequest(msgspec.Struct, frozen=True):
    """The files, and the releases before and after."""

    paths: tuple[Path, ...]
    before: str
    after: str


class UpgradePlan(NamedTuple):
    """What the upgrade changes, and the exit code."""

    changes: tuple[UpgradeChange, ...]
    exit_code: ExitCode


class FixRequest(msgspec.Struct, frozen=True):
    """The files to fix.

    Attributes:
        paths: Configuration files, and folders of them.
        kafka_version: The release whose rules hold; None for the newest.
        write: Whether the files are written.
    """

    paths: tuple[Path, ...]
    kafka_version: str | None = None
    write: bool = False


class Fixed(NamedTuple):
    """The result of fixing files.

    Attributes:
        repairs: Each repair, with what prevents it; empty if nothing does.
        before: The text of each file with repairs, by its name.
        after: The same with the repairs made.
        exit_code: 2 when a file cannot be read, 3 when files differ and were not written, else 0.
    """

    repairs: tuple[tuple[Repair, str], ...]
    before: Mapping[str, str]
    after: Mapping[str, str]
    exit_code: ExitCode


def plan_configuration_upgrade(request: UpgradeRequest, callbacks: Callbacks = SILENT) -> UpgradePlan:
    """Return what an upgrade changes for configuration files.

    Raises:
        UsageError: The releases are not releases, or not in order.
    """
    before, after = release_of(request.before, callbacks.remark), release_of(request.after, callbacks.remark)
    if before >= after:
        raise UsageError(
            f"{request.before} is not before {request.after}.",
            "An upgrade goes to a later release.",
            "Swap --from and --to.",
        )
    sides = [read_deployment(request.paths, releases=Releases(release)) for release in (before, after)]
    changes = tuple(plan_upgrade(sides[0].deployment, sides[1].deployment, load_upgrade_knowledge()))
    for broken in sides[0].unreadable:
        callbacks.report_error(broken.error)
    if sides[0].unreadable:
        return UpgradePlan(changes, ExitCode.BAD_INPUT)
    is_severe = any(change.severity.at_least(Severity.WARNING) for change in changes)
    return UpgradePlan(changes, ExitCode.FINDINGS if is_severe else ExitCode.DONE)


def fix_configuration(request: FixRequest, callbacks: Callbacks = SILENT) -> Fixed:
    """Make the repairs that leave no choice; each changes one line, and comments and order are kept.

    Raises:
        UsageError: The release is not one.
        ConfigFileError: A file is not UTF-8.
        EosctlError: A file cannot be written.
    """
    releases = Releases(release_if_named(request.kafka_version, callbacks.remark))
    files = read_deployment(request.paths, releases=releases)
    planned = plan_repairs(findings_of(judge(files.deployment)))
    before = {repair.file: _text(repair.file) for repair in planned}
    after = dict(before)
    repairs: list[tuple[Repair, str]] = []
    # From the bottom up: a removed line moves those below it.
    for repair in reversed(planned):
        after[repair.file], obstacle = _edited(after[repair.file], repair)
        repairs.append((repair, obstacle))
    changed = [name for name in before if after[name] != before[name]]
    for broken in files.unreadable:
        callbacks.report_error(broken.error)
    if request.write:
        for name in changed:
            _write(Path(name), after[name])
            callbacks.remark(f"{name}: mended.")
    elif changed and not files.unreadable:
        callbacks.remark("Nothing was written. --yes writes the files.")
    is_open = bool(changed) and not request.write
    code = ExitCode.BAD_INPUT if files.unreadable else ExitCode.FINDINGS if is_open else ExitCode.DONE
    return Fixed(tuple(reversed(repairs)), before, after, code)


def _text(file: str) -> str:
    try:
        return Path(file).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigFileError(f"{file}: not UTF-8.", "Only UTF-8 files are edited.", "Edit it by hand.") from error


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all, behind a link and with the permissions that it had."""
    try:
        with whole_file(path.resolve(), is_private=False) as file:
            file.write(text.encode())
    except OSError as error:
        raise EosctlError(f"Cannot write {path}.", error.strerror or str(error), "Check its permissions.") from error


def _edited(text: str, repair: Repair) -> tuple[str, str]:
    """Return the edited text, or the text as it was and what prevents the edit."""
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
