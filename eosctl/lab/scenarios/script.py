"""The format of a scenario file: a cluster, what is done to it step by step, and what must be found afterwards."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

StepWords = dict[str, Any]
"""``do`` names the step, the rest are its arguments; ``refused`` names the errors of which it must meet one."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a scenario; a misspelt key is refused."""


class ClusterWords(_Part, frozen=True, kw_only=True):
    """The cluster that the scenario is made for; `settings` are the brokers', `bugs` as `sandbox up --bug`."""

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
    happens: str
    matters: str
    sees: str
    cluster: ClusterWords = ClusterWords()
    inner: str = ""
    steps: Annotated[tuple[StepWords, ...], msgspec.Meta(min_length=1)]
    findings: Findings = Findings()
