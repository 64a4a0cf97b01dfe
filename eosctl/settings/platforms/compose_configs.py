"""Configs and secrets of Compose: files next to the description, or texts within it, that services mount.

Source: the Compose specification (``configs``: ``file``, ``content``); a service names them by themselves, or as
``source`` with the ``target`` where its container has the file.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.platforms.nomad_jobs import TextOfFile

_KINDS: Final = ("configs", "secrets")


def texts_of_configs(document: Node, file: str) -> Iterator[TextOfFile]:
    """Yield the configs whose text stands in the description, each with the name that a container has it by."""
    if not isinstance(document, Branch) or document.branch("services") is None:
        return
    targets = dict(_targets(document))
    for name, node in (document.branch("configs") or Branch((), 1)).entries:
        text = node.get("content") if isinstance(node, Branch) else None
        if isinstance(text, Leaf):
            yield TextOfFile(text, targets.get(name, name).rpartition("/")[2], _held("configs", name, file))


def files_of_configs(document: Branch, file: str) -> dict[tuple[str, str], str]:
    """Return what services read by a config or a secret: its file, or the text in the description; by kind and name."""
    found: dict[tuple[str, str], str] = {}
    for kind in _KINDS:
        for name, node in (document.branch(kind) or Branch((), 1)).entries:
            if not isinstance(node, Branch):
                continue
            if (path := node.text("file")) is not None:
                found[kind, name] = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
            elif node.text("content") is not None:
                found[kind, name] = _held(kind, name, file)
    return found


def configs_of(service: Branch) -> Iterator[tuple[str, str]]:
    """Yield the kinds and the names of the configs and secrets that a service mounts."""
    for kind in _KINDS:
        for node in service.items(kind):
            name = node.text if isinstance(node, Leaf) else node.text("source") if isinstance(node, Branch) else None
            if name:
                yield kind, name


def _targets(document: Branch) -> Iterator[tuple[str, str]]:
    services = document.branch("services")
    for _, service in services.entries if services is not None else ():
        own = service.get("configs") if isinstance(service, Branch) else None
        for node in own.nodes if isinstance(own, Row) else ():
            if isinstance(node, Branch) and (name := node.text("source")) and (target := node.text("target")):
                yield name, target


def _held(kind: str, name: str, file: str) -> str:
    return f"{kind} {posixpath.dirname(file)}/{name}"
