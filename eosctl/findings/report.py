"""A diagnosis with everything that its renderers show."""

from __future__ import annotations

from typing import Final, NamedTuple

from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Command
from eosctl.findings.grouping import Action, FindingGroup
from eosctl.findings.linted import Unreadable
from eosctl.model.hang import HangVerdict
from eosctl.model.read_as import ReadAs
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.timeline import Timeline


class Report(NamedTuple):
    """The input of the renderers of a diagnosis.

    Attributes:
        command: The command that reports, e.g. ``doctor``.
        diagnosis: The results of the checks, without suppressed findings.
        snapshot: The evidence; without brokers where no cluster was read.
        verdicts: The open transactions, for the picture of the blast radius.
        generated_at_ms: The time of the report, in ms since the epoch.
        groups: The findings by cause, the worst first.
        actions: What to do about the worst causes.
        next_commands: The commands to type next.
        file_count: The number of configuration files that were judged.
        log_reading: How much of the logs was read, in words; empty without logs.
        printed_reading: Which outputs of Kafka's tools were read, in words; empty without any.
        timeline: The findings over time; None where none of them has a time.
        read_as: What the configuration files were read as.
        unreadable: Configuration files that could not be read.
        not_understood: Configuration files about Kafka in which no setting was found.
    """

    command: str
    diagnosis: Diagnosis
    snapshot: ClusterSnapshot
    verdicts: tuple[HangVerdict, ...]
    generated_at_ms: int
    groups: tuple[FindingGroup, ...] = ()
    actions: tuple[Action, ...] = ()
    next_commands: tuple[Command, ...] = ()
    file_count: int = 0
    log_reading: str = ""
    printed_reading: str = ""
    timeline: Timeline | None = None
    read_as: tuple[ReadAs, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    not_understood: tuple[str, ...] = ()


BASELINE_SCHEMA: Final = "eosctl.baseline"
