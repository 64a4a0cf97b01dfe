"""A workload that was observed in part: each value with its source, and a mark for each that is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import yaml

from eosctl.capacity.workload_inputs import unread_limits
from eosctl.capacity.workload_schema import (
    API_VERSION,
    APPLICATION_KEYS,
    CLUSTER_KEYS,
    EDITOR_HEADER,
    KIND,
    TOPIC_KEYS,
    UNKNOWN,
    Key,
)
from eosctl.model.workload import ApplicationKind, Cleanup

COMMENT_COLUMN: Final = 46
#: Names that YAML does not read as anything else.
_PLAIN: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9._-]*")


class Given(NamedTuple):
    """An observed value, in the form of a workload file, and its source."""

    text: str
    source: str


Section = Mapping[str, Given]


class PartialWorkload(NamedTuple):
    """The part of a workload that one source describes.

    Attributes:
        cluster: Keys of the cluster.
        topics: Keys of each topic.
        applications: Keys of each application, `reads` and `writes` included.
        remarks: What a reader of the file must know.
    """

    cluster: Section = MappingProxyType({})
    topics: Mapping[str, Section] = MappingProxyType({})
    applications: Mapping[str, Section] = MappingProxyType({})
    remarks: Sequence[str] = ()


def read_partial(text: str, source: str) -> PartialWorkload:
    """Return what a written workload file states; its comments are remarks."""
    remarks = [
        line.removeprefix("# ") for line in text.removeprefix(EDITOR_HEADER).splitlines() if line.startswith("#")
    ]
    document = yaml.safe_load(text)

    def section(values: Mapping[str, object]) -> dict[str, Given]:
        return {key: Given(_flow(value), source) for key, value in values.items()}

    topics = {name: section(values) for name, values in document["topics"].items()}
    applications = {name: section(values) for name, values in document["applications"].items()}
    return PartialWorkload(section(document["cluster"]), topics, applications, remarks)


def _flow(value: object) -> str:
    """Write a value on one line, as YAML reads it back.

    >>> _flow("4.0"), _flow(3), _flow("5/s"), _flow({"a": 1.5})
    ('"4.0"', '3', '5/s', '{"a": 1.5}')
    """
    if isinstance(value, str) and yaml.safe_load(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def merge(parts: Sequence[PartialWorkload]) -> PartialWorkload:
    """Combine what several sources say; where they differ the first one counts, and a remark names the other."""
    cluster: dict[str, Given] = {}
    topics: dict[str, dict[str, Given]] = {}
    applications: dict[str, dict[str, Given]] = {}
    remarks: list[str] = []
    for part in parts:
        remarks += part.remarks
        remarks += _add(cluster, part.cluster, "cluster")
        for known, own, name in ((topics, part.topics, "topics"), (applications, part.applications, "applications")):
            for member, section in own.items():
                remarks += _add(known.setdefault(member, {}), section, f"{name}.{member}")
    return PartialWorkload(cluster, topics, applications, remarks)


def _add(known: dict[str, Given], section: Section, path: str) -> Iterator[str]:
    for key, given in section.items():
        kept = known.setdefault(key, given)
        if kept.text != given.text:
            yield f"{path}.{key} is {kept.text} ({kept.source}); {given.source} has {given.text}."


def write_partial(name: str, observed: PartialWorkload) -> str:
    """Write a workload file; keys that were not observed are comments, which say what a plan assumes without them."""
    lines = [
        "# Every value names its source. What was not observed is behind #: state it, above all what a plan needs.",
        *(f"# {' '.join(remark.split())}" for remark in observed.remarks),
        f"apiVersion: {API_VERSION}",
        f"kind: {KIND}",
        f"name: {name}",
        "cluster:",
        *_section("  ", CLUSTER_KEYS, observed.cluster),
        *_members("topics", TOPIC_KEYS, observed.topics),
        *_members("applications", APPLICATION_KEYS, observed.applications),
    ]
    return EDITOR_HEADER + "\n".join(lines) + "\n"


def _members(name: str, keys: Mapping[str, Key], members: Mapping[str, Section]) -> Iterator[str]:
    if not members:
        # An empty mapping, {}, would state that none exist.
        yield _commented(f"{name}:", "not observed, needed")
        return
    yield f"{name}:"
    for member, section in members.items():
        yield f"  {member if _PLAIN.fullmatch(member) else json.dumps(member)}:"
        yield from _section("    ", keys, section)


def _section(margin: str, keys: Mapping[str, Key], section: Section) -> Iterator[str]:
    cleanup = _cleanup(section)
    unread = unread_limits(cleanup) if cleanup is not None else ()
    kind = ApplicationKind(section["kind"].text) if "kind" in section else None
    for name, key in keys.items():
        if not key.applies_to(kind):
            continue
        if name in unread:
            if (given := section.get(name)) is not None:
                yield _commented(f"{margin}# {name}: {given.text}", f"{given.source}; not read with cleanup {cleanup}")
        elif (given := section.get(name)) is not None:
            yield _commented(f"{margin}{name}: {given.text}", given.source)
        elif key.assumed is None or (name == "live" and cleanup is Cleanup.COMPACT):
            yield _commented(f"{margin}# {name}:", f"not observed, needed: {key.about}")
        elif key.assumed == UNKNOWN:
            yield _commented(f"{margin}# {name}: unknown", f"not observed: {key.about}")
        else:
            yield _commented(f"{margin}# {name}: {key.assumed}", f"not observed, assumed: {key.about} ({key.why})")
    for name, given in section.items():
        if name not in keys:
            yield _commented(f"{margin}{name}: {given.text}", given.source)


def _cleanup(section: Section) -> Cleanup | None:
    """Return the cleanup policy of a topic's section, None for what has none that is known."""
    given = section.get("cleanup")
    if given is None or given.text.strip('"') not in list(Cleanup):
        return None
    return Cleanup(given.text.strip('"'))


def _commented(text: str, comment: str) -> str:
    return f"{text:<{COMMENT_COLUMN}} # {' '.join(comment.split())}"
