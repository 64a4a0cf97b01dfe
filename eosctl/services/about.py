"""What the program is, and the shapes of files that no result has."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, Final, NamedTuple

import eosctl
from eosctl.capacity.workload_json_schema import describe_workload_files
from eosctl.collect.bundles.snapshot_file import snapshot_json_schema
from eosctl.text import count_text

LIBRARIES: Final = ("confluent-kafka", "google-crc32c", "cramjam", "msgspec", "uvloop", "pyspark", "jmxquery")
_COMPILED: Final = (".so", ".pyd")


class FileSchema(NamedTuple):
    """The JSON Schema of a file.

    Attributes:
        files: The commands that write such files.
        describe: Returns the schema, without dialect and identity.
    """

    files: str
    describe: Callable[[], dict[str, Any]]


#: By name, as in `eosctl schema NAME`.
FILE_SCHEMAS: Final[Mapping[str, FileSchema]] = {
    "snapshot": FileSchema("doctor --save-snapshot", snapshot_json_schema),
    "workload": FileSchema("capacity init, capacity observe; the format of workload files", describe_workload_files),
}


class ComponentVersion(NamedTuple):
    """A component and its version; ``not installed`` for an optional library that is missing."""

    component: str
    version: str


def list_versions() -> tuple[ComponentVersion, ...]:
    """Return the versions of eosctl, Python, and the libraries that matter, and whether hot modules are compiled."""
    own = (
        ComponentVersion("eosctl", eosctl.__version__),
        ComponentVersion("build", _build()),
        ComponentVersion("python", platform.python_version()),
    )
    return (*own, *(ComponentVersion(library, _installed(library)) for library in LIBRARIES))


def _build() -> str:
    """Return how many modules are compiled (mypyc)."""
    compiled = [path for path in Path(eosctl.__file__).parent.rglob("*") if path.suffix in _COMPILED]
    return count_text(len(compiled), "compiled module") if compiled else "pure Python"


def _installed(library: str) -> str:
    try:
        return version_of(library)
    except PackageNotFoundError:
        return "not installed"
