"""The format of a rehearsal: faults, the actions of operators, and the expected end of a runbook."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from eosctl.errors import UsageError
from eosctl.knowledge.small_files import parse_yaml_as, read_small_text
from eosctl.model.runbook import Duration, Outcome, Text, Value
from eosctl.runbooks.load import as_id

FORMER_SUFFIX: Final = ".stories.yaml"
"""The former ending of files of rehearsals, and their former key: both are read for one release."""
_FORMER_KEY: Final = re.compile(r"(?m)^stories:")
StepWords = dict[str, Value]
"""A step: `do` is its name, `in` the cluster (default `here`), the rest are its arguments."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a rehearsal; unknown keys are rejected."""


class Turn(_Part, frozen=True, kw_only=True):
    """The actions of people while the run is at a step: it has handed over, asks, waits, or is about to check.

    `answer` is the reply to a question: the expected text, or no.
    """

    at: Text
    does: tuple[StepWords, ...] = ()
    answer: bool = True


class Ends(_Part, frozen=True, kw_only=True):
    """The expected end of the run. Its last message must contain `says`."""

    outcome: Outcome
    step: Text
    says: str = ""


class Shape(_Part, frozen=True, kw_only=True):
    """A cluster; `settings` are the brokers', by Kafka's names."""

    brokers: Annotated[int, msgspec.Meta(ge=1, le=9)] = 1
    release: Literal["3.9", "4.3", "4.4"] = "4.3"
    transaction_version: int | None = None
    log_dirs: Annotated[int, msgspec.Meta(ge=1, le=4)] = 1
    settings: dict[str, str] = {}


class RehearsalScenario(_Part, frozen=True, kw_only=True):
    """A run of a runbook.

    `given` are the steps before it starts. `people` take their turns in order. `patience` limits every wait, so that a
    run without help is short. `afterwards` are the people's steps after the run's end. Then no check may have a finding
    of severity error and no evidence may be missing, except for `leaves`.
    """

    name: Text
    cluster: Shape = Shape()
    other: Shape | None = None
    inputs: dict[str, Value] = {}
    given: tuple[StepWords, ...] = ()
    people: tuple[Turn, ...] = ()
    patience: Duration = "10s"
    ends: Ends
    afterwards: tuple[StepWords, ...] = ()
    leaves: tuple[str, ...] = ()


class Rehearsal(_Part, frozen=True, kw_only=True):
    """The rehearsals of a runbook."""

    format: Literal["eosctl/v1"]
    runbook: Text
    scenarios: Annotated[tuple[RehearsalScenario, ...], msgspec.Meta(min_length=1)]


def parse_rehearsal(text: str, name: str) -> Rehearsal:
    """Parse a rehearsal.

    Raises:
        ConfigFileError: The text is not YAML or not a rehearsal; the message contains the key.
    """
    text = _FORMER_KEY.sub("scenarios:", text, count=1)
    return parse_yaml_as(Rehearsal, text, name, "rehearsal", "The format: docs/runbooks/rehearsals.md.")


def read_rehearsal(path: Path) -> Rehearsal:
    """Read a rehearsal file.

    Raises:
        ConfigFileError: The file cannot be read, or is not a rehearsal.
    """
    return parse_rehearsal(read_small_text(path, "rehearsal"), str(path))


@cache
def rehearsals() -> dict[str, Rehearsal]:
    """Return the rehearsals of the library's runbooks, by runbook id."""
    folder = files("eosctl.lab.rehearsals") / "library"
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda e: e.name)
    return {
        entry.name.removesuffix(".yaml"): parse_rehearsal(entry.read_text(encoding="utf-8"), entry.name)
        for entry in found
    }


def rehearsal_of(runbook: str) -> Rehearsal:
    """Return the rehearsal of a runbook: the library's, or the file next to it that ends in `.scenarios.yaml`.

    Raises:
        UsageError: It has none.
        ConfigFileError: The file is invalid.
    """
    if runbook.endswith((".yaml", ".yml")):
        path = rehearsal_path(Path(runbook))
        if not path.exists():
            raise UsageError(
                f"{runbook} has no rehearsal: nothing was tested.",
                f"It belongs into {path}.",
                "How to write it: docs/runbooks/rehearsals.md",
            )
        return read_rehearsal(path)
    try:
        return rehearsals()[runbook]
    except KeyError:
        raise UsageError(
            f"The runbook {runbook} has no rehearsal.",
            "Nothing was tested.",
            "Write one: docs/runbooks/rehearsals.md",
        ) from None


def rehearsal_path(runbook: Path) -> Path:
    """Return the path of the rehearsals of a runbook file; a file with the former ending is still read."""
    former, path = runbook.with_suffix(FORMER_SUFFIX), runbook.with_suffix(".scenarios.yaml")
    return former if former.exists() and not path.exists() else path


def example_rehearsal(book_id: str) -> str:
    """Return rehearsals for the example of a runbook, which cover each of its paths."""
    text = (files("eosctl.lab.rehearsals") / "example.yaml").read_text(encoding="utf-8")
    return text.replace("runbook: my-runbook", f"runbook: {as_id(book_id)}")
