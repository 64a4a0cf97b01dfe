"""Recognize the output of Kafka's tools, and the signs of a fault in it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import NamedTuple

import msgspec

from eosctl.knowledge.reference.index import entry_named
from eosctl.model.reference import Entry


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
        says: What the tool printed.
        runbook: The runbook for it.
        entry: The entry of the reference for it, where no runbook fits.
        decide: The command that decides; a sign with it may also be healthy, such as a transaction that is open.
    """

    pattern: str
    says: str
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
    match = re.search(sign.pattern, text, re.MULTILINE)
    if match is None:
        return None
    names = {"id": "transactional_id"}
    values = {names.get(name, name): value for name, value in match.groupdict().items() if value}
    return FoundSign(sign, values)


@cache
def load_outputs() -> tuple[Output, ...]:
    """Return the forms of tools' output, in the order of the data."""
    text = (resources.files("eosctl.knowledge.reference") / "outputs.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["output"], tuple[Output, ...])
