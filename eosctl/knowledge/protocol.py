"""Load what releases of Kafka declare of their protocol (``protocol.json``, by ``scripts.absorb``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

import msgspec

from eosctl.wire.schema.table import VersionRange


class DeclaredApi(msgspec.Struct, frozen=True):
    """A request of the protocol: its key, and the stable versions by release, as ``3-12``; None for none."""

    key: int
    versions: dict[str, str | None]


class MetadataVersion(msgspec.Struct, frozen=True):
    """A level of `metadata.version`: its number, its name, and what begins with it.

    A cluster never goes back below a level that `changes_metadata` (Kafka's `MetadataVersion.didMetadataChange`).
    """

    level: int
    name: str
    begins: tuple[str, ...]
    changes_metadata: bool


class FeatureLevels(msgspec.Struct, frozen=True, array_like=True):
    """The levels of a feature in one release: the lowest, the highest that is stable, and that of a new cluster."""

    lowest: int
    highest: int
    default: int


class _Protocol(msgspec.Struct, frozen=True):
    releases: tuple[str, ...]
    features: dict[str, dict[str, FeatureLevels]]
    metadata_versions: tuple[MetadataVersion, ...]
    apis: dict[str, DeclaredApi]


@cache
def load_protocol() -> _Protocol:
    """Return the releases, the features, the levels of `metadata.version`, and the requests by name."""
    data = (resources.files("eosctl.knowledge") / "protocol.json").read_bytes()
    return msgspec.json.decode(data, type=_Protocol)


def versions_by_release(api: str) -> Mapping[str, VersionRange]:
    """Return the stable versions of a request in each release that has it, the oldest release first."""
    declared = load_protocol().apis.get(api)
    if declared is None:
        return {}
    return {release: _range(text) for release, text in declared.versions.items() if text}


def releases_text(releases: tuple[str, ...]) -> str:
    """Write releases, those in a row as one span.

    >>> releases_text(("3.7", "3.8", "4.1"))
    'Kafka 3.7 to 3.8, 4.1'
    """
    known = load_protocol().releases
    spans: list[list[str]] = []
    for release in known:
        if release not in releases:
            continue
        if spans and known.index(release) == known.index(spans[-1][-1]) + 1:
            spans[-1].append(release)
        else:
            spans.append([release])
    written = (span[0] if len(span) == 1 else f"{span[0]} to {span[-1]}" for span in spans)
    return f"Kafka {', '.join(written)}"


def _range(text: str) -> VersionRange:
    first, _, last = text.partition("-")
    return VersionRange(int(first), int(last or first))
