"""Recognize the output of Kafka's tools, and the signs of a fault in it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

import msgspec

from eosctl.knowledge.reference.index import entry_named
from eosctl.model.reference import Entry
from eosctl.text import duration_text

_TIMES: Final = frozenset({"duration", "timeout"})
_NOTICED_MS: Final = 60_000


class ToolOutput(NamedTuple):
    """Output of a tool in a text.

    Attributes:
        tool: The tool's entry.
        signs: Signs of a fault, in the order of the data.
    """

    tool: Entry
    signs: tuple[FoundSign, ...]


class FoundSign(NamedTuple):
    """A sign of a fault that a tool printed, and the ids that it names."""

    sign: Sign
    values: dict[str, str]


class Sign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a sign of a fault looks, and the runbook or the entry for it.

    Attributes:
        pattern: A regular expression; its groups are ids.
        needs: A regular expression for what else the text must have, such as a complaint; any case of letters.
        says: What the tool printed.
        runbook: The runbook for it.
        entry: The entry of the reference for it, where no runbook fits.
        decide: The command that decides; a sign with it may also be healthy, such as a transaction that is open.

    Groups `duration` and `timeout` in milliseconds are those of a transaction: it is a sign when it has been open for
    a minute and is within its timeout, and `{left}` in ``says`` becomes the minutes that are left.
    """

    pattern: str
    says: str
    needs: str = ""
    runbook: str = ""
    entry: str = ""
    decide: str = ""


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the output of a tool looks."""

    tool: str
    pattern: str
    sign: tuple[Sign, ...] = ()


def find_outputs(text: str) -> tuple[ToolOutput, ...]:
    """Return the outputs of tools that a text has."""
    return tuple(
        ToolOutput(entry_named(output.tool), tuple(filter(None, (_found(sign, text) for sign in output.sign))))
        for output in load_outputs()
        if re.search(output.pattern, text, re.MULTILINE)
    )


def _found(sign: Sign, text: str) -> FoundSign | None:
    if sign.needs and not re.search(sign.needs, text, re.IGNORECASE):
        return None
    matches = re.finditer(sign.pattern, text, re.MULTILINE)
    match = next((one for one in matches if _has_time_left(one)), None)
    if match is None:
        return None
    names = {"id": "transactional_id"}
    found = {names.get(name, name): value for name, value in match.groupdict().items() if value}
    if _TIMES.isdisjoint(found):
        return FoundSign(sign, found)
    says = sign.says.format(left=duration_text(_left_ms(match)))
    values = {name: value for name, value in found.items() if name not in _TIMES}
    return FoundSign(msgspec.structs.replace(sign, says=says), values)


def _has_time_left(match: re.Match[str]) -> bool:
    return _TIMES.isdisjoint(match.groupdict()) or _left_ms(match) > 0


def _left_ms(match: re.Match[str]) -> int:
    """Return for how long a transaction may stay open; 0 if it is over, or too young to be noticed."""
    duration, timeout = int(match["duration"]), int(match["timeout"])
    return max(timeout - duration, 0) if duration >= _NOTICED_MS else 0


@cache
def load_outputs() -> tuple[Output, ...]:
    """Return the forms of tools' output, in the order of the data."""
    text = (resources.files("eosctl.knowledge.reference") / "outputs.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["output"], tuple[Output, ...])
