"""Read scenario files, validate each step, and find the scenarios of eosctl."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from eosctl.errors import ConfigFileError, UsageError, unknown_name
from eosctl.knowledge.small_files import parse_yaml_as, read_small_text
from eosctl.lab.scenarios.releases import parse_range
from eosctl.lab.scenarios.script import Script
from eosctl.lab.scenarios.steps.judging import require_known
from eosctl.lab.scenarios.steps.registry import bind


def parse_script(text: str, name: str) -> Script:
    """Parse a scenario, and validate its steps and checks.

    Raises:
        ConfigFileError: The text is not YAML or not a scenario; the message contains the problem.
    """
    script = parse_yaml_as(Script, text, name, "scenario", "The format: docs/sandbox/scenarios.md.")
    try:
        parse_range(script.cluster.release)
    except UsageError as error:
        raise ConfigFileError(f"The cluster of {name}: {error.what}", error.why, error.next_step) from error
    for number, step in enumerate(script.steps, 1):
        try:
            bind(step)
        except (UsageError, ConfigFileError) as error:
            raise ConfigFileError(f"Step {number} of {name}: {error.what}", error.why, error.next_step) from error
    try:
        require_known([*script.findings.fire, *script.findings.silent])
    except UsageError as error:
        raise ConfigFileError(f"The findings of {name}: {error.what}", error.why, error.next_step) from error
    return script


def read_script(path: Path) -> Script:
    """Read a scenario file.

    Raises:
        ConfigFileError: The file cannot be read or is not a scenario.
    """
    return parse_script(read_small_text(path, "scenario"), str(path))


@cache
def library() -> dict[str, Script]:
    """Return the scenarios of eosctl, by name."""
    folder = files("eosctl.lab.scenarios") / "library"
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda e: e.name)
    return {
        entry.name.removesuffix(".yaml"): parse_script(entry.read_text(encoding="utf-8"), entry.name) for entry in found
    }


def find_script(name: str) -> Script:
    """Return the scenario with a name, or in a file given by its path.

    Raises:
        UsageError: The name is unknown.
        ConfigFileError: The file is not a scenario.
    """
    if name in library():
        return library()[name]
    if name.endswith((".yaml", ".yml")):
        return read_script(Path(name))
    raise unknown_name("scenario", name, library(), "List them: eosctl sandbox scenario list; or name a file")
