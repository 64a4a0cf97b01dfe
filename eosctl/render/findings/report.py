"""Findings with everything that their renderers show; renderers compute nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Command
from eosctl.findings.grouping import Action, FindingGroup
from eosctl.model.read_as import ReadAs
from eosctl.model.severity import Severity
from eosctl.model.timeline import Timeline


class Rule(NamedTuple):
    """A check, for formats that list the checks of a run.

    Attributes:
        id: The id of its findings.
        name: The same as one word in camel case.
        title: The problem as a noun phrase.
        severity: How bad its findings usually are.
        summary: The problem in one sentence.
        help: The manual.
        tags: What it is about.
    """

    id: str
    name: str
    title: str
    severity: Severity
    summary: str
    help: str
    tags: tuple[str, ...] = ()


class NoteLevel(StrEnum):
    """How much a note matters: an error is input that was not read, a warning input that was not judged."""

    ERROR = "error"
    WARNING = "warning"


class Note(NamedTuple):
    """A part of the input that no check judged; ``line`` is 0 where no single line is meant."""

    level: NoteLevel
    text: str
    file: str
    line: int = 0


class Picture(NamedTuple):
    """One transaction's blast radius; ``incident`` is that of its finding, ``svg`` is escaped."""

    incident: str
    title: str
    caption: str
    svg: str


class FindingReport(NamedTuple):
    """The result of a command that reports findings.

    Attributes:
        command: The command without the program's name.
        diagnosis: Results and findings, without those that are suppressed.
        generated_at_ms: When this is rendered, ms since the epoch.
        groups: The findings by cause, the worst first.
        actions: What to do first.
        rules: The checks of the run, sorted by id.
        metric_prefix: The start of the names of Prometheus metrics.
        is_graded: Whether the command gives a grade.
        scope: The cluster, for identities that last from run to run; empty where findings are about files.
        about: What was read, one sentence a line.
        read_as: What the parts of configuration files were read as.
        notes: Input that was not read or not judged.
        file_count: How many files were read; None where files are not all of the input.
        next_commands: What to type next.
        pictures: Open transactions, drawn.
        timeline: What was found, over time.
    """

    command: str
    diagnosis: Diagnosis
    generated_at_ms: int
    groups: tuple[FindingGroup, ...]
    actions: tuple[Action, ...]
    rules: tuple[Rule, ...]
    metric_prefix: str = "eosctl"
    is_graded: bool = True
    scope: str = ""
    about: tuple[str, ...] = ()
    read_as: tuple[ReadAs, ...] = ()
    notes: tuple[Note, ...] = ()
    file_count: int | None = None
    next_commands: tuple[Command, ...] = ()
    pictures: tuple[Picture, ...] = ()
    timeline: Timeline | None = None

    @property
    def headline(self) -> str:
        """The result in one sentence, with the grade where there is one."""
        summary = self.diagnosis.summary[0]
        return f"{self.diagnosis.grade}. {summary}" if self.is_graded else summary
