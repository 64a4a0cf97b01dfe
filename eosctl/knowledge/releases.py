"""Know the releases of Apache Kafka, of librdkafka, and of Flink's Kafka connector (``releases.toml``)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.known_bug import Product, Version, parse_version, version_text


@cache
def newest_releases() -> Mapping[Product, Version]:
    """Return the newest release that is known of each product; of librdkafka, major and minor number count."""
    kafka = dict.fromkeys((Product.BROKER, Product.CLIENT, Product.STREAMS, Product.CONNECT), kafka_releases()[-1])
    return kafka | {
        Product.LIBRDKAFKA: (*load_tables()["librdkafka"].last, 0),
        Product.FLINK: flink_connector_releases()[-1],
    }


@cache
def kafka_releases() -> tuple[Version, ...]:
    """Return every release of Kafka that is known, the oldest first."""
    return tuple(parse_version(release) for release in _load()["kafka"])


@cache
def flink_connector_releases() -> tuple[Version, ...]:
    """Return every release of Flink's Kafka connector that is known, the oldest first."""
    return tuple(parse_version(release) for release in _load()["flink_connector"])


def is_possible_release(version: Version) -> bool:
    """Return whether Kafka has a release, or may have it by now: a later patch, a newer branch, or the next major."""
    branch, newest = _branch(version), kafka_releases()[-1]
    is_next = newest < version and version[0] <= newest[0] + 1
    return version in branch or is_next or (bool(branch) and version > branch[-1])


def is_newer_than_known(version: Version) -> bool:
    """Return whether a release is newer than all that are known of its branch."""
    return version not in kafka_releases() and is_possible_release(version)


def branch_text(version: Version) -> str:
    """Write the known releases of a version's branch, or the newest of all where there is no such branch."""
    found = _branch(version) or kafka_releases()[-1:]
    return ", ".join(map(version_text, found))


@cache
def release_of_metadata_version(level: int) -> tuple[int, int] | None:
    """Return the release that introduced a level of the feature `metadata.version`; None for an unknown level.

    >>> release_of_metadata_version(25)
    (4, 0)
    """
    text = (resources.files("eosctl.knowledge") / "protocol.json").read_text(encoding="utf-8")
    names = {one["level"]: one["name"] for one in json.loads(text)["metadata_versions"]}
    if level not in names:
        return None
    major, minor = names[level].partition("-")[0].split(".")
    return int(major), int(minor)


@cache
def _load() -> Mapping[str, list[str]]:
    text = (resources.files("eosctl.knowledge") / "releases.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _branch(version: Version) -> tuple[Version, ...]:
    return tuple(release for release in kafka_releases() if release[:2] == version[:2])
