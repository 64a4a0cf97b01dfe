"""What one release declares, read from its jars: settings and protocol by reflection, messages from their schemas."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from scripts.absorb.jars import AbsorbError
from scripts.parameter_tables.history import Declared

HERE: Final = Path(__file__).parent
# A validator without words of its own prints its class and its address, which differ from run to run.
_IDENTITY: Final = re.compile(r"@[0-9a-f]+$")
_MESSAGES: Final = "common/message/"
_COMMENT: Final = re.compile(r"(?m)^\s*//.*$|//[^\"\n]*$")


class Setting(NamedTuple):
    """One line of `Settings.java`.

    Attributes:
        component: Whose setting it is, e.g. `broker`.
        declared: What the release declares.
        is_internal: Whether Kafka hides it from users.
        detail: Update mode of a broker setting; synonyms of a topic setting, comma-separated.
        validator: The validator's text as printed.
    """

    component: str
    declared: Declared
    is_internal: bool
    detail: str
    validator: str


class Error(NamedTuple):
    """An error code."""

    code: int
    name: str
    exception: str
    retriable: bool


class MetadataVersion(NamedTuple):
    """A level of metadata.version, and the questions of Kafka's class that it is the first to answer with yes.

    `changes_metadata` is Kafka's `didMetadataChange`: no cluster goes back below such a level.
    """

    level: int
    name: str
    begins: tuple[str, ...]
    changes_metadata: bool


class Levels(NamedTuple):
    """The levels of a feature: the lowest, the highest that is stable, and that of a new cluster."""

    lowest: int
    highest: int
    default: int


class Api(NamedTuple):
    """A request: its key, the stable versions (None if all are unstable), and the listeners that serve it."""

    key: int
    versions: str | None
    listeners: tuple[str, ...]


class Absorbed(NamedTuple):
    """All that was read of one release."""

    release: str
    settings: tuple[Setting, ...]
    errors: tuple[Error, ...]
    metadata_versions: tuple[MetadataVersion, ...]
    features: Mapping[str, Levels]
    apis: Mapping[str, Api]
    messages: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Major and minor number, e.g. `4.3`."""
        return ".".join(self.release.split(".")[:2])


def read_release(release: str, jars: Path) -> Absorbed:
    """Read a release from the directory of its jars.

    Raises:
        AbsorbError: Java is missing or fails, or the clients' jar is not there.
    """
    settings = tuple(map(_setting, _run(HERE / "Settings.java", jars)))
    facts = [line.split("\t") for line in _run(HERE / "Protocol.java", jars)]
    messages = read_messages(jars / f"kafka-clients-{release}.jar")
    return Absorbed(
        release,
        settings,
        tuple(Error(int(row[1]), row[2], row[3], row[4] == "true") for row in facts if row[0] == "error"),
        tuple(
            MetadataVersion(int(row[1]), row[2], tuple(filter(None, row[3].split(","))), row[4] == "true")
            for row in facts
            if row[0] == "metadata" and int(row[1]) > 0
        ),
        {row[1]: Levels(*map(int, row[2:])) for row in facts if row[0] == "feature"},
        dict(sorted(_apis(messages))),
        messages,
    )


def read_messages(jar: Path) -> dict[str, Any]:
    """Return the schemas of all messages of the clients' jar, by name."""
    try:
        archive = zipfile.ZipFile(jar)
    except OSError as error:
        raise AbsorbError(f"{jar.name} cannot be read: {error}") from error
    with archive:
        names = [name for name in archive.namelist() if name.startswith(_MESSAGES) and name.endswith(".json")]
        return {Path(name).stem: _first_value(_COMMENT.sub("", archive.read(name).decode())) for name in names}


def _first_value(text: str) -> dict[str, Any]:
    """Return the first JSON value of a text, as Kafka's own generator reads it: 2.8 has braces behind one."""
    value: dict[str, Any] = json.JSONDecoder().raw_decode(text.strip())[0]
    return value


def _apis(messages: Mapping[str, Any]) -> Iterator[tuple[str, Api]]:
    for name, schema in messages.items():
        if schema.get("type") != "request" or schema["validVersions"] == "none":
            continue
        first, _, last = schema["validVersions"].partition("-")
        stable = int(last or first) - bool(schema.get("latestVersionUnstable"))
        versions = f"{first}-{stable}" if stable >= int(first) else None
        yield name.removesuffix("Request"), Api(schema["apiKey"], versions, tuple(schema.get("listeners", ())))


def _setting(line: str) -> Setting:
    component, name, kind, default, bounds, internal, importance, detail = line.split("\t")
    declared = Declared(
        name,
        kind.lower(),
        default[1:] if default.startswith("=") else None,
        default == "required",
        "" if _IDENTITY.search(bounds) else bounds,
        importance,
    )
    return Setting(component, declared, bool(internal), detail, declared.bounds)


def _run(program: Path, jars: Path) -> list[str]:
    try:
        done = subprocess.run(
            ["java", "-cp", f"{jars}/*", str(program)], capture_output=True, text=True, encoding="utf-8", check=False
        )
    except FileNotFoundError as error:
        raise AbsorbError("Java is not on the PATH; Java 17 or later is needed.") from error
    if done.returncode or not done.stdout:
        raise AbsorbError(f"{program.name} fails on {jars}: {done.stderr.strip()[-500:]}")
    return done.stdout.splitlines()
