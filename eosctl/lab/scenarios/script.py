"""The format of a scenario file: a cluster, what is done to it step by step, and what must be found afterwards."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from eosctl.errors import ConfigFileError, UsageError, unknown_name
from eosctl.settings.small_files import parse_yaml_as, read_small_text

StepWords = dict[str, Any]
"""``do`` names the step, the rest are its arguments; ``refused`` names the errors of which it must meet one."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a scenario; a misspelt key is refused."""


class ClusterWords(_Part, frozen=True, kw_only=True):
    """The cluster that the scenario is made for; ``settings`` are the brokers', ``bugs`` as ``sandbox up --bug``."""

    brokers: Annotated[int, msgspec.Meta(ge=1, le=5)] = 1
    release: Literal["3.9", "4.3"] = "4.3"
    transaction_version: int | None = None
    settings: dict[str, str] = {}
    bugs: tuple[str, ...] = ()


class Findings(_Part, frozen=True, kw_only=True):
    """Ids of checks that must and that must not find anything afterwards."""

    fire: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


class Script(_Part, frozen=True, kw_only=True):
    """A scenario.

    Attributes:
        name: How it is called.
        title: One line.
        rows: The requirements that it shows.
        happens: What is done, in plain words.
        matters: Why it matters for exactly-once.
        sees: What a user sees of it.
        cluster: Where it plays.
        inner: Why it cannot be played on real Kafka from outside; empty when it can.
        steps: What is done and what must come of it.
        findings: What the checks must say at the end.
    """

    name: str
    title: str
    rows: tuple[str, ...] = ()
    happens: str
    matters: str
    sees: str
    cluster: ClusterWords = ClusterWords()
    inner: str = ""
    steps: Annotated[tuple[StepWords, ...], msgspec.Meta(min_length=1)]
    findings: Findings = Findings()


def parse_script(text: str, name: str) -> Script:
    """Read a scenario and see that every step can be done, and every check that it names exists.

    Raises:
        ConfigFileError: It is no YAML, or no scenario; the message names what is wrong.
    """
    from eosctl.lab.scenarios.steps.judging import require_known
    from eosctl.lab.scenarios.steps.registry import bind

    script = parse_yaml_as(Script, text, name, "scenario", "The format: docs/sandbox/scenarios.md.")
    for number, step in enumerate(script.steps, 1):
        try:
            bind(step)
        except UsageError as error:
            raise ConfigFileError(f"Step {number} of {name}: {error.what}", error.why, error.next_step) from error
    try:
        require_known([*script.findings.fire, *script.findings.silent])
    except UsageError as error:
        raise ConfigFileError(f"The findings of {name}: {error.what}", error.why, error.next_step) from error
    return script


def read_script(path: Path) -> Script:
    """Read a scenario from a file.

    Raises:
        ConfigFileError: It cannot be read, or is none.
    """
    return parse_script(read_small_text(path, "scenario"), str(path))


@cache
def library() -> dict[str, Script]:
    """Return the scenarios that come with eosctl, by name."""
    folder = files("eosctl.lab.scenarios") / "library"
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda e: e.name)
    return {
        entry.name.removesuffix(".yaml"): parse_script(entry.read_text(encoding="utf-8"), entry.name) for entry in found
    }


def find_script(name: str) -> Script:
    """Return the scenario of a name, or of a file that is given by its path.

    Raises:
        UsageError: There is none.
        ConfigFileError: The file is no scenario.
    """
    if name in library():
        return library()[name]
    if name.endswith((".yaml", ".yml")):
        return read_script(Path(name))
    raise unknown_name("scenario", name, library(), "List them: eosctl sandbox scenario list; or name a file")
