"""Diagnoses of one cluster one after the other: what is new, what stands since when, what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grouping import FindingGroup


class Standing(NamedTuple):
    """A cause that stands, and since which look (ms since the epoch, the observer's clock)."""

    group: FindingGroup
    since_ms: int
    is_new: bool


class Look(msgspec.Struct, frozen=True):
    """One reading, compared with the one before.

    Attributes:
        at_ms: When, ms since the epoch.
        diagnosis: What was found; None while no look has succeeded.
        standing: The causes, worst first.
        gone: The findings that only the previous reading had.
        scores: Of all looks so far, None for those that failed.
        error: Why this look failed, while ``diagnosis`` is that of the last one that did not; empty when it succeeded.
    """

    at_ms: int
    diagnosis: Diagnosis | None
    standing: tuple[Standing, ...] = ()
    gone: tuple[Finding, ...] = ()
    scores: tuple[int | None, ...] = ()
    error: str = ""


SCORES_KEPT = 120


def follow(before: Look | None, diagnosis: Diagnosis, groups: Sequence[FindingGroup], at_ms: int) -> Look:
    """Return the reading for a diagnosis, compared with the previous one; in the first reading, nothing is new."""
    known = {} if before is None else {one.group.cause.fingerprint: one for one in before.standing}
    first = before is None or before.diagnosis is None
    standing = tuple(
        Standing(group, known[cause].since_ms if cause in known else at_ms, not first and cause not in known)
        for group in groups
        for cause in (group.cause.fingerprint,)
    )
    # A cause that became a symptom of another one still stands.
    still = {finding.fingerprint for finding in diagnosis.findings}
    gone = tuple(one.group.cause for cause, one in known.items() if cause not in still)
    scores = () if before is None else before.scores
    return Look(at_ms, diagnosis, standing, gone, (*scores, diagnosis.grade.score)[-SCORES_KEPT:])


def failed(before: Look | None, error: str, at_ms: int) -> Look:
    """Return a failed reading: it keeps the previous findings, and the time since when the cluster was unreadable."""
    if before is None:
        return Look(at_ms, None, scores=(None,), error=error)
    standing = tuple(one._replace(is_new=False) for one in before.standing)
    return Look(
        at_ms=at_ms,
        diagnosis=before.diagnosis,
        standing=standing,
        gone=(),
        scores=(*before.scores, None)[-SCORES_KEPT:],
        error=error,
    )
