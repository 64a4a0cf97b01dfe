"""One workload: processes that a platform starts alike, with what they read and their environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.model.deployment import Value
from eosctl.model.unjudged import Unseen
from eosctl.settings.formats.node_config import names_variables

_REFERENCE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::[^}]*)?\}")


class Workload(NamedTuple):
    """Processes that a platform starts alike.

    Attributes:
        name: Its kind and its name: ``Deployment settlement``.
        processes: How many there are; None where this part of the description does not name it.
        reads: The resources (``ConfigMap settlement``) and the files and folders that each of them reads.
        variables: Its environment, as far as it is written down.
        is_whole: Whether this is the whole description; an overlay and a scaler have a part of it.
        kafka_files: The configurations of Kafka that its containers read.
        overrides: The settings that a command lays over the file of a broker.
        images: The images of its containers.
        environment: All variables of its containers, with the places of their values.
    """

    name: str
    processes: Value | None
    reads: frozenset[str] = frozenset()
    variables: Mapping[str, str] = {}
    is_whole: bool = False
    kafka_files: tuple[Unseen, ...] = ()
    overrides: Mapping[str, Value] = {}
    images: tuple[str, ...] = ()
    environment: Mapping[str, Value] = {}


def filled_by(values: Mapping[str, Value], variables: Mapping[str, str]) -> dict[str, Value]:
    """Return the values with the variables of the one workload that reads them in the place of references."""

    def filled(value: Value) -> Value:
        if value.resolved or value.text is None or names_variables(value.file):
            return value  # a variable of node-config brings its own place
        text = _REFERENCE.sub(lambda match: variables.get(match[1], match[0]), value.text)
        is_filled = _REFERENCE.search(text) is None and not {"{", "("} & {*text}
        return replace(value, text=text, resolved=is_filled)

    return {name: filled(value) for name, value in values.items()}


def merged(workloads: Iterable[Workload]) -> dict[str, Workload]:
    """Join the parts of each workload; of several counts the highest holds: it is the one that some environment has."""
    found: dict[str, Workload] = {}
    for one in workloads:
        other = found.get(one.name)
        counts = [count for count in (one.processes, other.processes if other else None) if count is not None]
        count = max(counts, key=lambda value: value.number or 0) if counts else None
        reads = one.reads | (other.reads if other else frozenset())
        variables = {**(other.variables if other else {}), **one.variables}
        overrides = {**(other.overrides if other else {}), **one.overrides}
        images = one.images or (other.images if other else ())
        found[one.name] = Workload(one.name, count, reads, variables, overrides=overrides, images=images)
    return found
