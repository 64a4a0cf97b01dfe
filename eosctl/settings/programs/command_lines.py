"""Command lines: options that hold settings, containers that they start, texts that they write and send."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node

OPTION_HEADS: Final = (
    *("spring.kafka.", "spring.cloud.stream.", "mp.messaging.", "kafka.", "kafka-streams."),
    "quarkus.kafka-streams.",
)
"""What the options begin with that Spring, MicroProfile, and Quarkus take as settings of Kafka."""
FLINK_RUN: Final = re.compile(r"\bflink[ \t]+run(?:-application)?\b")
JOBS: Final = "job in line "
"""What the key of a Flink job begins with that a script starts, in the script's tree."""
_OPTION: Final = re.compile(
    r"""(?:^|(?<=[\s,"'\[=]))(?:--|-D)(?P<name>[\w.\[\]-]+)=(?P<value>"[^"]*"|'[^']*'|[^\s"'\],]+(?:,(?!-)[^\s"'\],]+)*|(?=[\s"'\]]|$))"""
)
_HEREDOC: Final = re.compile(r"""<<-?[ \t]*(?P<quote>["']?)(?P<end>[A-Za-z_]\w*)(?P=quote)""")
_TARGET: Final = re.compile(r"(?:>>?|\btee(?:[ \t]+-a)?)[ \t]*(?P<path>[^\s<>|&;\"']+)")
_BODY: Final = re.compile(
    r"""(?:[ \t]-d|--data(?:-raw|-binary|-ascii)?|--json)[ \t=]*"""
    r"""(?:'(?P<plain>\s*\{[^']*)'|"(?P<escaped>\s*\{(?:[^"\\]|\\.)*)")"""
)
_RUN: Final = re.compile(r"\b(?:docker|podman|nerdctl)[ \t]+(?:container[ \t]+)?(?:run|create)[ \t]")
_FLAGS: Final = frozenset({"-d", "-i", "-t", "-it", "-ti", "-dit", "-P", "--rm", "--detach", "--init", "--privileged"})
"""Options of ``docker run`` that no value follows."""

_TOOL: Final = re.compile(r"\bkafka-(?:topics|configs|acls|storage|features|server-start)\b|\brpk topic\b")
_HANDED: Final = re.compile(
    r"""(?P<before>(?:\b(?:a|ba|da|k|z)?sh\b[^\n'"]{0,200}?\s-\w*c|\bssh\s[^\n'"]{0,200}?)\s+)"""
    r"""(?:'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)")""",
    re.DOTALL,
)
"""A script within a script: behind ``-c`` of a shell, or for another host."""


def options_in(text: str, first: int) -> Iterator[tuple[str, Leaf]]:
    """Yield the settings that the options of a command line hold.

    Args:
        text: The command line, with its line breaks.
        first: The number of its first line.

    >>> [(name, leaf.text) for name, leaf in options_in('["java", "-Dspring.kafka.producer.acks=1"]', 1)]
    [('spring.kafka.producer.acks', '1')]
    """
    for match in _OPTION.finditer(text):
        if match["name"].startswith(OPTION_HEADS):
            yield match["name"], Leaf(match["value"].strip("'\""), first + text.count("\n", 0, match.start()))


def options_among(pairs: Iterable[tuple[str, Leaf]]) -> dict[str, Leaf]:
    """Return those of the names that are options of a command, and not variables."""
    return {key: leaf for key, leaf in pairs if key.startswith(OPTION_HEADS)}


def files_written(lines: list[str], first: int = 1) -> tuple[list[tuple[str, Leaf]], list[str]]:
    """Return the texts that a script writes (``cat >NAME <<END``) by the name of their file, and the other lines.

    The other lines keep their numbers: an empty line stands for each of a text.

    Args:
        lines: The script.
        first: Number of its first line, from 1.
    """
    found: list[tuple[str, Leaf]] = []
    rest: list[str] = []
    numbered = enumerate(lines, first)
    ends = {line.strip() for line in lines}
    for number, line in numbered:
        rest.append(line)
        start = _HEREDOC.search(line)
        if start is None or line.lstrip().startswith("#") or start["end"] not in ends:
            continue
        body: list[str] = []
        for _, inner in numbered:
            rest.append("")
            if inner.strip() == start["end"]:
                break
            body.append(inner)
        target = _TARGET.search(line.replace(start[0], " "))
        name = target["path"].rpartition("/")[2] if target else f"text in line {number}"
        found.append((name, Leaf("\n".join(body) + "\n", number + 1)))
    return found, rest


def without_quotes(text: str) -> str:
    """Return a script with the commands that it hands to another shell, ``bash -c '...'``, as commands of its own.

    Lines keep their numbers.

    >>> without_quotes("kubectl exec k -- sh -c 'kafka-topics.sh --list'")
    'kubectl exec k -- sh -c  kafka-topics.sh --list ;'
    """
    return _HANDED.sub(_as_command, text) if "kafka-" in text or "rpk " in text else text


def _as_command(match: re.Match[str]) -> str:
    body = match["single"] if match["single"] is not None else match["double"].replace('\\"', '"')
    return f"{match['before']} {body} ;" if _TOOL.search(body) else match[0]


def bodies_in(text: str, first: int = 1) -> Iterator[tuple[str, Leaf]]:
    """Yield the objects of JSON that a script sends: ``curl -d '{...}'``; its first line has a number from 1."""
    line, counted = first, 0
    for match in _BODY.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        body = match["plain"] or match["escaped"]
        if '"' not in body.replace('\\"', ""):  # quoted once more, within a command in quotes
            body = re.sub(r"\\(.)", r"\1", body)
        yield f"body in line {line}", Leaf(body + "\n", line + text.count("\n", match.start(), _begin(match)))


def _begin(match: re.Match[str]) -> int:
    return match.start("plain") if match["plain"] else match.start("escaped")


def containers_run(lines: Iterable[tuple[int, str]], count: Leaf | None = None) -> list[tuple[str, Node]]:
    """Return the containers that ``docker run`` starts with variables, as Compose writes services.

    Args:
        lines: The commands, each with the number of its line.
        count: How many containers each of them starts; None for one.
    """
    services: list[tuple[str, Node]] = []
    for number, line in lines:
        found = _RUN.search(line)
        if found is not None and (service := _container(line[found.end() :], number)) is not None:
            name, own = service
            services.append((name, own if count is None else Branch((*own.entries, ("scale", count)), own.line)))
    return services


def _container(text: str, number: int) -> tuple[str, Branch] | None:
    try:
        words = shlex.split(text.replace("\n", " "))
    except ValueError:
        return None
    name, image, variables = "", "", list[tuple[str, Node]]()
    arguments = iter(words)
    for word in arguments:
        option, equals, value = word.partition("=")
        if not word.startswith("-"):
            image = word
            break
        if word in _FLAGS:
            continue
        given = value if equals and option.startswith("--") else next(arguments, "")
        if option == "--name":
            name = given
        elif option in ("-e", "--env"):
            key, _, text_of_value = given.partition("=")
            variables.append((key, Leaf(text_of_value, number + _line_of(text, given))))
    if not image or not variables:
        return None
    service = (("image", Leaf(image, number)), ("environment", Branch(tuple(variables), number)))
    return name or f"{image} in line {number}", Branch(service, number)


def _line_of(text: str, word: str) -> int:
    """Return the line within a command on which a word stands; the first where quotes changed it."""
    return text.count("\n", 0, max(text.find(word), 0))
