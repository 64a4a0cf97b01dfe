"""The machine-readable shape of a lint run: findings, settings that were not judged, and unreadable files."""

from __future__ import annotations

import msgspec

from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.finding import Finding
from eosctl.findings.linted import Linted
from eosctl.model.read_as import ReadAs
from eosctl.model.redaction import setting_text
from eosctl.model.unjudged import Undecided
from eosctl.render.envelope import Envelope, envelope
from eosctl.render.findings.views import ActionView, SuppressedView, action_views, suppressed_views


class LintItem(msgspec.Struct, frozen=True):
    """One finding: ``keys`` are the settings of the relation, ``value`` that of the first; secrets are masked."""

    id: str
    severity: str
    title: str
    file: str
    line: int
    keys: tuple[str, ...]
    value: str
    message: str
    cause: str
    impact: str
    remedy: str
    confidence: str
    role: str
    fingerprint: str


class UndecidedItem(msgspec.Struct, frozen=True):
    """A setting that was not judged, as the files do not have its value."""

    file: str
    line: int
    key: str
    value: str


class UnreadableItem(msgspec.Struct, frozen=True):
    """A file that could not be read, with the reason."""

    file: str
    reason: str


class LintCounts(msgspec.Struct, frozen=True):
    """How many files were read, and how many rules ended how."""

    files: int
    files_without_settings: int
    passed: int
    failed: int
    skipped: int
    not_applicable: int
    findings: int
    suppressed: int


class UnseenItem(msgspec.Struct, frozen=True):
    """A configuration that a container reads and that is not among the files."""

    file: str
    line: int
    reads: str


class LintView(Envelope, frozen=True):
    """The whole run as JSON and YAML show it.

    ``read_as`` is what each file was taken for, ``not_understood`` the files about Kafka that no rule has judged,
    ``unseen`` what containers read, or kustomizations build, and is not among the files.
    """

    counts: LintCounts
    read_as: tuple[ReadAs, ...]
    items: tuple[LintItem, ...]
    unresolved: tuple[UndecidedItem, ...]
    unreadable: tuple[UnreadableItem, ...]
    actions: tuple[ActionView, ...]
    suppressed: tuple[SuppressedView, ...]
    remarks: tuple[str, ...]
    not_understood: tuple[str, ...]
    unseen: tuple[UnseenItem, ...]


def lint_view(linted: Linted) -> LintView:
    """Shape a run for machines."""
    tally = {status: sum(1 for result in linted.diagnosis.results if result.status is status) for status in CheckStatus}
    items = tuple(lint_item(finding) for finding in linted.findings)
    return LintView(
        *envelope("config-lint", "config lint", linted.generated_at_ms),
        counts=LintCounts(
            files=len(linted.read),
            files_without_settings=len(linted.without_settings),
            passed=tally[CheckStatus.PASSED],
            failed=tally[CheckStatus.FAILED],
            skipped=tally[CheckStatus.SKIPPED],
            not_applicable=tally[CheckStatus.NOT_APPLICABLE],
            findings=len(items),
            suppressed=len(linted.diagnosis.suppressed),
        ),
        read_as=linted.read_as,
        items=items,
        unresolved=tuple(undecided_item(one) for one in linted.undecided),
        unreadable=tuple(UnreadableItem(one.file, one.error.what) for one in linted.unreadable),
        actions=action_views(linted.actions),
        suppressed=suppressed_views(linted.diagnosis.suppressed),
        remarks=linted.diagnosis.remarks,
        not_understood=linted.not_understood,
        unseen=tuple(UnseenItem(one.place.file, one.place.line, one.reads) for one in linted.unseen),
    )


def lint_item(finding: Finding) -> LintItem:
    """Shape one finding."""
    facts = dict(finding.facts)
    keys = tuple(str(facts["keys"]).split(","))
    return LintItem(
        id=finding.check_id,
        severity=finding.severity.value,
        title=finding.title,
        file=str(facts["file"]),
        line=int(facts["line"]),
        keys=keys,
        value=setting_text(keys[0], str(facts["value"])),
        message=finding.message,
        cause=finding.cause,
        impact=finding.impact,
        remedy=" ".join(finding.remedy),
        confidence=finding.confidence.value,
        role=str(facts["role"]),
        fingerprint=finding.fingerprint,
    )


def undecided_item(one: Undecided) -> UndecidedItem:
    """Shape a setting that was not judged."""
    value, place = one.value, one.value.place or one.component.place
    return UndecidedItem(place.file, place.line, value.key, setting_text(value.key, value.text))
