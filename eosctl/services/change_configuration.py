"""Plan what another release changes for configuration files, and fix findings that have one right answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from eosctl.checks.configuration.repairs import plan_repairs
from eosctl.checks.judge import judge
from eosctl.checks.upgrade_plan import plan_release_change, plan_upgrade
from eosctl.errors import ConfigFileError, EosctlError, ExitCode, UsageError, write_failed
from eosctl.findings.finding import Finding
from eosctl.findings.linted import findings_of
from eosctl.findings.repair import Repair, RepairAction
from eosctl.input_file import read_input
from eosctl.knowledge.parameter_tables import kafka_tables
from eosctl.knowledge.upgrades import knowledge_between
from eosctl.model.severity import Severity
from eosctl.model.upgrade import UpgradeChange
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.releases import release_if_named, release_of
from eosctl.settings.deployment.deployment_files import read_deployment
from eosctl.settings.files.editing import EditError, remove_key, rename_key, set_value
from eosctl.settings.files.files_read import FilesRead
from eosctl.settings.files.inline_suppressions import accepted_in
from eosctl.settings.values.sources import Releases
from eosctl.whole_file import whole_file

MAX_ROUNDS: Final = 10
"""One repair may show the next: a producer that gets idempotence has acks of its own to be wrong."""
_SPOILED: Final = "The result would have another error."
_NOT_UTF_8: Final = "Only UTF-8 files are edited."


class UpgradeRequest(msgspec.Struct, frozen=True):
    """The files (none: what the releases differ in), and the releases before and after."""

    paths: tuple[Path, ...]
    before: str
    after: str


class UpgradePlan(NamedTuple):
    """What the other release changes, and the exit code."""

    changes: tuple[UpgradeChange, ...]
    exit_code: ExitCode


class FixRequest(msgspec.Struct, frozen=True):
    """The files to fix.

    Attributes:
        paths: Configuration files, and folders of them.
        kafka_version: The release whose rules hold; None for the newest.
        write: Whether the files are written.
        texts: Texts that replace the contents of files, by path: what an editor has not saved.
        only: The check and the line of the one repair to make; None for all repairs, and those that follow from them.
    """

    paths: tuple[Path, ...]
    kafka_version: str | None = None
    write: bool = False
    texts: Mapping[str, str] = {}
    only: tuple[str, int] | None = None


class Fixed(NamedTuple):
    """The result of fixing files.

    Attributes:
        repairs: Each repair, with what prevents it; empty if nothing does. Rounds, then files and lines, order them.
        before: The text of each file with repairs, by its name.
        after: The same with the repairs made; a file whose repairs would cause another error keeps its text.
        left: What the rules find afterwards: errors in any file, and warnings in the changed ones.
        exit_code: 2 when a file cannot be read, 3 when files differ and were not written or errors are left, else 0.
    """

    repairs: tuple[tuple[Repair, str], ...]
    before: Mapping[str, str]
    after: Mapping[str, str]
    left: tuple[Finding, ...]
    exit_code: ExitCode


def plan_configuration_upgrade(request: UpgradeRequest, callbacks: Callbacks = SILENT) -> UpgradePlan:
    """Return what another release, later or earlier, changes for configuration files; for every one if none is named.

    Raises:
        UsageError: The releases are not releases, or of one branch.
        ConfigFileError: No setting of Kafka was recognized.
    """
    before, after = release_of(request.before, callbacks.remark), release_of(request.after, callbacks.remark)
    if before == after:
        raise UsageError(
            f"{request.before} and {request.after} are of one branch.",
            "Settings and defaults are those of a branch.",
            "Name another release with --to-version; eosctl bugs lists what a patch release fixes.",
        )
    knowledge = knowledge_between(before, after)
    if not request.paths:
        callbacks.remark("note: no file was named, so no setting was judged: this is what the releases differ in.")
        return UpgradePlan(plan_release_change(before, after, kafka_tables(), knowledge), ExitCode.DONE)
    sides = [read_deployment(request.paths, releases=Releases(release)) for release in (before, after)]
    changes = plan_upgrade(sides[0].deployment, sides[1].deployment, knowledge)
    _report_gaps(sides[0], callbacks)
    if sides[0].unreadable:
        return UpgradePlan(changes, ExitCode.BAD_INPUT)
    is_severe = any(change.severity.at_least(Severity.WARNING) for change in changes)
    return UpgradePlan(changes, ExitCode.FINDINGS if is_severe else ExitCode.DONE)


def fix_configuration(request: FixRequest, callbacks: Callbacks = SILENT) -> Fixed:
    """Make the repairs that leave no choice until nothing changes, and judge the result before anything is written.

    Each repair changes one line; comments and order are kept.

    Raises:
        UsageError: The release is not one.
        ConfigFileError: No setting of Kafka was recognized.
        EosctlError: A file cannot be written; the others are.
    """
    releases = Releases(release_if_named(request.kafka_version, callbacks.remark))
    before: dict[str, str] = {}
    after = dict(request.texts)
    repairs: list[tuple[Repair, str]] = []
    unread: dict[str, ConfigFileError] = {}
    files = read_deployment(request.paths, releases=releases, texts=after)
    known = _errors(files)
    for _ in range(MAX_ROUNDS if request.only is None else 1):
        tried = {(one.file, one.key, one.action) for one, _ in repairs}
        accepted = accepted_in(files.marked, after)
        planned = plan_repairs(
            one for one in findings_of(judge(files.deployment)) if (one.check_id, _place(one)) not in accepted
        )
        todo = [
            one
            for one in planned
            if (one.file, one.key, one.action) not in tried and request.only in (None, (one.check_id, one.line))
        ]
        if not todo:
            break
        for file in {one.file for one in todo} - before.keys() - unread.keys():
            try:
                before[file] = after[file] = request.texts[file] if file in request.texts else _text(file)
            except ConfigFileError as error:
                unread[file] = error
        # From the bottom up: a removed line moves those below it.
        done: list[tuple[Repair, str]] = []
        for repair in reversed(todo):
            if repair.file in unread:
                done.append((repair, _NOT_UTF_8))
                continue
            after[repair.file], obstacle = _edited(after[repair.file], repair)
            done.append((repair, obstacle))
        repairs += reversed(done)
        files = read_deployment(request.paths, releases=releases, texts=after)
    spoiled = {file for check, file, keys in _errors(files) if (check, file, keys) not in known} & after.keys()
    if spoiled:
        after |= {file: before[file] for file in spoiled}
        repairs = [(one, text or (_SPOILED if one.file in spoiled else "")) for one, text in repairs]
        files = read_deployment(request.paths, releases=releases, texts=after)
    changed = [name for name in before if after[name] != before[name]]
    left = tuple(
        finding
        for finding in findings_of(judge(files.deployment))
        if finding.severity.at_least(Severity.WARNING)
        and (_file(finding) in changed or finding.severity.at_least(Severity.ERROR))
        and (finding.check_id, _place(finding)) not in accepted_in(files.marked, after)
    )
    for refused in unread.values():
        callbacks.report_error(refused)
    _report_gaps(files, callbacks)
    _conclude(request, {name: before[name] for name in changed}, after, left, callbacks)
    has_errors = any(finding.severity.at_least(Severity.ERROR) for finding in left)
    is_open = has_errors or (bool(changed) and not request.write)
    code = ExitCode.BAD_INPUT if files.unreadable or unread else ExitCode.FINDINGS if is_open else ExitCode.DONE
    return Fixed(tuple(repairs), before, after, left, code)


def _report_gaps(files: FilesRead, callbacks: Callbacks) -> None:
    """Report files that were not read or not understood, and raise an error where that is all of them."""
    for broken in files.unreadable:
        callbacks.report_error(broken.error)
    for file in files.not_understood:
        callbacks.remark(f"{file} is about Kafka and was not understood; nothing covers it.")
    for one in files.unseen:
        callbacks.remark(f"{one}: no rule has judged it.")
    files.require_settings()


def _conclude(
    request: FixRequest,
    changed: Mapping[str, str],
    after: Mapping[str, str],
    left: tuple[Finding, ...],
    callbacks: Callbacks,
) -> None:
    """Write the files where that was asked for, and remark what is left to do by hand."""
    failed: list[EosctlError] = []
    if request.write:
        for name in changed:
            try:
                _write(Path(name), changed[name], after[name])
            except EosctlError as error:
                failed.append(error)
            else:
                callbacks.remark(f"{name}: fixed.")
    elif changed:
        callbacks.remark("Nothing was written. --yes writes the files.")
    for finding in left:
        callbacks.remark(f"left: {_place(finding)}: {finding.severity.value}: {finding.message} [{finding.check_id}]")
    for another in failed[1:]:
        callbacks.report_error(another)
    if failed:
        raise failed[0]


def _errors(files: FilesRead) -> set[tuple[str, str, str]]:
    """Return the findings at error level by check, file, and settings: lines move with the repairs."""
    found = (finding for finding in findings_of(judge(files.deployment)) if finding.severity.at_least(Severity.ERROR))
    return {(one.check_id, _file(one), str(dict(one.facts)["keys"])) for one in found}


def _place(finding: Finding) -> str:
    return f"{_file(finding)}:{dict(finding.facts)['line']}"


def _file(finding: Finding) -> str:
    return str(dict(finding.facts)["file"])


def _text(file: str) -> str:
    try:
        return read_input(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigFileError(f"{file}: not UTF-8.", "Only UTF-8 files are edited.", "Edit it by hand.") from error


def _write(path: Path, before: str, after: str) -> None:
    """Write a file whole or not at all, behind a link and with the owner and the permissions that it had.

    Raises:
        EosctlError: It cannot be written, has changed since it was read, or has other names.
    """
    try:
        target = path.resolve()
        if read_input(target) != before.encode():
            raise EosctlError(f"Cannot write {path}.", "It has changed since it was read.", "Run the command again.")
        if target.stat().st_nlink > 1:
            raise EosctlError(
                f"Cannot write {path}.",
                "It has hard links, and they would keep the old text.",
                "Apply the patch by hand: eosctl config fix without --yes shows it.",
            )
        with whole_file(target, is_private=False) as file:
            file.write(after.encode())
    except OSError as error:
        raise write_failed(path, error, "Check its permissions.") from error


def _edited(text: str, repair: Repair) -> tuple[str, str]:
    """Return the edited text, or the text as it was and what prevents the edit."""
    try:
        match repair.action:
            case RepairAction.SET:
                return set_value(repair.file, text, repair.line, repair.key, repair.text), ""
            case RepairAction.RENAME:
                return rename_key(repair.file, text, repair.line, repair.key, repair.text), ""
            case RepairAction.REMOVE:
                return remove_key(repair.file, text, repair.line, repair.key), ""
    except EditError as error:
        return text, str(error)
