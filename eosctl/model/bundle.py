"""The manifest of an evidence bundle: its parts, and missing parts with reasons."""

from __future__ import annotations

from typing import Final

import msgspec

BUNDLE_SCHEMA: Final = "eosctl.bundle"
BUNDLE_SCHEMA_VERSION: Final = 1


class BundlePart(msgspec.Struct, frozen=True):
    """A file of a bundle. `kind` is snapshot, log, or data-dir; `redaction` describes the removed content."""

    name: str
    kind: str
    size_bytes: int
    sha256: str
    redaction: str = ""


class MissingPart(msgspec.Struct, frozen=True):
    """A requested or expected part that is not in the bundle."""

    what: str
    reason: str


class BundleManifest(msgspec.Struct, frozen=True):
    """The table of contents, written last and read first."""

    captured_at_ms: int
    eosctl_version: str
    cluster_id: str
    parts: tuple[BundlePart, ...]
    missing: tuple[MissingPart, ...]
    schema: str = BUNDLE_SCHEMA
    schema_version: int = BUNDLE_SCHEMA_VERSION
