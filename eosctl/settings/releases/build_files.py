"""The release of Kafka's clients in a project's build files: Maven, Gradle, and sbt.

A version stands next to the artifact, in a property or a catalog of versions, or Spring Boot manages it
(``kafka.version`` of its ``spring-boot-dependencies``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from eosctl.settings.programs.environment import is_release

BUILD_FILES: Final = (
    *("pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "gradle.properties", "libs.versions.toml"),
    "Dependencies.scala",
)
_OTHERS: Final = re.compile(r"[\w-]*pom[\w.-]*\.xml|[\w.-]+\.gradle(?:\.kts)?")
"""Further names of build files: parts of Gradle's, and pieces of Maven's."""
_ARTIFACT: Final = r"(?:kafka-clients|kafka-streams|connect-api|connect-runtime)(?:-scala)?(?:_[\d.]+)?"
_VERSION: Final = r"(?P<version>[\d.]+|[$\w.{}-]+)"
_DECLARED: Final = (
    re.compile(rf"org\.apache\.kafka:{_ARTIFACT}:[\"' +]*{_VERSION}"),
    re.compile(
        rf"<groupId>org\.apache\.kafka</groupId>\s*<artifactId>{_ARTIFACT}</artifactId>\s*<version>{_VERSION}</version>"
    ),
    re.compile(rf"\"org\.apache\.kafka\"\s*%%?\s*\"{_ARTIFACT}\"\s*%\s*\"?{_VERSION}"),
    re.compile(
        rf"group\s*[:=]\s*[\"']org\.apache\.kafka[\"']\s*,\s*name\s*[:=]\s*[\"']{_ARTIFACT}[\"']"
        rf"\s*,\s*version\s*[:=]\s*[\"']?{_VERSION}"
    ),
    re.compile(rf"module\s*=\s*\"org\.apache\.kafka:{_ARTIFACT}\"\s*,\s*version(?:\.ref)?\s*=\s*\"{_VERSION}"),
    re.compile(
        rf"group\s*=\s*\"org\.apache\.kafka\"\s*,\s*name\s*=\s*\"{_ARTIFACT}\"\s*,\s*version(?:\.ref)?\s*=\s*\"{_VERSION}"
    ),
)
_NAMED: Final = (
    re.compile(r"<(?P<name>[\w.-]+)>(?P<text>\d[\w.-]*)</(?P=name)>"),
    re.compile(r"(?P<name>[\w.-]+)[\"'\])]*\s*(?:=|:|\bby\b|,)\s*(?:extra\()?[\"']?(?P<text>\d+\.\d[\w.-]*)"),
)
_REFERENCE: Final = re.compile(r"[${}]")
_SPRING: Final = (
    re.compile(
        r"<artifactId>spring-boot-(?:starter-parent|dependencies)</artifactId>\s*<version>(?P<version>[\w.${}-]+)"
    ),
    re.compile(r"org\.springframework\.boot[\"'):]*\s*(?:\)\s*)?version\s*\(?[\"']?(?P<version>[\w.${}-]+)"),
    re.compile(r"spring-boot-(?:gradle-plugin|dependencies):(?P<version>[\w.${}-]+)"),
)
_OWN: Final = "kafka.version"
"""The property by which a project changes the release that Spring Boot manages."""
_OF_SPRING_BOOT: Final[Mapping[str, str]] = dict(
    zip(
        ("2.3", "2.4", "2.5", "2.6", "2.7", "3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "4.0"),
        ("2.5", "2.6", "2.7", "3.0", "3.1", "3.3", "3.4", "3.6", "3.7", "3.8", "3.9", "4.1"),
        strict=True,
    )
)
_MINOR: Final = re.compile(r"(\d+\.\d+)(?:[.\-]|$)")


def is_build_file(name: str) -> bool:
    """Return whether a file may name the release of Kafka's clients, by its name."""
    return name in BUILD_FILES or _OTHERS.fullmatch(name) is not None


def clients_release(texts: Iterable[str]) -> str:
    """Return the one release of Kafka's clients that a project's build files name; empty without one.

    >>> clients_release(['val v = "3.5.1"', 'implementation("org.apache.kafka:kafka-streams:$v")'])
    '3.5'
    >>> clients_release(['id("org.springframework.boot") version "3.2.4"', "org.springframework.kafka:spring-kafka"])
    '3.6'
    """
    given = [text for text in texts if text]
    names = _names(tuple(given))
    declared = {found["version"] for text in given for pattern in _DECLARED for found in pattern.finditer(text)}
    releases = {_release(version, names) for version in declared}
    if not declared and any("kafka" in text for text in given):
        own = names.get(_OWN)
        releases = {_release(own, names)} if own else {_managed(given, names)}
    releases.discard("")
    return releases.pop() if len(releases) == 1 else ""


def _managed(texts: Iterable[str], names: Mapping[str, str]) -> str:
    """Return the release that the project's Spring Boot brings."""
    versions = [found["version"] for text in texts for pattern in _SPRING for found in pattern.finditer(text)]
    minors = {_minor(_filled(version, names)) for version in versions}
    return _OF_SPRING_BOOT.get(minors.pop(), "") if len(minors) == 1 else ""


def _release(version: str, names: Mapping[str, str]) -> str:
    minor = _minor(_filled(version, names))
    return minor if is_release(minor) else ""


def _minor(version: str) -> str:
    found = _MINOR.match(version)
    return found[1] if found is not None else ""


def _filled(version: str, names: Mapping[str, str]) -> str:
    name = _REFERENCE.sub("", version)
    return version if version[:1].isdecimal() else names.get(name, names.get(name.rpartition(".")[2], ""))


@lru_cache(maxsize=64)
def _names(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the versions that have names, without those that have several."""
    found: dict[str, set[str]] = {}
    for text in texts:
        for pattern in _NAMED:
            for one in pattern.finditer(text):
                found.setdefault(one["name"], set()).add(one["text"])
    return {name: next(iter(own)) for name, own in found.items() if len(own) == 1}
