"""Name the system outside of Kafka that a connector does not reach, by the exception with which its task ended.

A task reports the failure of its database or store as its own. The classes and words are those of the drivers: they
name the system, and whether the connection is at fault or what was sent over it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.log_event import LogEvent

_OF_KAFKA: Final = re.compile(r"\borg\.apache\.kafka\.(?:common|clients)\.|\bconnect\.runtime\.rest\.")
"""Exceptions of Kafka's clients, and of the calls between Connect's workers."""
_OF_WORKER: Final = re.compile(r"\bWorker\w*Task\{[^}\n]{0,255}\}|\[[^\]|\n]{0,255}\|(?:task-\d+|worker)\]")
"""The names of connectors and tasks, which people choose."""
_TRANSPORT: Final = ("java.net.", "java.nio.channels.")
_UNNAMED: Final = "the system that it reads from or writes to"


class _System(NamedTuple):
    """A system, the words that identify it, and those by which its client reports a connection that fails."""

    name: str
    words: re.Pattern[str]
    unreached: re.Pattern[str]


@cache
def _systems() -> Sequence[_System]:
    text = files("eosctl.logs.incidents.remaining").joinpath("external_systems.toml").read_text("utf-8")
    data = tomllib.loads(text)
    transport = data["transport"]
    return tuple(
        _System(one["name"], _any(one["words"]), _any([*one["unreached"], *transport])) for one in data["system"]
    )


def _any(expressions: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in expressions))


def unreached_system(event: LogEvent) -> str:
    """Return the system whose connection failed by the words of a record, e.g. ``the MySQL database``; empty if none.

    An exception of Kafka's own client in the record is the nearer cause.
    """
    chain = event.exception.chain if event.exception is not None else ()
    text = _OF_WORKER.sub(" ", "\n".join((event.message, event.fields.get("thrown", ""), *chain)))
    if _OF_KAFKA.search(text):
        return ""
    system = next((one for one in _systems() if one.words.search(text)), None)
    if system is None:
        return _UNNAMED if chain and chain[-1].startswith(_TRANSPORT) else ""
    return system.name if system.unreached.search(text) else ""


def is_system_unreached(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a connector or its tasks that ended because one system outside of Kafka was not reached."""
    systems = {name for event in events if (name := unreached_system(event))}
    if len(systems) != 1:
        return None
    tasks = sorted({task for event in events if (task := event.fields.get("connector_task"))})
    connectors = sorted({connector for event in events if (connector := event.fields.get("connector"))})
    kind, names = ("task", tasks) if tasks else ("connector", connectors)
    kind = f"{kind}s" if len(names) > 1 else kind
    return {"system": systems.pop(), "ended": f"{kind} {', '.join(names)}" if names else "a connector"}
