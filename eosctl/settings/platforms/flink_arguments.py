"""Arguments of Flink jobs: ``--sink.transaction.timeout.ms 900000``, as ParameterTool and other parsers take them.

They stand in ``spec.job.args`` of Flink's operator, in the arguments of a container that runs one job, and behind
``flink run`` in scripts.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from msgspec.structs import replace

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.frameworks.flink_jobs import flink_jobs, sink_of_program
from eosctl.settings.platforms.container_files import containers_of
from eosctl.settings.programs.command_lines import FLINK_RUN, JOBS
from eosctl.settings.values.sources import Source

_OPERATORS: Final = ("FlinkDeployment", "FlinkSessionJob", "FlinkApplication")
_RUNS_A_JOB: Final = re.compile(r"\bstandalone-job(?:\.sh)?\b|--job-classname\b")
_OPTION: Final = re.compile(r"--?(?P<name>[A-Za-z][\w.-]*)(?:=(?P<value>.*))?$", re.DOTALL)


def arguments_of_jobs(document: Node, file: str) -> list[Source]:
    """Return the sinks, sources, and checkpoints that arguments of Flink jobs in a document configure."""
    return [source for words in _commands(document) for source in _read(_options(words), file)]


def _commands(document: Node) -> Iterator[list[Leaf]]:
    if not isinstance(document, Branch):
        return
    if document.text("kind") in _OPERATORS:
        yield _words(document.get("spec", "job", "args")) + _words(document.get("spec", "programArgs"))
    for key, child in document.entries:
        if key.startswith(JOBS):
            yield _words(child)
    services = document.branch("services")
    containers = [one for _, one in services.entries if isinstance(one, Branch)] if services else []
    if document.text("kind") is not None:
        containers += containers_of(document)
    for container in containers:
        words = [word for key in ("entrypoint", "command", "args") for word in _words(container.get(key))]
        text = " ".join(word.text or "" for word in words)
        if _RUNS_A_JOB.search(text) or FLINK_RUN.search(text):
            yield words


def _words(node: Node | None) -> list[Leaf]:
    """Return the words of a command; one that is written as a text is split as a shell does."""
    if isinstance(node, Row):
        return [word for child in node.nodes for word in _words(child)]
    if not isinstance(node, Leaf) or node.text is None:
        return []
    lines = enumerate(node.text.replace("\\\n", "\n").split("\n"), node.line)
    return [replace(node, text=word, line=number) for number, line in lines for word in _split(line)]


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _options(words: list[Leaf]) -> list[tuple[str, Leaf]]:
    """Return the options with their values; a value stands behind ``=`` or is the next word."""
    found: list[tuple[str, Leaf]] = []
    for word, following in zip_longest(words, words[1:]):
        option = _OPTION.match(word.text or "")
        if option is None:
            continue
        if option["value"] is not None:
            found.append((option["name"], replace(word, text=option["value"])))
        elif following is not None and not (following.text or "").startswith("--"):
            found.append((option["name"], following))
    return found


def _read(options: list[tuple[str, Leaf]], file: str) -> list[Source]:
    if not options:
        return []
    document = Branch(tuple(options), options[0][1].line)
    return flink_jobs(document, file) or sink_of_program(document, file)
