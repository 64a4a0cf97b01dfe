"""Findings, first actions and suppressions as JSON and YAML show them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from eosctl.findings.finding import Command, Finding
from eosctl.findings.grouping import Action
from eosctl.model.verdict import Evidence, Resource


class FindingView(msgspec.Struct, frozen=True):
    """One finding; ``fingerprint`` stays the same from run to run."""

    check_id: str
    fingerprint: str
    title: str
    severity: str
    confidence: str
    resource: Resource
    message: str
    cause: str
    impact: str
    evidence: tuple[Evidence, ...]
    remedy: tuple[str, ...]
    commands: tuple[Command, ...]
    verify: tuple[Command, ...]
    references: tuple[str, ...]
    incident: str
    facts: dict[str, str | int | bool]


class ActionView(msgspec.Struct, frozen=True):
    """One of the first things to do; ``settles`` is the number of findings that it is about."""

    step: str
    command: str
    check_ids: tuple[str, ...]
    settles: int


class SuppressedView(msgspec.Struct, frozen=True):
    """A finding that does not count, with the reason."""

    check_id: str
    fingerprint: str
    resource: Resource
    message: str
    reason: str


def finding_view(finding: Finding) -> FindingView:
    """Shape one finding for machines."""
    return FindingView(
        check_id=finding.check_id,
        fingerprint=finding.fingerprint,
        title=finding.title,
        severity=finding.severity.value,
        confidence=finding.confidence.value,
        resource=finding.resource,
        message=finding.message,
        cause=finding.cause,
        impact=finding.impact,
        evidence=finding.evidence,
        remedy=finding.remedy,
        commands=finding.commands,
        verify=finding.verify,
        references=finding.references,
        incident=finding.incident,
        facts=dict(finding.facts),
    )


def action_views(actions: Iterable[Action]) -> tuple[ActionView, ...]:
    """Shape the first actions for machines."""
    return tuple(
        ActionView(one.step, one.command.line if one.command else "", one.check_ids, one.settles) for one in actions
    )


def suppressed_views(suppressed: Iterable[tuple[Finding, str]]) -> tuple[SuppressedView, ...]:
    """Shape suppressed findings for machines, each with the reason."""
    return tuple(
        SuppressedView(one.check_id, one.fingerprint, one.resource, one.message, reason) for one, reason in suppressed
    )
