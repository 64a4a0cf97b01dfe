"""Find errors in a runbook before a user runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eosctl.checks.registry import ALL_CHECKS, names_of
from eosctl.errors import EosctlError
from eosctl.findings.runbook_flaw import Flaw, FlawKind
from eosctl.model.runbook import (
    TARGETS,
    Action,
    Assert,
    Confirm,
    Manual,
    Notify,
    Outcome,
    Probe,
    Runbook,
    Step,
    Value,
    Verification,
    Wait,
)
from eosctl.runbooks.changes import Risk, find_change
from eosctl.runbooks.engine import AFTER
from eosctl.runbooks.expression import Reference, holes, references
from eosctl.runbooks.position import INPUTS
from eosctl.runbooks.probe_kind import COMPLETE, Parameter
from eosctl.runbooks.probes import find_probe
from eosctl.runbooks.refused import find_refused

_OUTCOMES: Final = frozenset(outcome.value for outcome in TARGETS)


def lint_runbook(book: Runbook) -> tuple[Flaw, ...]:
    """Return everything that is wrong with a runbook, in the order of its steps."""
    flaws = [*_whole(book)]
    if any(flaw.kind is FlawKind.ID_TAKEN for flaw in flaws):
        return tuple(flaws)
    for step in book.steps:
        flaws += [Flaw(kind, step.id, message) for kind, message in _step(book, step)]
    if not flaws:
        flaws += _paths(book)
    return tuple(flaws)


def _whole(book: Runbook) -> Iterator[Flaw]:
    ids = [step.id for step in book.steps]
    for step_id in dict.fromkeys(ids):
        if ids.count(step_id) > 1 or step_id in (INPUTS, AFTER, *Outcome):
            yield Flaw(FlawKind.ID_TAKEN, step_id, f"The id {step_id} is taken.")
    known = names_of(ALL_CHECKS)
    for check_id in book.findings:
        if check_id not in known:
            yield Flaw(FlawKind.UNKNOWN_CHECK, "", f"There is no check {check_id}.")
    if not book.symptoms:
        yield Flaw(FlawKind.NO_SYMPTOM, "", "No symptom leads to it.")


_Problem = tuple[FlawKind, str]


def _step(book: Runbook, step: Step) -> Iterator[_Problem]:
    ids = {other.id for other in book.steps}
    for target in book.targets(step):
        if not target:
            nowhere = "It is the last step and leads nowhere: give it a next of verified, no-action or blocked."
            yield FlawKind.NO_WAY_ON, nowhere
        elif target not in ids | _OUTCOMES:
            yield FlawKind.UNKNOWN_STEP, f"There is no step {target}."
    # Harm may be named to warn of it (never:), not to be done.
    for refused in find_refused(step.say):
        yield FlawKind.REFUSED_PROCEDURE, f"It says to {refused.name}. {refused.why} Instead: {refused.instead}"
    for kind, problems in ((FlawKind.UNKNOWN_CALL, _calls(step)), (FlawKind.INVALID_EXPRESSION, _expressions(step))):
        try:
            yield from problems
        except EosctlError as error:
            yield kind, " ".join(str(error).split())


def _calls(step: Step) -> Iterator[_Problem]:
    match step:
        case Probe() | Wait():
            yield from _arguments(step.run, step.arguments, find_probe(step.run).parameters)
        case Action():
            yield from _arguments(step.run, step.arguments, find_change(step.run).parameters)
            verify = step.verify
            yield from _arguments(verify.run, verify.arguments, find_probe(verify.run).parameters)


def _arguments(name: str, given: Mapping[str, Value], parameters: Mapping[str, Parameter]) -> Iterator[_Problem]:
    for unknown in sorted(given.keys() - parameters.keys()):
        yield FlawKind.UNKNOWN_ARGUMENT, f"{name} takes no {unknown}."
    for missing in sorted(p for p, spec in parameters.items() if spec.default is None and p not in given):
        yield FlawKind.MISSING_ARGUMENT, f"{name} needs {missing}."


def _expressions(step: Step) -> Iterator[_Problem]:
    _named(step)
    match step:
        case Action(verify=Verification(until=until)) if not any(r.source == AFTER for r in references(until)):
            idle = f"Its verification does not use any fact that is read afterwards ({AFTER}.…)."
            yield FlawKind.IDLE_VERIFICATION, idle
        case Wait(until=until) if not any(r.source == step.id for r in references(until)):
            yield FlawKind.IDLE_WAIT, f"It waits for nothing that it reads itself ({step.id}.…)."
        case Wait(say=say) if any(r.source == step.id for r in holes(say)):
            yield FlawKind.FACT_TOO_EARLY, "It says what it has yet to find out."


def _named(step: Step) -> tuple[Reference, ...]:
    """Return the facts of earlier steps that a step names; its own and those after its action are left out."""
    named = [*holes(step.say)]
    match step:
        case Probe():
            for branch in step.branch:
                named += references(branch.when)
            named += [hole for value in step.arguments.values() for hole in holes(value)]
        case Wait():
            named += references(step.until)
            named += [hole for value in step.arguments.values() for hole in holes(value)]
        case Assert():
            named += [*references(step.that), *holes(step.why)]
        case Confirm():
            named += holes(step.expect)
        case Action():
            named += references(step.verify.until)
            values = [*step.arguments.values(), *step.verify.arguments.values()]
            named += [hole for value in values for hole in holes(value)]
    return tuple(dict.fromkeys(named))


def _paths(book: Runbook) -> Iterator[Flaw]:
    before = _known_before(book)
    for step in book.steps:
        if step.id not in before:
            yield Flaw(FlawKind.UNREACHABLE_STEP, step.id, "No step leads here.")
            continue
        reaches = before[step.id]
        for reference in _named(step):
            message = _unknown(book, step, reference, reaches)
            if message:
                yield Flaw(FlawKind.UNKNOWN_FACT, step.id, message)
        if isinstance(step, Action) and find_change(step.run).risk is not Risk.SAFE:
            if not any(isinstance(book.step(other), Confirm) for other in reaches):
                risk = find_change(step.run).risk.value
                unconfirmed = f"{step.run} is {risk} and is not confirmed on every path."
                yield Flaw(FlawKind.UNCONFIRMED_CHANGE, step.id, unconfirmed)
            if not any(isinstance(book.step(other), Probe | Wait) for other in reaches):
                unobserved = f"{step.run} runs without a probe of the cluster before it."
                yield Flaw(FlawKind.UNOBSERVED_CHANGE, step.id, unobserved)
    ends = _ending(book)
    for step in book.steps:
        if step.id in before and step.id not in ends:
            yield Flaw(FlawKind.ENDLESS_PATH, step.id, "No path from here ends.")


def _known_before(book: Runbook) -> dict[str, frozenset[str]]:
    """Map each step that can be reached to the steps that have been taken on every path to it."""
    first = book.steps[0].id
    before: dict[str, frozenset[str]] = {first: frozenset()}
    waiting = [first]
    while waiting:
        step = book.step(waiting.pop())
        after = before[step.id] | {step.id}
        for target in book.targets(step):
            if target in _OUTCOMES:
                continue
            known = after if target not in before else before[target] & after
            if before.get(target) != known:
                before[target] = known
                waiting.append(target)
    return before


def _ending(book: Runbook) -> frozenset[str]:
    """Return the steps from which an end can be reached."""
    ends = {step.id for step in book.steps if isinstance(step, Manual | Notify)}
    while True:
        more = {step.id for step in book.steps if any(t in ends or t in _OUTCOMES for t in book.targets(step))} - ends
        if not more:
            return frozenset(ends)
        ends |= more


def _unknown(book: Runbook, step: Step, reference: Reference, before: frozenset[str]) -> str:
    source, fact = reference
    if source == INPUTS:
        return "" if fact in book.inputs else f"There is no input {fact}."
    if source == AFTER and isinstance(step, Action):
        probe = find_probe(step.verify.run)
    elif source == step.id or source in before:
        origin = book.step(source)
        if not isinstance(origin, Probe | Wait):
            return f"Step {source} finds no facts."
        probe = find_probe(origin.run)
    else:
        return f"{reference} is not known on every path here."
    return "" if fact in probe.facts or fact == COMPLETE else f"{probe.name} does not report {fact}."


def required_inputs(book: Runbook) -> tuple[str, ...]:
    """Return the inputs that must be given."""
    return tuple(name for name, spec in book.inputs.items() if spec.default is None)
