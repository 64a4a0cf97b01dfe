"""Commands in the next step of an error reach the cluster that the failed command was about.

Options that may hold a secret (``-X``) are not repeated.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.errors import EosctlError
from eosctl.model.reference import Explanation

CONNECTED: Final = (
    *("doctor", "timeline", "top", "fencing explain", "check run", "check acl", "runbook run", "checklist run"),
    *("snapshot capture", "group list", "group describe", "group lag", "group pending"),
    *("txn list", "txn describe", "txn hanging", "txn producers", "txn blame", "txn watch"),
    *("txn abort", "txn complete", "txn fence"),
)
"""The commands that read or change one cluster, which next steps name."""
_COMMAND: Final = re.compile(rf"\beosctl (?:{'|'.join(CONNECTED)})(?![\w-])")
_SENTENCE: Final = re.compile(r"[.;](?= |$)|$")
_HAS_CLUSTER: Final = re.compile(r" (?:-b|--bootstrap-server|--profile|--command-config|--snapshot)\b")


def with_connection(error: EosctlError, typed: Mapping[str, str]) -> EosctlError:
    """Add the options that name the cluster to the commands of an error's next step.

    Args:
        error: The error; it is changed.
        typed: The options of the failed command, with their values. Without any, the environment names the cluster.

    >>> failed = EosctlError("Nothing hangs.", "", "Run eosctl txn list.")
    >>> with_connection(failed, {"-b": "kafka:9092"}).next_step
    'Run eosctl txn list -b kafka:9092.'
    """
    error.next_step = connected(error.next_step, typed)
    return error


def connected(text: str, typed: Mapping[str, str]) -> str:
    """Return a text whose commands have the options that name the cluster."""
    words = " ".join(f"{option} {shlex.quote(value)}" for option, value in typed.items())
    return _COMMAND.sub(lambda found: _completed(found, words), text) if words else text


def connected_steps(explanations: Iterable[Explanation], typed: Mapping[str, str]) -> list[Explanation]:
    """Return explanations whose next steps have the options that name the cluster."""

    def here(one: Explanation) -> Explanation:
        steps = tuple(connected(step, typed) for step in one.entry.next_steps)
        return replace(one, entry=replace(one.entry, next_steps=steps))

    return [here(one) for one in explanations]


def _completed(found: re.Match[str], words: str) -> str:
    """Return a command with the options, unless its sentence names a cluster already."""
    sentence = _SENTENCE.search(found.string, found.end())
    rest = found.string[found.end() : sentence.start() if sentence else None]
    return found.group() if _HAS_CLUSTER.search(rest) else f"{found.group()} {words}"
