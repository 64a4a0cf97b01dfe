"""Find the machine that wrote a record: in the record, its wrapper, or the path of its file.

Only explicit names count. Logs are often read on another machine, so the local machine's name is never used, and a
folder counts as a machine only if its name has the form of one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_NAMES: Final = (
    *("host.name", "host.hostname", "hostname", "_HOSTNAME", "host_name", "HOSTNAME", "hostName", "syslog_hostname"),
    *("resource.host.name", "resource.attributes.host.name", "attributes.host.name", "agent.hostname"),
    *("kubernetes.host", "kubernetes.node.name", "kubernetes.node_name", "k8s.node.name", "resource.k8s.node.name"),
    *("resource.labels.node_name", "labels.node_name", "labels.hostname", "labels.host", "node_name", "nodeName"),
    *("Computer", "host"),
)
"""Names of the machine in records and in collectors' additions: ECS, OpenTelemetry, pino, GELF, journald, Azure."""
_PODS: Final = (
    *("kubernetes.pod_name", "kubernetes.pod.name", "k8s.pod.name", "resource.k8s.pod.name", "pod_name", "labels.pod"),
    *("resource.labels.pod_name", "labels.pod_name", "PodName"),
)
"""The machine from the view of a process in a container; used if no node is named."""
_NEXT_TO: Final = ("host", "agent", "resource", "kubernetes", "k8s", "labels", "attributes")
"""Objects that collectors put next to the record."""

_EXPLICIT: Final = re.compile(r"(?:host|hostname|node|instance)=([\w.-]+)", re.IGNORECASE)
"""A folder of a partitioned archive."""
_ADDRESS: Final = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}|ip-\d{1,3}(?:-\d{1,3}){3}|i-[0-9a-f]{8,17}", re.IGNORECASE)
_QUALIFIED: Final = re.compile(r"[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+\.[a-z]{2,}", re.IGNORECASE)
_INTERNAL: Final = re.compile(r"[a-z0-9][a-z0-9-]*\.(?:local|internal|lan|corp|intra|localdomain)", re.IGNORECASE)
_REVERSED: Final = re.compile(r"(?:com|org|net|io|de|eu|dev)\.", re.IGNORECASE)
"""The beginnings of packages and bundles, which look like reversed host names."""
_NUMBERED: Final = re.compile(
    r"(?:[a-z0-9]+[-_])*(?:host|node|broker|kafka|controller|server|srv|vm|worker|connect|zookeeper|zk)[-_]?\d{1,4}",
    re.IGNORECASE,
)
_POD_FOLDER: Final = re.compile(r"[a-z0-9-]+_([a-z0-9.-]+)_[0-9a-f-]{32,36}")
_POD_FILE: Final = re.compile(r"([a-z0-9.-]+)_[a-z0-9-]+_([a-z0-9.-]+)-[0-9a-f]{64}\.log")
"""The kubelet's names: NAMESPACE_POD_UID/CONTAINER/0.log, and POD_NAMESPACE_CONTAINER-ID.log that point there."""


def host_of_path(path: Path) -> str:
    """Return the machine that a file's path names; empty if no folder has the form of one.

    An explicit host comes first, then an address or a qualified name, then a numbered name such as ``broker-2``, and a
    pod's name last. Of several names of one kind, the nearest to the file counts.
    """
    folders = path.absolute().parts[-2::-1]
    stem = path.name.partition(".log")[0]
    explicit = [found[1] for part in folders if (found := _EXPLICIT.fullmatch(part))]
    qualified = [part for part in (*folders, stem) if _is_address(part)]
    numbered = [part for part in folders if _NUMBERED.fullmatch(part)]
    pod = pod_of_path(path)
    return next(iter((*explicit, *qualified, *numbered, *(pod[:1] if pod else ()))), "")


def pod_of_path(path: Path) -> tuple[str, str] | None:
    """Return the pod and the container of a kubelet's log file; None for any other file."""
    if found := _POD_FILE.fullmatch(path.name):
        return found[1], found[2]
    found = _POD_FOLDER.fullmatch(path.absolute().parent.parent.name)
    return (found[1], path.absolute().parent.name) if found else None


def host_of_values(values: Mapping[str, Any]) -> str:
    """Return the machine among the named values of a record, or among those that a collector put next to it."""
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    for name in _NEXT_TO:
        texts |= _leaves(name, values.get(name))
    return next((texts[name] for name in (*_NAMES, *_PODS) if texts.get(name)), "")


def _leaves(path: str, value: object) -> dict[str, str]:
    """Return the texts nested in an object by their dotted names; a name may itself contain dots."""
    if isinstance(value, str):
        return {path: value}
    if not isinstance(value, Mapping):
        return {}
    return {leaf: text for name, below in value.items() for leaf, text in _leaves(f"{path}.{name}", below).items()}


def _is_address(name: str) -> bool:
    if _ADDRESS.fullmatch(name) or _INTERNAL.fullmatch(name):
        return True
    return _QUALIFIED.fullmatch(name) is not None and _REVERSED.match(name) is None
