"""The summary of a log scan's tables: what a dashboard shows."""

from __future__ import annotations

from typing import NamedTuple


class Slot(NamedTuple):
    """The warnings and errors of an application in a unit of time that begins at `time`, RFC 3339."""

    time: str
    application: str
    problem_count: int


class Example(NamedTuple):
    """A record that supports an incident: file and line, time (empty without one), and message."""

    place: str
    time: str
    message: str


class Cause(NamedTuple):
    """The incidents of a root cause.

    Attributes:
        root_cause: The cause.
        kind: The kind of most of its incidents.
        severity: The worst severity.
        incident_count: The number of incidents.
        first_at: The earliest start, RFC 3339.
        last_at: The latest end, RFC 3339.
        explanation: The explanation of the first incident.
        next_step: Its next step.
        examples: The records that support the first incident.
    """

    root_cause: str
    kind: str
    severity: str
    incident_count: int
    first_at: str
    last_at: str
    explanation: str
    next_step: str
    examples: tuple[Example, ...]


class Failure(NamedTuple):
    """An exception: its root class, how often it was thrown, and where."""

    root_class: str
    thrown_count: int
    applications: tuple[str, ...]
    first_at: str


class Gap(NamedTuple):
    """An input that was not read as a whole, with its status and the reason."""

    file: str
    status: str
    reason: str


class LogDashboard(NamedTuple):
    """The summary of a run.

    Attributes:
        run_id: The run.
        published_at: When it was published, RFC 3339.
        inputs: The inputs as they were named.
        event_count: The number of events.
        incident_count: The number of incidents.
        unit: The length of a slot: ``second``, ``minute``, ``hour``, or ``day``.
        slots: Warnings and errors over time.
        causes: Root causes, the most frequent first.
        cause_count: The number of root causes; ``causes`` has the first ones.
        failures: Exceptions, the most frequent first.
        new_failures: Exceptions that the baseline does not have; None without a baseline.
        statuses: The number of inputs by status.
        gaps: Inputs that may hide an incident.
        is_complete: Whether no input may.
    """

    run_id: str
    published_at: str
    inputs: tuple[str, ...]
    event_count: int
    incident_count: int
    unit: str
    slots: tuple[Slot, ...]
    causes: tuple[Cause, ...]
    cause_count: int
    failures: tuple[Failure, ...]
    new_failures: tuple[Failure, ...] | None
    statuses: tuple[tuple[str, int], ...]
    gaps: tuple[Gap, ...]
    is_complete: bool
