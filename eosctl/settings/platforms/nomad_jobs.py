"""Jobs of Nomad: the environment of their tasks, and the files that templates make for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.programs.environment import container_environment
from eosctl.settings.programs.process_counts import ONE_PER_NODE
from eosctl.settings.values.sources import Source, value_of

_ON_EACH_NODE: Final = ("system", "sysbatch")
_VARIABLE: Final = re.compile(r"^\s*(?:export\s+)?(?P<name>[A-Za-z_]\w*)=(?P<value>.*?)\s*$")


class _Task(NamedTuple):
    """A task, its name, and the number of processes of its group."""

    block: Branch
    name: str
    processes: Leaf | None


class TextOfFile(NamedTuple):
    """A file that stands inside another one: its text, and its name where it is used; empty where nothing shows it.

    `held_by` is the resource that it becomes, by which services read it.
    """

    text: Leaf
    name: str
    held_by: str = ""


def nomad_job(document: Branch, file: str) -> list[Source] | None:
    """Read the environment of tasks, also what templates with ``env = true`` add to it.

    A group has the number of the processes.
    """
    jobs = document.branch("job")
    if jobs is None:
        return None
    sources: list[Source] = []
    for task in _tasks(jobs, None, ""):
        image = task.block.text("config", "image") or ""
        found = container_environment(_environment(task.block), image, task.name, file)
        instances = None if task.processes is None else value_of("count", task.processes, file)
        sources += [replace(source, instances=instances, part_of=f"job {task.name}") for source in found]
    return sources or None


def files_of_tasks(document: Node) -> Iterator[TextOfFile]:
    """Yield the files that templates make for the tasks of a job; variables are not among them."""
    jobs = document.branch("job") if isinstance(document, Branch) else None
    for task in _tasks(jobs, None, "") if jobs is not None else ():
        for template in _templates(task.block):
            text = template.get("data")
            if not _is_environment(template) and isinstance(text, Leaf):
                yield TextOfFile(text, (template.text("destination") or "").rpartition("/")[2])


def _tasks(node: Node, count: Leaf | None, name: str) -> Iterator[_Task]:
    if isinstance(node, Row):
        for child in node.nodes:
            yield from _tasks(child, count, name)
    elif isinstance(node, Branch):
        own, kind = node.get("count"), node.get("type")
        below = own if isinstance(own, Leaf) else count
        if isinstance(kind, Leaf) and kind.text in _ON_EACH_NODE and node.get("group") is not None:
            below = replace(kind, text=ONE_PER_NODE)
        if node.text("driver") is not None:
            yield _Task(node, name, below)
            return
        for key, child in node.entries:
            yield from _tasks(child, below, key)


def _templates(task: Branch) -> Iterator[Branch]:
    for key, node in task.entries:
        if key == "template" and isinstance(node, Branch):
            yield node


def _is_environment(template: Branch) -> bool:
    return template.text("env") == "true"


def _environment(task: Branch) -> Node | None:
    """Return the variables of a task; lines of a template that begin and end its parts set none."""
    own = task.branch("env")
    made = [
        (match["name"], Leaf(match["value"].strip("\"'"), text.line + number))
        for template in _templates(task)
        if _is_environment(template) and isinstance(text := template.get("data"), Leaf)
        for number, line in enumerate((text.text or "").splitlines())
        if (match := _VARIABLE.match(line)) is not None
    ]
    if not made:
        return own
    return Branch((*(own.entries if own is not None else ()), *made), task.line)
