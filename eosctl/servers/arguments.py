"""The arguments of the tools, as types: their JSON Schemas are generated, and each call is validated by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta

from eosctl.errors import UsageError

MOST_LINES: Final = 5_000
MOST_EVENTS: Final = 5_000
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")

Profile = Annotated[
    str | None,
    Meta(description="Profile that names the cluster. Default: the cluster that the server was started with."),
]
Snapshot = Annotated[
    str | None, Meta(description="Saved snapshot or bundle (.json, .json.gz, .tar) to read instead of a cluster.")
]
Release = Annotated[str | None, Meta(description="Release of Kafka, e.g. 3.9. Default: the newest.")]
Zone = Annotated[str | None, Meta(description="Time zone of timestamps without one, e.g. Europe/Berlin.")]
DecoderName = Literal[
    "segment",
    "txn-log",
    "offsets",
    "metadata-log",
    "index",
    "time-index",
    "txn-index",
    "producer-snapshot",
    "checkpoint",
]


class DoctorArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Evidence to diagnose: a cluster or snapshot, and files in addition or alone."""

    profile: Profile = None
    snapshot: Snapshot = None
    paths: Annotated[
        tuple[str, ...], Meta(description="Configuration files, output of Kafka's tools, and folders of them.")
    ] = ()
    logs: Annotated[tuple[str, ...], Meta(description="Logs of brokers and applications: files and folders.")] = ()
    zone: Zone = None


class HangingArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The cluster or snapshot to search for transactions that block readers."""

    profile: Profile = None
    snapshot: Snapshot = None
    show_all: Annotated[bool, Meta(description="Whether healthy open transactions are listed as well.")] = False


class ExplainArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question."""

    question: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=65_536,
            description="Name, error code, setting, id, log line, stack trace, or words in five languages.",
        ),
    ]
    language: Annotated[str, Meta(description="Language of the short answer: en or zh.")] = "en"


class LintArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Configuration files to judge together."""

    paths: Annotated[tuple[str, ...], Meta(min_length=1, description="Configuration files, and folders of them.")]
    kafka_version: Release = None


class LogsArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Logs to read together."""

    paths: Annotated[tuple[str, ...], Meta(min_length=1, description="Log files, archives, and folders of them.")]
    zone: Zone = None
    baseline: Annotated[
        tuple[str, ...], Meta(description="Logs of a healthy period; messages that they lack are reported as new.")
    ] = ()
    max_events: Annotated[
        int,
        Meta(
            ge=0, le=MOST_EVENTS, description="Maximum number of single records in the result; all of them are judged."
        ),
    ] = 100


class DecodeArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Kafka's files to decode."""

    files: Annotated[
        tuple[str, ...],
        Meta(min_length=1, description="Files of Kafka's data directory, or directories of partitions."),
    ]
    decoder: Annotated[
        DecoderName | None, Meta(description="Kind of file. Default: what the name of the first file says.")
    ] = None
    records: Annotated[bool, Meta(description="Whether the records of segments are decoded as well.")] = False
    max_lines: Annotated[
        int, Meta(ge=1, le=MOST_LINES, description="Maximum number of lines; what was left out is reported.")
    ] = 200


T = TypeVar("T", bound=msgspec.Struct)


def read_arguments(form: type[T], given: Mapping[str, object]) -> T:
    """Return the arguments of a call.

    Raises:
        UsageError: An argument is unknown, missing, or not of its type.
    """
    try:
        found = msgspec.convert(given, form)
        if any(_has_nul(value) for value in msgspec.structs.astuple(found)):
            raise msgspec.ValidationError("Texts may not contain NUL")
    except msgspec.ValidationError as error:
        raise UsageError(
            f"Invalid arguments: {error}.",
            f"Known arguments: {', '.join(field.name for field in msgspec.structs.fields(form))}.",
            "Follow the input schema of the tool.",
        ) from error
    return found


def _has_nul(value: object) -> bool:
    return "\0" in value if isinstance(value, str) else isinstance(value, tuple) and any(map(_has_nul, value))


def arguments_schema(form: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of arguments, an object without references."""
    _, components = msgspec.json.schema_components((form,))
    schema: dict[str, Any] = components[form.__name__]
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def local_paths(names: Iterable[str]) -> tuple[Path, ...]:
    """Return the paths of files on this machine.

    Raises:
        UsageError: A name stands for standard input, which is the connection to the client, or for another machine.
    """
    found = tuple(names)
    for name in found:
        if name in ("", "-") or _URL.match(name):
            raise UsageError(
                f"{name!r} is not a file.", "Tools read files and folders of this machine.", "Name a path."
            )
    return tuple(map(Path, found))
