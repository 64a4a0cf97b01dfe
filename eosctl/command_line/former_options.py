"""Former names of options: accepted for one release, with a note, and in no help.

Scripts and runbooks of users hold them. To drop one, delete its line.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple


class Former(NamedTuple):
    """An option that was renamed.

    Attributes:
        name: The name of today.
        unit: The unit of the former value, which had none, e.g. `ms`.
    """

    name: str
    unit: str = ""


_REPLACE: Final = {"--force": Former("--replace")}
_VERSIONS: Final = {"--from": Former("--from-version"), "--to": Former("--to-version")}
_KAFKA: Final = {"--kafka": Former("--kafka-version")}
_APPLICATION: Final = {
    "--input": Former("--read"),
    "--groups": Former("--group"),
    "--count": Former("--inputs"),
    "--keys": Former("--key-count"),
}

#: By the place of the command, as its entry in `COMMANDS` has it.
FORMER: Final[Mapping[str, Mapping[str, Former]]] = {
    "bugs:bugs": {
        **_KAFKA,
        "--clients": Former("--client-version"),
        "--streams": Former("--streams-version"),
        "--connect": Former("--connect-version"),
        "--librdkafka": Former("--librdkafka-version"),
        "--flink-connector": Former("--flink-connector-version"),
    },
    "capacity.init:init_workload": _REPLACE,
    "capacity.observe:observe": {**_REPLACE, "--interval": Former("--duration")},
    "config.change:upgrade": _VERSIONS,
    "config.show:diff": _VERSIONS,
    "decode.topics:decode_txn_log": {"--history": Former("--states-of")},
    "logs.watch:watch_logs": {
        "--interval-ms": Former("--interval", "ms"),
        "--idle-ms": Former("--idle", "ms"),
        "--for": Former("--duration", "s"),
    },
    "metrics.metrics:list_all": _KAFKA,
    "runbook.test:test_runbooks": {"--story": Former("--scenario")},
    "sandbox.proxy:proxy": {"--for": Former("--duration")},
    "sandbox.scenarios:scenario": {"--watch": Former("--steps")},
    "sandbox.up:start": _KAFKA,
    "timeline:timeline": {"--partition": Former("--topic-partition")},
    "txn.list:describe_transactions": {"--history": Former("--last")},
    "txn.list:list_transactions": {"--pattern": Former("--transactional-id-pattern")},
    "verify.application:verify_app": _APPLICATION,
    "verify.application:verify_dlq": _APPLICATION,
}


def with_todays_names(place: str, arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a command with the names that its options have today; each change is noted.

    Args:
        place: The place of the command.
        arguments: The words after the command. Words after `--` are left as they are.
    """
    former = FORMER[place]
    found: list[str] = []
    unit = ""
    for at, word in enumerate(arguments):
        if word == "--":
            return [*found, *arguments[at:]]
        name, equals, value = word.partition("=")
        renamed = former.get(name)
        if renamed is not None:
            sys.stderr.write(f"note: {name} is now {renamed.name}\n")
            found.append(f"{renamed.name}{equals}{value}{renamed.unit if equals else ''}")
            unit = "" if equals else renamed.unit
        else:
            found.append(word + unit)
            unit = ""
    return found
