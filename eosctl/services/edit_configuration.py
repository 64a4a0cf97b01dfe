"""What an editor shows of a configuration file that it holds, saved or not: findings, explanations, and repairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.checks.configuration.repairs import plan_repairs
from eosctl.checks.judge import judge
from eosctl.errors import ConfigFileError
from eosctl.findings.linted import Linted, findings_of
from eosctl.findings.repair import Repair
from eosctl.knowledge.reference.index import find_entries
from eosctl.model.reference import Entry, EntryKind
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.change_configuration import FixRequest, fix_configuration
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.deployment_files import read_deployment
from eosctl.settings.files.file_texts import mentions_kafka

_NAME: Final = re.compile(r"[A-Za-z][\w.-]*\w")


class OpenFile(NamedTuple):
    """A file in an editor, with the text that the editor holds."""

    path: Path
    text: str

    @property
    def texts(self) -> dict[str, str]:
        """The text by the path, as other requests take it."""
        return {str(self.path): self.text}


class EditedFile(NamedTuple):
    """A repair of an open file, and the text after it; ``repair`` is None for all repairs together."""

    repair: Repair | None
    text: str


def judge_open_file(file: OpenFile, callbacks: Callbacks = SILENT) -> Linted | None:
    """Judge one file by the rules of exactly-once, as `lint_configuration` does.

    Returns:
        The result; None if nothing of it could be judged and it is not about Kafka.

    Raises:
        ConfigFileError: The project's rules cannot be read.
    """
    linted = lint_configuration(LintRequest((file.path,), texts=file.texts), callbacks).linted
    is_judged = bool(linted.read_as or linted.not_understood)
    return linted if is_judged or mentions_kafka(str(file.path), file.text) else None


def explain_at(file: OpenFile, line: int, column: int) -> Entry | None:
    """Return the entry of the setting at a position; None if there is no setting.

    Args:
        file: The file.
        line: The line, from 1.
        column: The character in the line, from 0.
    """
    found = (entry for name in _names_at(file, line, column) for entry in find_entries(name))
    return next((entry for entry in found if entry.kind is EntryKind.SETTING), None)


def _names_at(file: OpenFile, line: int, column: int) -> Iterator[str]:
    """Yield the names of settings on a line as their components call them, then the word at the position."""
    lines = file.text.splitlines()
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    components = read_deployment((file.path,), texts=file.texts).deployment.components
    found = (
        (not _stands_at(text, value.key, column), value.name)
        for component in components
        for value in component.given.values()
        if value.place is not None and value.place.line == line
    )
    yield from (name for _, name in sorted(set(found)))
    yield from (word[0] for word in _NAME.finditer(text) if word.start() <= column <= word.end())


def _stands_at(text: str, key: str, column: int) -> bool:
    """Return whether the last part of a key stands at a column: trees hold only that on the line."""
    for part in (key, key.rpartition(".")[2]):
        start = text.find(part)
        if part and start >= 0:
            return start <= column <= start + len(part)
    return False


def repairs_of(file: OpenFile, first: int, last: int) -> tuple[EditedFile, ...]:
    """Return the repairs that leave no choice for the findings on some lines, then all repairs of the file together.

    A repair that would cause another error is left out.

    Args:
        file: The file.
        first: The first of the lines, from 1.
        last: The last of them.
    """
    try:
        planned = plan_repairs(findings_of(judge(read_deployment((file.path,), texts=file.texts).deployment)))
        wanted = [one for one in planned if first <= one.line <= last]
        found = [EditedFile(one, _fixed(file, (one.check_id, one.line))) for one in wanted]
        if planned:
            found.append(EditedFile(None, _fixed(file, None)))
    except ConfigFileError:
        return ()
    return tuple(one for one in found if one.text != file.text)


def _fixed(file: OpenFile, only: tuple[str, int] | None) -> str:
    fixed = fix_configuration(FixRequest((file.path,), texts=file.texts, only=only))
    return fixed.after[str(file.path)]
