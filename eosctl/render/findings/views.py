"""Checks, findings, first actions, and suppressions as JSON and YAML show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

import msgspec

from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.findings.finding import Command, Finding
from eosctl.findings.grouping import Action
from eosctl.findings.judged import Judged
from eosctl.model.verdict import Evidence, Resource
from eosctl.render.envelope import Envelope, envelope

T = TypeVar("T")


class CheckView(msgspec.Struct, frozen=True):
    """What became of one check."""

    id: str
    title: str
    area: str
    status: CheckStatus
    reason: str
    incomplete: bool
    finding_count: int


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


class JudgedListing(Envelope, Generic[T], frozen=True):
    """A list of like things with what was found in them."""

    cluster: None
    evidence: None
    items: tuple[T, ...]
    checks: tuple[CheckView, ...]
    findings: tuple[FindingView, ...]
    actions: tuple[ActionView, ...]
    suppressed: tuple[SuppressedView, ...]
    remarks: tuple[str, ...]


def judged_listing(kind: str, command: str, items: tuple[T, ...], judged: Judged) -> JudgedListing[T]:
    """Put items and findings into an envelope.

    Args:
        kind: As in `envelope`.
        command: As in `envelope`.
        items: The things themselves.
        judged: What was found in them.
    """
    diagnosis = judged.diagnosis
    return JudgedListing(
        *envelope(kind, command, judged.at_ms),
        cluster=None,
        evidence=None,
        items=items,
        checks=check_views(diagnosis.results),
        findings=tuple(map(finding_view, diagnosis.findings)),
        actions=action_views(judged.actions),
        suppressed=suppressed_views(diagnosis.suppressed),
        remarks=diagnosis.remarks,
    )


def check_views(results: Iterable[CheckResult]) -> tuple[CheckView, ...]:
    """Shape what became of checks for machines."""
    return tuple(
        CheckView(
            id=r.check_id,
            title=r.title,
            area=r.area,
            status=r.status,
            reason=r.reason,
            incomplete=r.incomplete,
            finding_count=len(r.findings),
        )
        for r in results
    )


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
