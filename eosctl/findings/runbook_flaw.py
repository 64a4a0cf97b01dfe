"""What can be wrong with a runbook, by kind: how bad it is, what follows, and what to do."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from eosctl.model.severity import Severity


class FlawKind(StrEnum):
    """The kinds of flaws."""

    ID_TAKEN = "id-taken"
    UNKNOWN_CHECK = "unknown-check"
    NO_SYMPTOM = "no-symptom"
    NO_WAY_ON = "no-way-on"
    UNKNOWN_STEP = "unknown-step"
    REFUSED_PROCEDURE = "refused-procedure"
    UNKNOWN_CALL = "unknown-call"
    UNKNOWN_ARGUMENT = "unknown-argument"
    MISSING_ARGUMENT = "missing-argument"
    INVALID_EXPRESSION = "invalid-expression"
    IDLE_VERIFICATION = "idle-verification"
    IDLE_WAIT = "idle-wait"
    FACT_TOO_EARLY = "fact-too-early"
    UNREACHABLE_STEP = "unreachable-step"
    UNKNOWN_FACT = "unknown-fact"
    UNCONFIRMED_CHANGE = "unconfirmed-change"
    UNOBSERVED_CHANGE = "unobserved-change"
    ENDLESS_PATH = "endless-path"


class Flaw(NamedTuple):
    """One thing that is wrong; ``step`` is empty when it is the runbook as a whole."""

    kind: FlawKind
    step: str
    message: str


class Stage(StrEnum):
    """What is judged first, second, and last; a flaw of one stage may keep the later ones from being judged."""

    WHOLE = "the runbook as a whole"
    STEPS = "its steps"
    PATHS = "the paths through it"


class FlawMeaning(NamedTuple):
    """A kind of flaw.

    Attributes:
        title: The problem as a noun phrase.
        stage: When it is judged.
        impact: What follows from it.
        remedy: What to do, in the imperative.
        severity: How bad it is.
    """

    title: str
    stage: Stage
    impact: str
    remedy: str
    severity: Severity = Severity.ERROR


MEANINGS: Final[dict[FlawKind, FlawMeaning]] = {
    FlawKind.ID_TAKEN: FlawMeaning(
        "Id used twice or reserved", Stage.WHOLE, "It is not clear which step another one leads to.", "Rename the step."
    ),
    FlawKind.UNKNOWN_CHECK: FlawMeaning(
        "Unknown check",
        Stage.WHOLE,
        "No finding leads to this runbook.",
        "Name a check that exists: eosctl check list.",
    ),
    FlawKind.NO_SYMPTOM: FlawMeaning(
        "No symptom",
        Stage.WHOLE,
        "eosctl diagnose never suggests this runbook.",
        "Add symptoms: the words that an engineer on call would type.",
        Severity.WARNING,
    ),
    FlawKind.NO_WAY_ON: FlawMeaning(
        "Step without a way on", Stage.STEPS, "A run stops without an outcome.", "Give the step a next."
    ),
    FlawKind.UNKNOWN_STEP: FlawMeaning(
        "Unknown step", Stage.STEPS, "A run fails when it gets there.", "Name a step or an outcome that exists."
    ),
    FlawKind.REFUSED_PROCEDURE: FlawMeaning(
        "Procedure that destroys data",
        Stage.STEPS,
        "Following the step destroys data.",
        "Replace the step with the safe procedure.",
        Severity.CRITICAL,
    ),
    FlawKind.UNKNOWN_CALL: FlawMeaning(
        "Unknown probe or action", Stage.STEPS, "A run fails at the step.", "Name a probe or an action that exists."
    ),
    FlawKind.UNKNOWN_ARGUMENT: FlawMeaning(
        "Unknown argument", Stage.STEPS, "A run fails at the step.", "Remove the argument."
    ),
    FlawKind.MISSING_ARGUMENT: FlawMeaning(
        "Missing argument", Stage.STEPS, "A run fails at the step.", "Add the argument."
    ),
    FlawKind.INVALID_EXPRESSION: FlawMeaning(
        "Invalid expression", Stage.STEPS, "A run fails at the step.", "Correct the expression."
    ),
    FlawKind.IDLE_VERIFICATION: FlawMeaning(
        "Verification of an old reading",
        Stage.STEPS,
        "A change counts as verified although nothing was read after it.",
        "Verify a fact of after.",
    ),
    FlawKind.IDLE_WAIT: FlawMeaning(
        "Wait for an old reading",
        Stage.STEPS,
        "The step never sees a change, and runs into its time limit.",
        "Wait for a fact that the step itself reads.",
    ),
    FlawKind.FACT_TOO_EARLY: FlawMeaning(
        "Fact shown before it is read", Stage.STEPS, "A run fails at the step.", "Show the fact in a later step."
    ),
    FlawKind.UNREACHABLE_STEP: FlawMeaning(
        "Unreachable step", Stage.PATHS, "The step never runs.", "Lead a step to it, or remove it."
    ),
    FlawKind.UNKNOWN_FACT: FlawMeaning(
        "Unknown fact",
        Stage.PATHS,
        "A run fails where the fact is needed.",
        "Name an input, or a fact of a step that every path takes before.",
    ),
    FlawKind.UNCONFIRMED_CHANGE: FlawMeaning(
        "Unconfirmed change",
        Stage.PATHS,
        "A run changes the cluster without asking first.",
        "Put a confirm step on every path to it.",
        Severity.CRITICAL,
    ),
    FlawKind.UNOBSERVED_CHANGE: FlawMeaning(
        "Unobserved change",
        Stage.PATHS,
        "A run changes the cluster without reading its state first.",
        "Put a probe on every path to it.",
    ),
    FlawKind.ENDLESS_PATH: FlawMeaning(
        "Endless path", Stage.PATHS, "A run never ends.", "Lead the step to an outcome."
    ),
}


AREA: Final = "runbook"


def check_id(kind: FlawKind) -> str:
    """Return the id of the findings of a kind.

    >>> check_id(FlawKind.UNKNOWN_STEP)
    'runbook/unknown-step'
    """
    return f"{AREA}/{kind.value}"
