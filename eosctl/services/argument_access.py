"""The ACLs of eosctl's commands whose rights follow from their arguments: a runbook, topics, a group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC
from eosctl.analysis.minimal_access import Application, plan_access
from eosctl.analysis.own_access import group_rule, least, of_release, reading_rules, topic_rule
from eosctl.collect.collector import EVERYTHING
from eosctl.collect.observation import KINDS as OBSERVED
from eosctl.lab.calibration import TRIAL_PREFIX
from eosctl.lab.verify.canary import TOPIC_PREFIX as CANARY
from eosctl.lab.verify.plan import RUN_PREFIX
from eosctl.model.access import ApplicationKind, Name, NeededRule
from eosctl.model.evidence import EvidenceKind
from eosctl.model.runbook import Action, Evidence, Probe, Runbook, Wait
from eosctl.runbooks.changes import find_change
from eosctl.runbooks.probes import find_probe
from eosctl.runbooks.sound import load_sound_runbook
from eosctl.services.lint_configuration import KINDS as LINTED

TESTING: Final = (ApplicationKind.VERIFY_APP, ApplicationKind.VERIFY_DLQ)
"""The commands that write the topics that an application reads, and read those that it writes."""


class Given(NamedTuple):
    """The arguments that decide: a runbook's name, topics, a group, and the release of the oldest broker."""

    name: str
    reads: tuple[Name, ...]
    writes: tuple[Name, ...]
    group: Name | None
    release: tuple[int, int] | None


def argument_rules(kind: ApplicationKind, given: Given) -> tuple[NeededRule, ...]:
    """Return the ACLs of a command; empty if it sends no request of its own.

    Raises:
        UsageError: No runbook has the given name, or it has a flaw.
        ConfigFileError: The runbook's file cannot be read.
    """
    match kind:
        case ApplicationKind.RUNBOOK_RUN:
            return least(of_release(_of_steps(load_sound_runbook(given.name)), given.release))
        case ApplicationKind.CHECKLIST_RUN | ApplicationKind.MCP:
            return reading_rules(EVERYTHING)
        case ApplicationKind.CONFIG_LINT:
            return reading_rules(LINTED)
        case ApplicationKind.CHECK_ACL:
            return reading_rules({EvidenceKind.ACCESS_RULES})
        case ApplicationKind.CAPACITY_OBSERVE:
            return reading_rules(OBSERVED | {EvidenceKind.TRANSACTION_HISTORY})
        case ApplicationKind.DECODE_SEGMENT:
            return tuple(topic_rule("Read", name, "ListOffsets", "Fetch") for name in given.reads)
        case ApplicationKind.CAPACITY_CALIBRATE:
            read = reading_rules({EvidenceKind.OFFSETS, EvidenceKind.PRODUCERS})
            return least((*read, *_temporary(TRIAL_PREFIX)))
        case ApplicationKind.VERIFY_RUN | ApplicationKind.VERIFY_REPLAY:
            offsets = topic_rule("Describe", Name(CONSUMER_OFFSETS_TOPIC), "Metadata")
            return least((*_temporary(RUN_PREFIX), offsets))
        case ApplicationKind.VERIFY_CANARY:
            own = Name(CANARY, prefixed=True)
            return least((topic_rule("Create", own, "CreateTopics"), *_processing(own, (own,), (own,))))
        case ApplicationKind.VERIFY_APP | ApplicationKind.VERIFY_DLQ:
            watched = () if given.group is None else (group_rule("Describe", given.group, "OffsetFetch"),)
            own = Name(RUN_PREFIX, prefixed=True)
            return least((*_processing(own, reads=given.writes, writes=given.reads), *watched))
        case _:
            return ()


def _of_steps(book: Runbook) -> Iterator[NeededRule]:
    """Yield the ACLs of what the steps of a runbook read and change."""
    for step in book.steps:
        match step:
            case Probe(run=name) | Wait(run=name):
                yield from reading_rules(find_probe(name).kinds)
            case Evidence():
                yield from reading_rules(EVERYTHING)
            case Action(run=name, verify=verify):
                yield from find_change(name).access
                yield from reading_rules(find_probe(verify.run).kinds)


def _temporary(prefix: str) -> Iterator[NeededRule]:
    """Yield the ACLs of work in topics that are created and deleted, with ids and groups of the same prefix."""
    own = Name(prefix, prefixed=True)
    yield topic_rule("Create", own, "CreateTopics")
    yield topic_rule("Delete", own, "DeleteTopics")
    yield from _processing(own, (own,), (own,), own)


def _processing(
    transactional_id: Name, reads: tuple[Name, ...], writes: tuple[Name, ...], group: Name | None = None
) -> tuple[NeededRule, ...]:
    application = Application(
        kind=ApplicationKind.PROCESSOR,
        principal="",
        transactional_id=transactional_id,
        group=group,
        reads=reads,
        writes=writes,
    )
    return plan_access(application)
