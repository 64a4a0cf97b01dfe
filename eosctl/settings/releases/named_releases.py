"""Releases of Kafka that stand around settings: images of charts, versions of clouds, variables, and neighbors.

A project that names one release of its brokers has topics of that release, and connectors that of its workers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Role
from eosctl.settings.files.documents import starts_programs
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.platforms.application_files import project_of
from eosctl.settings.platforms.workloads import OF_DISTRIBUTION
from eosctl.settings.programs.environment import is_release, release_of_image
from eosctl.settings.values.sources import Source

_BITNAMI: Final = re.compile(r"^(\d+\.\d+)\.\d+-debian-\d+-r\d+$")
_RELEASE: Final = re.compile(r"^(\d+\.\d+)(?:\.|$)")
_VERSIONS: Final = ("KafkaVersion", "kafka_version", "KafkaVersionsList", "kafka_versions")
_VARIABLES: Final = ("kafka_version", "kafka_release", "apache_kafka_version", "kafkaVersion")
"""What roles of Ansible and values of charts call the release of the brokers."""
_PATHS: Final = {
    **{name: ((name,),) for name in _VARIABLES},
    "kafka": (("kafka", "version"), ("kafka", "kafka_version")),
}
"""Where a document has the release, by the first key on the way."""
_NEIGHBORS: Final = (
    ((Role.BROKER,), (Role.BROKER, Role.TOPIC, Role.ACCESS_RULE, Role.MIRROR_MAKER)),
    ((Role.CONNECT_WORKER,), (Role.SOURCE_CONNECTOR, Role.SINK_CONNECTOR)),
)
"""Who has the release of whom."""
_CLOUD: Final = re.compile(r"^(?:AWS::MSK::|aws_msk_|aiven_kafka$)")


_MARKS: Final = ("kafka_2.1", "SupportedMaxVersion", "(Commit:")
_SHOWN: Final = re.compile(
    r"\bkafka_2\.1[0-3]-(\d\.\d+)\.\d+|metadata\.version\b.*SupportedMaxVersion: ?(\d\.\d+)-IV"
    r"|^(\d\.\d+)\.\d+ \(Commit:",
    re.MULTILINE,
)
_UNPACKED: Final = re.compile(r"(?:^|/)kafka_2\.1[0-3]-(\d\.\d++)\.\d++[\w.-]*+/")
"""The folder of a distribution as it is unpacked."""
_IMAGES: Final = re.compile(
    r"(?:^|/)(?:Dockerfile|Containerfile)[\w.-]*$|\.(?:dockerfile|containerfile)$", re.IGNORECASE
)
_BASE: Final = re.compile(r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)", re.IGNORECASE | re.MULTILINE)
_ARGUMENT: Final = re.compile(r"^[ \t]*(?:ARG|ENV)[ \t]+(?P<name>\w+)[= ][\"']?(?P<value>[\w.-]+)", re.MULTILINE)
_OF_INVENTORY: Final = re.compile(r"(?:^|/)(?:inventor(?:y|ies)/.*|(?:inventory|hosts)(?:\.\w+)?)$")
_VARIABLE: Final = re.compile(r"^[ \t]*(?:apache_)?kafka_version[ \t]*[=:][ \t]*[\"']?(\d\.\d+)\.\d+", re.MULTILINE)
_ARGUMENTS: Final = ("KAFKA_VERSION", "APACHE_KAFKA_VERSION", "KAFKA_RELEASE")
_CHART: Final = re.compile(
    r"^name:[ \t]*[\"']?(?:(?!cp-)[\w-]+-)?kafka[\"']?[ \t]*$(?s:.*?)^appVersion:[ \t]*[\"']?v?(\d\.\d+)\.\d+",
    re.MULTILINE,
)
_CHART_FILE: Final = "Chart.yaml"
_USE: Final = re.compile(r"\$\{?(\w+)\}?")


def with_named_release(sources: list[Source], document: Node) -> list[Source]:
    """Return the sources, brokers and topics with the one release that the document names and they do not.

    A resource of Confluent's operator names the image of its own server: ksqlDB's, or that of a worker, too.
    """
    if isinstance(document, Branch) and (own := _of_confluent(document)):
        return [source if source.version else replace(source, version=own) for source in sources]
    if not any(_lacks_release(source) for source in sources):
        return sources
    release = release_in(document)
    return [replace(source, version=release) if release and _lacks_release(source) else source for source in sources]


def release_in(document: Node) -> str:
    """Return the one release of brokers that a document names, also without their settings; empty without one."""
    named = {found for found in _releases(document) if is_release(found)}
    return named.pop() if len(named) == 1 else ""


def release_in_text(file: str, text: str) -> str:
    """Return the one release of brokers that the text of a file shows; empty without one.

    It is that of the archive that a script downloads or a unit starts, of the base of an image, of a chart of Kafka, of
    hosts in an inventory, or one that Kafka's tools printed: the highest metadata version that brokers support is of
    their own release.

    >>> release_in_text("kafka.service", "ExecStart=/opt/kafka_2.13-3.3.1/bin/kafka-server-start.sh /etc/s.properties")
    '3.3'
    >>> release_in_text("Dockerfile", "ARG KAFKA_VERSION=2.7.0\\nFROM wurstmeister/kafka:2.13-${KAFKA_VERSION}")
    '2.7'
    >>> release_in_text("notes.txt", "3.4.0 (Commit:2e1947d240607d53)")
    '3.4'
    """
    found: set[str] = set()
    if any(mark in text for mark in _MARKS):
        found = {match[match.lastindex or 0] for match in _SHOWN.finditer(text)}
    if not found and _IMAGES.search(file) is not None:
        known = {match["name"]: match["value"] for match in _ARGUMENT.finditer(text)}
        bases = [_USE.sub(lambda use: known.get(use[1], use[0]), match[1]) for match in _BASE.finditer(text)]
        own = (match[1] for name in _ARGUMENTS if (match := _RELEASE.match(known.get(name, ""))))
        found = {*own, *map(release_of_image, bases[-1:])}
    if not found and "kafka_version" in text and _OF_INVENTORY.search(file) is not None:
        found = {*_VARIABLE.findall(text)}
    if not found and file.rpartition("/")[2] == _CHART_FILE and (chart := _CHART.search(text)) is not None:
        found = {chart[1]}
    named = {release for release in found if is_release(release)}
    return named.pop() if len(named) == 1 else ""


def with_releases_of_projects(sources: Iterable[Source], named: Iterable[tuple[str, str]]) -> list[Source]:
    """Return the sources, those without a release with the one of their project, where it names one.

    Args:
        sources: What all files configure.
        named: Files and the releases of brokers that they name.
    """
    shown = list(named)
    units = {file: release for file, release in shown if starts_programs(file)}
    found = [_started_by(_unpacked(one), units) for one in sources]
    others = [(project_of(file), release) for file, release in shown]
    for givers, takers in _NEIGHBORS:
        own = [(project_of(one.place.file), one.version) for one in found if one.role in givers and one.version]
        by_project: dict[str, set[str]] = {}
        for project, release in (*own, *(others if Role.BROKER in givers else ())):
            by_project.setdefault(project, set()).add(release)
        known = {project: next(iter(releases)) for project, releases in by_project.items() if len(releases) == 1}
        if known:
            found = [
                replace(one, version=release)
                if one.role in takers and not one.version and (release := known.get(project_of(one.place.file)))
                else one
                for one in found
            ]
    return found


def _unpacked(source: Source) -> Source:
    """Return a source without a release with that of the distribution of Kafka whose folder its file stands in."""
    shown = None if source.version else _UNPACKED.search(source.place.file)
    return source if shown is None or not is_release(shown[1]) else replace(source, version=shown[1])


def _started_by(source: Source, releases: Mapping[str, str]) -> Source:
    """Return a server without a release with that of the program in the unit that starts it."""
    if source.version or source.role not in OF_DISTRIBUTION or source.instances is None:
        return source
    return replace(source, version=releases.get(source.instances.file, ""))


def _lacks_release(source: Source) -> bool:
    return source.role in (Role.BROKER, Role.TOPIC) and not source.version


def _releases(document: Node) -> Iterator[str]:
    if not isinstance(document, Branch):
        return
    yield _of_confluent(document)
    for chart in (document, *(child for key, child in document.entries if "kafka" in key.lower())):
        if isinstance(chart, Branch) and (image := chart.branch("image")) is not None:
            yield _of_chart(image)
    yield from _of_cloud(document)
    for path in () if _PATHS.keys().isdisjoint(document.by_key) else _PATHS.values():
        for one in path:
            if match := _RELEASE.match(document.text(*one) or ""):
                yield match[1]


def _of_confluent(document: Branch) -> str:
    """Return the release of the server that a resource of Confluent's operator starts."""
    is_its = (document.text("apiVersion") or "").startswith("platform.confluent.io/")
    return release_of_image(document.text("spec", "image", "application") or "") if is_its else ""


def _of_chart(image: Branch) -> str:
    """Return the release of a chart's image; only Bitnami's tags show without a repository whose they are."""
    tag, repository = image.text("tag") or "", image.text("repository") or ""
    found = _BITNAMI.match(tag)
    if found and (not repository or "kafka" in repository):
        return found[1]
    return release_of_image(f"{repository}:{tag}")


def _of_cloud(node: Branch) -> Iterator[str]:
    """Yield the releases of clusters and configurations of MSK and Aiven, in CloudFormation and in Terraform."""
    for key, child in node.entries:
        own = child.text("Type") if isinstance(child, Branch) else ""
        if isinstance(child, Branch) and (_CLOUD.match(own or "") or _CLOUD.match(key)):
            yield from _versions(child)
        elif isinstance(child, Branch) and key in ("Resources", "resource"):
            yield from _of_cloud(child)


def _versions(node: Node) -> Iterator[str]:
    if isinstance(node, Row):
        for child in node.nodes:
            yield from _versions(child)
    elif isinstance(node, Branch):
        for key, child in node.entries:
            members = child.nodes if isinstance(child, Row) else (child,)
            if key in _VERSIONS:
                texts = (one.text or "" for one in members if isinstance(one, Leaf))
                yield from (found[1] for text in texts if (found := _RELEASE.match(text)))
            elif not isinstance(child, Leaf):
                yield from _versions(child)
