"""The format of a scenario file: a cluster, steps, and expected findings."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

StepWords = dict[str, Any]
"""A step: `do` is its name, the rest are its arguments; it must fail with one of the errors in `refused`.

`releases` is the range of releases that it is done on; without it, all (`eosctl.lab.scenarios.releases`).
"""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a scenario; unknown keys are rejected."""


class ClusterWords(_Part, frozen=True, kw_only=True):
    """The cluster of the scenario; `release` is a range, `settings` are of brokers, `bugs` as in `sandbox up --bug`."""

    brokers: Annotated[int, msgspec.Meta(ge=1, le=5)] = 1
    release: str = "3.3+"
    transaction_version: int | None = None
    settings: dict[str, str] = {}
    bugs: tuple[str, ...] = ()


class Findings(_Part, frozen=True, kw_only=True):
    """Ids of checks that must and must not have findings afterwards."""

    fire: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


class Script(_Part, frozen=True, kw_only=True):
    """A scenario.

    Attributes:
        name: Its name.
        title: A one-line title.
        happens: The steps in words.
        matters: The effect on exactly-once.
        sees: The symptoms for a user.
        cluster: The cluster.
        inner: Why it cannot run on real Kafka from outside; empty if it can.
        steps: The steps and their expected results.
        findings: The expected findings at the end.
    """

    name: str
    title: str
    happens: str
    matters: str
    sees: str
    cluster: ClusterWords = ClusterWords()
    inner: str = ""
    steps: Annotated[tuple[StepWords, ...], msgspec.Meta(min_length=1)]
    findings: Findings = Findings()
