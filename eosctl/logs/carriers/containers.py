"""Unwrap the lines that container engines write to files, and the lines that their tools print."""

from __future__ import annotations

import json
import re
from typing import Final

from eosctl.logs.carriers.carriers import Inner, ends_line

_CRI: Final = re.compile(rb"(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP]) ?(.*)")
_COMPOSE: Final = re.compile(rb"([\w.@-]+) +\| ?(?:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z) )?(.*)")
_COMPOSE_AGAIN: Final = re.compile(rb" {4,}\| ?(.*)")
"""A further line of the container above; some terminals and scripts write its name only once."""
COMPOSE_ITSELF: Final = "compose"
SAME: Final = "|"
"""The stream of a line that belongs to the one above."""
_EXITED: Final = re.compile(rb"[\w.@-]+ exited with code \d+\r?$")
"""What Docker Compose itself writes between the lines of containers."""
_KUBECTL: Final = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}Z) (.*)")
PADDING: Final = rb"(?: {2,80}(?=[\[{%]|\d{4}|[A-Z]{4,8} )| )"
"""A blank, or those that align the records of several containers; indented lines of stack traces keep theirs."""
_PREFIX: Final = re.compile(
    rb"\[pod/([^\]/]+)/[^\]]+\]" + PADDING + rb"?(?:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}Z) )?(.*)"
)
_STERN: Final = re.compile(
    rb"([a-z0-9][a-z0-9.-]*-[a-z0-9]+) {1,80}(?!\d{4}-\d\d-\d\d )[a-z0-9][a-z0-9-]*" + PADDING + rb"(.*)"
)


def unwrap_cri(line: bytes) -> Inner | None:
    """Unwrap a line of a file of the kubelet."""
    found = _CRI.match(line)
    return Inner(found[2].decode(), found[4], found[3] == b"F", found[1].decode()) if found else None


def unwrap_docker(line: bytes) -> Inner | None:
    """Unwrap a line of Docker's driver json-file."""
    if not line.startswith(b'{"log":'):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry["log"], str):
        return None
    # JSON can name half of a pair of surrogates, which UTF-8 cannot hold.
    inner = entry["log"].encode("utf-8", "replace")
    stamp = str(entry.get("time", ""))
    return Inner(str(entry.get("stream", "")), inner.rstrip(b"\r\n"), ends_line(inner), stamp)


def unwrap_compose(line: bytes) -> Inner | None:
    """Unwrap ``docker compose logs``."""
    if found := _COMPOSE.match(line):
        return Inner(found[1].decode(), *_behind(found))
    if found := _COMPOSE_AGAIN.match(line):
        return Inner(SAME, found[1])
    # Its own stream, so that it does not belong to the container's last record.
    return Inner(COMPOSE_ITSELF, line) if _EXITED.match(line) else None


def _behind(found: re.Match[bytes]) -> tuple[bytes, bool, str]:
    """Return the text after a name, that it is complete, and its timestamp, unless an inner wrapper has it."""
    if found[2] and _CRI.match(found.string, found.start(2)):
        return found.string[found.start(2) :], True, ""
    return found[3], True, (found[2] or b"").decode()


def unwrap_kubectl(line: bytes) -> Inner | None:
    """Unwrap ``kubectl logs --timestamps``."""
    found = _KUBECTL.match(line)
    return Inner("", found[2], stamp=found[1].decode()) if found and not _CRI.match(line) else None


def unwrap_prefix(line: bytes) -> Inner | None:
    """Unwrap ``kubectl logs --prefix``."""
    found = _PREFIX.match(line)
    if found is None:
        return None
    pod = found[1].decode()
    return Inner(pod, *_behind(found), host=pod)


def unwrap_stern(line: bytes) -> Inner | None:
    """Unwrap ``stern``."""
    found = _STERN.match(line)
    return Inner(found[1].decode(), found[2], host=found[1].decode()) if found else None
