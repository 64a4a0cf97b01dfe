"""Render a baseline: the current findings, so that later runs show new ones."""

from __future__ import annotations

import msgspec

from eosctl.findings.finding import Finding
from eosctl.findings.report import BASELINE_SCHEMA
from eosctl.render.machine import render_json


class KnownFinding(msgspec.Struct, frozen=True):
    """A finding by its fingerprint; check and resource are for readers of the file."""

    fingerprint: str
    check_id: str
    resource: str


class Baseline(msgspec.Struct, frozen=True):
    """The content of the file, sorted so that two files can be compared."""

    schema: str
    schema_version: int
    findings: tuple[KnownFinding, ...]


def render_baseline(findings: tuple[Finding, ...]) -> str:
    """Render findings as a baseline."""
    known = {KnownFinding(one.fingerprint, one.check_id, str(one.resource)) for one in findings}
    ordered = sorted(known, key=lambda one: (one.check_id, one.resource, one.fingerprint))
    return render_json(Baseline(BASELINE_SCHEMA, 1, tuple(ordered)))
