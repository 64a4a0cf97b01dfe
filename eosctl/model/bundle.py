"""An evidence bundle: what it holds, what it lacks, and why."""

from __future__ import annotations

from typing import Final

from eosctl.model.value import dataclass

BUNDLE_SCHEMA: Final = "eosctl.bundle"
BUNDLE_SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class BundlePart:
    """One file of a bundle. ``kind`` is snapshot, log or data-dir; ``redaction`` says what was taken out of it."""

    name: str
    kind: str
    size_bytes: int
    sha256: str
    redaction: str = ""


@dataclass(frozen=True, slots=True)
class MissingPart:
    """Something that was asked for, or that a reader may look for, and that is not in the bundle."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class BundleManifest:
    """The table of contents, written last and read first."""

    captured_at_ms: int
    eosctl_version: str
    cluster_id: str
    parts: tuple[BundlePart, ...]
    missing: tuple[MissingPart, ...]
    schema: str = BUNDLE_SCHEMA
    schema_version: int = BUNDLE_SCHEMA_VERSION
