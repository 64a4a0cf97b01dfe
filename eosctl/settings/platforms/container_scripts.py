"""Scripts that containers, tasks of Ansible, and Taskfiles run: what a command creates, writes, and sends."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.platforms.container_files import containers_of
from eosctl.settings.programs.program_files import OPTIONS, parse_script

_KEYS: Final = ("entrypoint", "command", "args")
_MODULES: Final = frozenset({"shell", "command", "raw", *(f"ansible.builtin.{name}" for name in ("shell", "command"))})
_WORTH_READING: Final = re.compile(r"\bkafka-(?:topics|configs|acls)|\brpk topic|\bcurl\b|<<|\bexport\b")


def scripts_within(document: Node) -> Iterator[Branch]:
    """Yield what the commands in a document configure; options of containers are read with their variables."""
    if isinstance(document, Branch) and document.is_plain:
        return
    for leaf in (*_of_containers(document), *_of_tasks(document)):
        if leaf.text and _WORTH_READING.search(leaf.text):
            own, *started = parse_script(leaf.text, leaf.line)
            yield from started
            if kept := tuple(entry for entry in own.entries if not entry[0].startswith(OPTIONS)):
                yield Branch(kept, leaf.line)


def _of_containers(document: Node) -> Iterator[Leaf]:
    if not isinstance(document, Branch):
        return
    services = document.branch("services")
    containers = [node for _, node in services.entries if isinstance(node, Branch)] if services else []
    if document.text("kind") is not None:
        containers += containers_of(document)
    for one in containers:
        words = [leaf for key in _KEYS for leaf in _texts(one.get(key))]
        if any("\n" in (word.text or "") or " " in (word.text or "") for word in words):
            yield from words
        elif words:
            yield _joined(words)


def _joined(words: list[Leaf]) -> Leaf:
    """Return a command that is written as a list of words as one text, each word on its line."""
    text, line = "", words[0].line
    for word in words:
        text += " \\\n" * max(word.line - line, 0) + f" {shlex.quote(word.text or '')}"
        line = max(word.line, line)
    return Leaf(text, words[0].line)


def _of_tasks(node: Node) -> Iterator[Leaf]:
    """Yield the commands of a list of tasks of Ansible, and of a Taskfile."""
    if isinstance(node, Branch):
        tasks = node.branch("tasks")
        for _, own in tasks.entries if tasks else ():
            for command in own.items("cmds") if isinstance(own, Branch) else ():
                yield from _texts(command.get("cmd") if isinstance(command, Branch) else command)
    elif isinstance(node, Row):
        for task in node.nodes:
            for key, child in task.entries if isinstance(task, Branch) else ():
                if key in _MODULES:
                    yield from _texts(child.get("cmd") if isinstance(child, Branch) else child)
                elif isinstance(child, Row):
                    yield from _of_tasks(child)  # a play's tasks, or a block


def _texts(node: Node | None) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Row):
        for child in node.nodes:
            yield from _texts(child)
