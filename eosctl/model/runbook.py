"""The format of a runbook: inputs and steps of a closed set of types, read from YAML."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

import msgspec

Value = str | int | bool
StepId = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$")]
Duration = Annotated[str, msgspec.Meta(pattern="^[0-9]+(ms|s|m|h)$")]
Text = Annotated[str, msgspec.Meta(min_length=1)]

_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


class Outcome(StrEnum):
    """How a run ends. The first three are also the targets that a step may name instead of another step."""

    VERIFIED = "verified"
    NO_ACTION = "no-action"
    BLOCKED = "blocked"
    PLANNED = "planned"
    MANUAL = "manual"
    FAILED = "failed"


TARGETS: Final = (Outcome.VERIFIED, Outcome.NO_ACTION, Outcome.BLOCKED)


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a runbook; a misspelt key is refused."""


class Branch(_Part, frozen=True, kw_only=True):
    """Where to go when an expression over facts holds; the first that holds is taken."""

    when: Text
    goto: Text


class _Step(_Part, frozen=True, kw_only=True, tag_field="type"):
    """What all steps have: `say` is what people read; without `next` the following step in the file is next."""

    id: StepId
    say: Text
    next: str = ""


class Probe(_Step, frozen=True, kw_only=True, tag="probe"):
    """Read the cluster; the facts are then known under the step's id."""

    run: Text
    arguments: dict[str, Value] = msgspec.field(name="with", default_factory=dict)
    branch: tuple[Branch, ...] = ()
    timeout: Duration = "60s"


class Assert(_Step, frozen=True, kw_only=True, tag="assert"):
    """Continue only if an expression over facts holds."""

    that: Text
    why: Text
    otherwise: str = Outcome.BLOCKED.value


class Evidence(_Step, frozen=True, kw_only=True, tag="evidence"):
    """Save a snapshot of the whole cluster next to the journal."""

    timeout: Duration = "120s"


class Verification(_Part, frozen=True, kw_only=True):
    """What shows that an action worked: a probe, repeated until an expression over `after` holds."""

    run: Text
    until: Text
    arguments: dict[str, Value] = msgspec.field(name="with", default_factory=dict)
    within: Duration = "60s"


class Action(_Step, frozen=True, kw_only=True, tag="action"):
    """Change the cluster. Risk, reversibility and rollback belong to the kind of action and are not said here."""

    run: Text
    verify: Verification
    arguments: dict[str, Value] = msgspec.field(name="with", default_factory=dict)
    timeout: Duration = "60s"


class Confirm(_Step, frozen=True, kw_only=True, tag="confirm"):
    """Ask a person to type `expect`."""

    expect: Text


class Wait(_Step, frozen=True, kw_only=True, tag="wait"):
    """Repeat a probe until an expression over its facts holds."""

    run: Text
    until: Text
    within: Duration
    arguments: dict[str, Value] = msgspec.field(name="with", default_factory=dict)
    otherwise: str = Outcome.BLOCKED.value


class Manual(_Step, frozen=True, kw_only=True, tag="manual"):
    """Hand over to a person. With `next` the run can be resumed there, without it the runbook ends here."""


class Notify(_Step, frozen=True, kw_only=True, tag="notify"):
    """End the run with a message to the responsible team."""


Step = Probe | Assert | Evidence | Action | Confirm | Wait | Manual | Notify
Asking = Probe | Wait


class Input(_Part, frozen=True, kw_only=True):
    """What the operator may or must give; without a default it must be given."""

    about: Text
    type: Literal["string", "int"] = "string"
    default: str | int | None = None


class Runbook(_Part, frozen=True, kw_only=True):
    """A runbook.

    `symptoms` are the words with which users describe the problem, `findings` the checks that lead here, `never` the
    harmful procedures that other sources recommend.
    """

    format: Literal["eosctl/v1"]
    id: Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9-]*$")]
    title: Text
    about: Text
    symptoms: tuple[Text, ...]
    findings: tuple[str, ...] = ()
    inputs: dict[StepId, Input] = {}
    never: tuple[Text, ...] = ()
    steps: Annotated[tuple[Step, ...], msgspec.Meta(min_length=1)]

    def step(self, step_id: str) -> Step:
        """Return the step with this id; KeyError without one."""
        found = next((step for step in self.steps if step.id == step_id), None)
        if found is None:
            raise KeyError(step_id)
        return found

    def after(self, step: Step) -> str:
        """Return where a step goes by default: its `next`, else the following step, empty behind the last."""
        if step.next:
            return step.next
        ids = [other.id for other in self.steps]
        index = ids.index(step.id) + 1
        return ids[index] if index < len(ids) else ""

    def targets(self, step: Step) -> tuple[str, ...]:
        """Return every place a step can go to: step ids and outcomes."""
        match step:
            case Notify():
                return ()
            case Manual(next=following):
                return (following,) if following else ()
            case Probe(branch=branches):
                found = [branch.goto for branch in branches]
            case Assert(otherwise=otherwise) | Wait(otherwise=otherwise):
                found = [otherwise]
            case _:
                found = []
        return tuple(dict.fromkeys([*found, self.after(step)]))


def duration_ms(text: str) -> int:
    """Return the ms of a duration.

    >>> duration_ms("90s"), duration_ms("5m")
    (90000, 300000)
    """
    digits = text.rstrip("mshd")
    return int(digits) * _UNITS_MS[text[len(digits) :]]
