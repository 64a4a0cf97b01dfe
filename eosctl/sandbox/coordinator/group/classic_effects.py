"""Effects of the rules of classic groups, executed by their driver."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, Member
from eosctl.wire.error_codes import ErrorCode


class JoinedMember(NamedTuple):
    """A member, as the JoinGroup response of the leader lists it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinResult(NamedTuple):
    """The response to JoinGroup."""

    error: ErrorCode
    member_id: str = ""
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class SyncResult(NamedTuple):
    """The response to SyncGroup."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class TimerKind(Enum):
    """The timers of a group; SESSION and PENDING belong to one member id."""

    SESSION = "session"
    PENDING = "pending"
    JOIN = "join"
    SYNC = "sync"


class Respond(NamedTuple):
    """Respond to the current request."""

    result: JoinResult | SyncResult


class AwaitJoin(NamedTuple):
    """Hold the current JoinGroup until the member gets a response."""

    member_id: str


class AnswerJoin(NamedTuple):
    """Respond to the member's held JoinGroup, if any."""

    member_id: str
    result: JoinResult


class AwaitSync(NamedTuple):
    """Hold the current SyncGroup until the member gets a response."""

    member_id: str


class AnswerSync(NamedTuple):
    """Respond to the member's held SyncGroup, if any."""

    member_id: str
    result: SyncResult


class StartTimer(NamedTuple):
    """Start or restart a timer; `member_id` is empty for a timer of the group."""

    kind: TimerKind
    delay_ms: int
    member_id: str = ""


class StopTimer(NamedTuple):
    """Stop a timer if it runs."""

    kind: TimerKind
    member_id: str = ""


class EmptyWrite(NamedTuple):
    """The record of a group without members; no request waits for it."""


class AssignmentWrite(NamedTuple):
    """The record of the leader's SyncGroup; its members wait for it."""

    leader_id: str


class StaticWrite(NamedTuple):
    """The record of a static member's replacement; the member's JoinGroup waits for it."""

    former: Member
    member_id: str
    former_leader_id: str
    can_skip_assignment: bool


Write = EmptyWrite | AssignmentWrite | StaticWrite


class WriteGroup(NamedTuple):
    """Append the group's metadata record, then continue with `.classic_sync.group_written`."""

    group: ClassicGroup
    write: Write


Effect = Respond | AwaitJoin | AnswerJoin | AwaitSync | AnswerSync | StartTimer | StopTimer | WriteGroup


class Step(NamedTuple):
    """The group after a rule, and its effects in order."""

    group: ClassicGroup
    effects: tuple[Effect, ...] = ()

    def then(self, rule: Callable[[ClassicGroup], Step]) -> Step:
        """Apply the next rule to the group and keep all effects."""
        group, effects = rule(self.group)
        return Step(group, self.effects + effects)

    def also(self, *effects: Effect) -> Step:
        """Return the step with additional effects at its end."""
        return Step(self.group, self.effects + effects)
