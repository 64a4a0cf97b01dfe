"""What the program is, and the shape of a saved snapshot."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Any, Final, NamedTuple

from eosctl import __version__
from eosctl.collect.bundles.snapshot_file import snapshot_json_schema

LIBRARIES: Final = ("confluent-kafka", "google-crc32c", "cramjam", "msgspec", "uvloop", "pyspark", "jmxquery")


class ComponentVersion(NamedTuple):
    """A component and its version; ``not installed`` for an optional library that is missing."""

    component: str
    version: str


def list_versions() -> tuple[ComponentVersion, ...]:
    """Return the versions of eosctl, Python, and the libraries that matter."""
    own = (ComponentVersion("eosctl", __version__), ComponentVersion("python", platform.python_version()))
    return (*own, *(ComponentVersion(library, _installed(library)) for library in LIBRARIES))


def describe_snapshots() -> dict[str, Any]:
    """Return the JSON Schema of a saved snapshot."""
    return snapshot_json_schema()


def _installed(library: str) -> str:
    try:
        return version_of(library)
    except PackageNotFoundError:
        return "not installed"
