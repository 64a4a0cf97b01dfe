"""Read which program's log a command prints: people post several commands and their output in one file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_COMMAND: Final = re.compile(
    r"\b(?:kubectl|oc|docker|podman|nerdctl)\b[^|\n]{0,200}? logs (?P<arguments>[^|>&;\n]{1,300})"
)
_WITH_VALUE: Final = frozenset(
    {
        *("-n", "--namespace", "-c", "--container", "--tail", "--since", "--since-time", "--context"),
        *("-l", "--selector", "--until"),
    }
)
PROMPT: Final = re.compile(r"^(?:[\w.@:~/ \[\]-]{0,80}[$#] (?=[\w./])|(?:kubectl|oc|docker|podman|nerdctl) )")
"""A command of a terminal: behind a prompt, or one that prints logs."""


def printed_by(line: str) -> Iterator[str]:
    """Yield the pods or containers whose logs a command prints.

    >>> list(printed_by("$ kubectl -n pay logs --previous pay-0 -c app"))
    ['pay-0']
    >>> list(printed_by("# docker logs --tail 50 kafka-2 2>&1 | grep ERROR"))
    ['kafka-2']
    """
    found = _COMMAND.search(line)
    words = iter(found["arguments"].split() if found else ())
    for word in words:
        if word in _WITH_VALUE:
            next(words, "")
        elif not word.startswith("-") and not word.isdigit():
            yield word.rpartition("/")[2]
