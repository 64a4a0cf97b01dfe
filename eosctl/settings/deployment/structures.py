"""Find the Kafka settings inside files that hold other things too: Kubernetes resources, Compose files, REST bodies.

Each reader takes a document and returns the sources in it, or None when the document is not its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Place, Role
from eosctl.settings.files.documents import format_of
from eosctl.settings.formats.sql_file import SET_OF_KSQLDB
from eosctl.settings.formats.tree import Branch, Leaf, Node
from eosctl.settings.frameworks.connectors import connect_rest
from eosctl.settings.frameworks.flink_jobs import flink_jobs
from eosctl.settings.frameworks.operators import confluent, strimzi
from eosctl.settings.frameworks.pipelines import pipelines
from eosctl.settings.frameworks.redpanda import redpanda, redpanda_command
from eosctl.settings.names.setting_names import setting_of
from eosctl.settings.platforms.container_files import containers_of
from eosctl.settings.platforms.nomad_jobs import nomad_job
from eosctl.settings.platforms.workloads import service_name
from eosctl.settings.programs.command_lines import options_among
from eosctl.settings.programs.environment import (
    CLIENT_ROLES,
    container_environment,
    variables_of,
    with_options,
)
from eosctl.settings.values.sources import Source, value_of

_VARIABLES: Final = ("env", "image", "unit")
"""The formats of files that hold nothing but variables, as they are read."""
_BUILT: Final = "(built)"
"""Stands for the image of a service that names what it is built from instead, or changes one of another file."""
_OF_KSQLDB: Final = "ksql.streams."
"""What may stand before a setting of Kafka Streams in a statement of ksqlDB."""
Reader = Callable[[Branch, str], list[Source] | None]


def find_sources(document: Node, file: str) -> list[Source] | None:
    """Return what the first reader that knows the document's kind finds in it; None when no reader does."""
    if not isinstance(document, Branch):
        return None
    for reader in READERS_OF_SCALARS if document.is_plain else READERS:
        found = reader(document, file)
        if found is not None:
            return found
    return None


def _kubernetes(document: Branch, file: str) -> list[Source] | None:
    """Read the environment of containers."""
    if document.text("kind") is None or document.text("apiVersion") is None:
        return None
    name = document.text("metadata", "name") or ""
    workload = f"{document.text('kind')} {name}"
    sources: list[Source] = []
    for container in containers_of(document):
        commands = (container.get("command"), container.get("args"))
        found = container_environment(
            container.get("env"), container.text("image") or "", container.text("name") or name, file, commands
        )
        found += redpanda_command(container.text("image") or "", commands, container.text("name") or name, file)
        sources += [replace(source, part_of=workload) for source in found]
    return sources or None  # a resource of some operator's own may hold settings anywhere


def _compose(document: Branch, file: str) -> list[Source] | None:
    services = document.branch("services")
    if services is None:
        return None
    sources: list[Source] = []
    for name, service in services.entries:
        if isinstance(service, Branch):
            commands = (service.get("command"), service.get("entrypoint"))
            # What a built image adds to Kafka's defaults is not known, nor what the file has that this one changes.
            image = service.text("image") or _BUILT
            found = container_environment(service.get("environment"), image, name, file, commands)
            found += redpanda_command(image, commands, name, file, has_own_file=False)
            sources += [replace(source, part_of=service_name(name, file), described_by=file) for source in found]
    return sources


def _plain_environment(document: Branch, file: str) -> list[Source] | None:
    read = format_of(file)
    if read is None or read.name not in _VARIABLES:
        return None
    given = [(key, node) for key, node in document.entries if isinstance(node, Leaf)]
    options = options_among(given) if read.name != "env" else {}
    pairs = [(key, leaf) for key, leaf in given if key not in options]
    found = with_options(variables_of(pairs, "", "", file), options, "", file, ())
    if found:
        return found
    # An application's own variables, named as the settings are: ISOLATION_LEVEL.
    settings = {name for role in CLIENT_ROLES for name in load_tables()[role.value].parameters}
    own = {
        setting: value_of(key, leaf, file, setting)
        for key, leaf in pairs
        if (setting := _setting_named(key)) in settings
    }
    return [Source(Place(file, 1), own, hints=(file.rpartition("/")[2].lower(),))] if own else []


def _ksqldb_statements(document: Branch, file: str) -> list[Source] | None:
    """Read what statements of ksqlDB set for the applications of Kafka Streams that run its queries."""
    given = document.branch(SET_OF_KSQLDB)
    if given is None:
        return None
    values = {
        (name := key.removeprefix(_OF_KSQLDB)): value_of(key, leaf, file, name)
        for key, leaf in given.entries
        if isinstance(leaf, Leaf)
    }
    return [Source(Place(file, given.line), values, "", Role.STREAMS, Client.JAVA, recognized_by=SET_OF_KSQLDB)]


def _setting_named(variable: str) -> str:
    return variable if "." in variable else setting_of(variable)


READERS: Final[tuple[Reader, ...]] = (
    *(redpanda, strimzi, confluent, _kubernetes, _compose, nomad_job, connect_rest, flink_jobs, pipelines),
    *(_ksqldb_statements, _plain_environment),
)
READERS_OF_SCALARS: Final[tuple[Reader, ...]] = (redpanda, connect_rest, flink_jobs, _plain_environment)
"""The readers that find settings in a mapping without other mappings."""
