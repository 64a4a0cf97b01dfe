"""The protocol of every change: failures never send anything unconfirmed, unverified, or unrecorded."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.actions.protocol import Action, Attempt, Permit, State, carry_out, may_follow
from eosctl.errors import EosctlError, PlanRefused, UsageError
from eosctl.model.plan import ChangeOutcome

ENDS = {State.DECLINED, State.AUDITED}
CLOSING = {State.VERIFIED, State.FAILED, State.INTERRUPTED}


class Step(StrEnum):
    """Each call that an attempt makes to the world around it."""

    PLAN = "plan"
    RECORD_PLAN = "record planned"
    CONFIRM = "confirm"
    PLAN_AGAIN = "plan again"
    RECORD_BEGIN = "record begun"
    SEND = "send"
    VERIFY = "verify"
    CHECK = "check the effect"
    RECORD_END = "record the end"


@dataclass(frozen=True)
class Plan:
    """``seen`` changes with every reading, ``subject`` only when the cluster did."""

    subject: str
    seen: int


class Gone(BaseException):
    """An unexpected exception."""


FAILURES = {
    "the cluster": EosctlError("Broker 1 cannot be reached."),
    "a refusal": PlanRefused("It does not hang."),
    "bad usage": UsageError("A protected profile."),
    "an interrupt": asyncio.CancelledError(),
    "a time limit": TimeoutError(),
    "a mistake": ValueError("a bug"),
    "the end of the process": Gone(),
}


@dataclass
class World:
    """A cluster, a person, and an audit file: each may fail, and all calls are kept in order."""

    confirmed: bool = True
    changed: bool = False
    verified: bool = True
    effective: bool = True
    failing: dict[Step, BaseException] = field(default_factory=dict)
    calls: list[Step] = field(default_factory=list)
    lines: list[State] = field(default_factory=list)
    target: str = "orders-0"
    inspect: str = "eosctl txn hanging"
    sent: Plan | None = None

    def _call(self, step: Step) -> None:
        self.calls.append(step)
        if step in self.failing:
            raise self.failing[step]

    async def plan(self) -> Plan:
        self._call(Step.PLAN)
        return Plan("first", 1)

    async def plan_again(self) -> Plan:
        self._call(Step.PLAN_AGAIN)
        return Plan("another" if self.changed else "first", 2)

    async def confirm(self, plan: Plan) -> bool:
        self._call(Step.CONFIRM)
        return self.confirmed

    def changed_refusal(self) -> PlanRefused:
        return PlanRefused("orders-0 changed: nothing was changed.")

    async def is_effective(self, plan: Plan, outcome: ChangeOutcome) -> bool:
        self._call(Step.CHECK)
        return outcome.verified and self.effective

    def record(self, attempt: Attempt[Plan, ChangeOutcome]) -> None:
        known = {State.PLANNED: Step.RECORD_PLAN, State.BEGUN: Step.RECORD_BEGIN}
        self._call(known.get(attempt.state, Step.RECORD_END))
        self.lines.append(attempt.state)

    async def send(self, client: object, plan: Plan, permit: Permit) -> object:
        permit.use(plan)
        self._call(Step.SEND)
        self.sent = plan

        async def verify() -> ChangeOutcome:
            self._call(Step.VERIFY)
            return ChangeOutcome(self.verified, "")

        return verify


class Port:
    """The world as the protocol knows it; ``changed`` is a fact there and a refusal here."""

    def __init__(self, world: World) -> None:
        self.plan, self.plan_again, self.confirm = world.plan, world.plan_again, world.confirm
        self.is_effective, self.record, self.changed = world.is_effective, world.record, world.changed_refusal
        self.target, self.inspect = world.target, world.inspect


def attempt_in(world: World) -> Attempt[Plan, ChangeOutcome] | BaseException:
    """Make one attempt, and return it or its exception."""
    action = Action(lambda plan: plan.subject, world.send)

    async def run() -> Attempt[Plan, ChangeOutcome] | BaseException:
        try:
            return await carry_out(action, None, Port(world))
        except BaseException as error:  # noqa: BLE001
            return error

    return asyncio.run(run())


worlds = st.builds(
    World,
    confirmed=st.booleans(),
    changed=st.booleans(),
    verified=st.booleans(),
    effective=st.booleans(),
    failing=st.dictionaries(st.sampled_from(Step), st.sampled_from(list(FAILURES.values())), max_size=3),
)
EVERY_SINGLE_FAILURE = [
    World(failing={step: error}, changed=changed, confirmed=confirmed)
    for step, error, changed, confirmed in itertools.product(Step, FAILURES.values(), (False, True), (False, True))
]


def hold(world: World) -> None:
    """Make one attempt in a world, and assert what holds in all of them."""
    result = attempt_in(world)
    calls = world.calls
    assert calls == [step for step in Step if step in calls], "no call comes twice or out of order"
    if Step.SEND in calls:
        before = calls[: calls.index(Step.SEND)]
        assert before == [Step.PLAN, Step.RECORD_PLAN, Step.CONFIRM, Step.PLAN_AGAIN, Step.RECORD_BEGIN]
        assert world.confirmed
        assert not world.changed
        assert world.lines[:2] == [State.PLANNED, State.BEGUN]
        assert calls[-1] is Step.RECORD_END, "whatever happens after the request, its end is recorded last"
        if Step.RECORD_END not in world.failing:
            assert len(world.lines) == 3
            assert world.lines[2] in CLOSING
    else:
        assert not set(world.lines) & CLOSING
        assert world.sent is None
    if world.sent is not None:
        assert world.sent.seen == 2, "what is sent is the plan of the second reading"
        assert calls[calls.index(Step.SEND) + 1] is Step.VERIFY
    if isinstance(result, Attempt):
        assert result.state in ENDS
        assert (result.state is State.AUDITED) == (Step.SEND in calls)
        assert result.verified == (result.state is State.AUDITED and world.verified and world.effective)
    elif Step.SEND in calls and isinstance(world.failing.get(Step.RECORD_END), EosctlError):
        assert isinstance(result, EosctlError)
        assert "is not made" not in str(result)
        assert "not on record" in result.what
        assert world.inspect in result.next_step
    else:
        failed = [world.failing[step] for step in calls if step in world.failing]
        assert result in failed or (world.changed and isinstance(result, PlanRefused))


@given(worlds)
def test_failures_send_nothing_unconfirmed_and_are_recorded(world: World) -> None:
    hold(world)


@pytest.mark.parametrize("world", EVERY_SINGLE_FAILURE)
def test_each_single_failure(world: World) -> None:
    hold(world)


def test_an_attempt_that_goes_well() -> None:
    world = World()
    attempt = attempt_in(world)
    assert isinstance(attempt, Attempt)
    assert world.calls == list(Step)
    assert world.lines == [State.PLANNED, State.BEGUN, State.VERIFIED]
    assert (attempt.state, attempt.verified, attempt.outcome) == (State.AUDITED, True, ChangeOutcome(True, ""))


@pytest.mark.parametrize(
    ("world", "last"),
    [
        (World(failing={Step.PLAN: FAILURES["a refusal"]}), Step.PLAN),
        (World(failing={Step.RECORD_PLAN: FAILURES["the cluster"]}), Step.RECORD_PLAN),
        (World(confirmed=False), Step.RECORD_END),
        (World(failing={Step.CONFIRM: FAILURES["bad usage"]}), Step.CONFIRM),
        (World(changed=True), Step.PLAN_AGAIN),
        (World(failing={Step.PLAN_AGAIN: FAILURES["a refusal"]}), Step.PLAN_AGAIN),
        (World(failing={Step.RECORD_BEGIN: FAILURES["the cluster"]}), Step.RECORD_BEGIN),
    ],
)
def test_what_is_refused_declined_or_unrecordable_sends_nothing(world: World, last: Step) -> None:
    attempt_in(world)
    assert world.calls[-1] is last
    assert world.sent is None


@pytest.mark.parametrize("answer", ["no", "Ctrl-C"])
def test_a_declined_question_is_recorded(answer: str) -> None:
    world = World(confirmed=False) if answer == "no" else World(failing={Step.CONFIRM: KeyboardInterrupt()})
    action = Action(lambda plan: plan.subject, world.send)
    with pytest.raises(KeyboardInterrupt) if answer == "Ctrl-C" else nullcontext():
        asyncio.run(carry_out(action, None, Port(world)))
    assert (world.lines, world.sent) == ([State.PLANNED, State.DECLINED], None)


@pytest.mark.parametrize(
    ("error", "line"), [("the cluster", State.FAILED), ("a mistake", State.FAILED), ("an interrupt", State.INTERRUPTED)]
)
@pytest.mark.parametrize("step", [Step.SEND, Step.VERIFY, Step.CHECK])
def test_a_request_that_may_have_arrived_is_recorded(step: Step, error: str, line: State) -> None:
    world = World(failing={step: FAILURES[error]})
    assert attempt_in(world) is FAILURES[error]
    assert world.lines == [State.PLANNED, State.BEGUN, line]


@pytest.mark.parametrize(
    ("failing", "what"), [({}, "orders-0 was changed"), ({Step.SEND: FAILURES["a mistake"]}, "may have been changed")]
)
def test_an_end_that_cannot_be_recorded_does_not_deny_the_change(failing: dict[Step, BaseException], what: str) -> None:
    full = EosctlError("Cannot write the audit file: No space left on device.", "A change ... is not made.")
    error = attempt_in(World(failing={**failing, Step.RECORD_END: full}))
    assert isinstance(error, EosctlError)
    assert what in error.what
    assert "No space left on device" in error.why
    assert ("a bug" in error.why) == bool(failing)


def test_a_time_limit_ends_the_action_and_is_recorded() -> None:
    world = World()

    async def never_answered(client: object, plan: Plan, permit: Permit) -> object:
        permit.use(plan)
        return await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        asyncio.run(carry_out(Action(lambda plan: plan.subject, never_answered), None, Port(world), timeout_s=0))
    assert world.lines == [State.PLANNED, State.BEGUN, State.FAILED]


@pytest.mark.parametrize("state", list(State))
def test_only_an_attempt_on_record_gets_a_permit(state: State) -> None:
    if state is State.BEGUN:
        Permit(Attempt("plan", state))
        return
    with pytest.raises(AssertionError, match="may not send"):
        Permit(Attempt("plan", state))


def test_a_permit_covers_one_request_for_one_plan() -> None:
    plan = Plan("first", 1)
    permit = Permit(Attempt(plan, State.BEGUN))
    with pytest.raises(AssertionError):
        permit.use(Plan("first", 1))
    permit.use(plan)
    with pytest.raises(AssertionError):
        permit.use(plan)


@pytest.mark.parametrize("before", State)
def test_states_follow_the_table_alone(before: State) -> None:
    attempt = Attempt("plan", before)
    for after in State:
        if after in may_follow(before):
            assert attempt.to(after) == Attempt("plan", after)
            continue
        with pytest.raises(AssertionError, match="cannot follow"):
            attempt.to(after)


def test_every_request_needs_confirmation_reread_and_record() -> None:
    def ways(state: State, behind: tuple[State, ...] = ()) -> list[tuple[State, ...]]:
        path = (*behind, state)
        return [way for following in may_follow(state) for way in ways(following, path)] or [path]

    for way in ways(State.PLANNED):
        assert way[-1] in ENDS
        if State.ACTED in way:
            assert way[:5] == (State.PLANNED, State.CONFIRMED, State.REREAD, State.BEGUN, State.ACTED)
            assert set(way[5:-1]) & CLOSING
        else:
            assert way[-1] is State.DECLINED or set(way) & {State.FAILED, State.INTERRUPTED}
