"""What a rule of a classic group asks its driver to do."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, Member
from eosctl.wire.error_codes import ErrorCode


class JoinedMember(NamedTuple):
    """One member as the leader of the new generation learns of it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinResult(NamedTuple):
    """The answer to JoinGroup."""

    error: ErrorCode
    member_id: str = ""
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class SyncResult(NamedTuple):
    """The answer to SyncGroup."""

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
    """Answer the request in hand now."""

    result: JoinResult | SyncResult


class AwaitJoin(NamedTuple):
    """Keep the JoinGroup in hand until the member is answered."""

    member_id: str


class AnswerJoin(NamedTuple):
    """Answer the member's waiting JoinGroup, if there is one."""

    member_id: str
    result: JoinResult


class AwaitSync(NamedTuple):
    """Keep the SyncGroup in hand until the member is answered."""

    member_id: str


class AnswerSync(NamedTuple):
    """Answer the member's waiting SyncGroup, if there is one."""

    member_id: str
    result: SyncResult


class StartTimer(NamedTuple):
    """(Re)start a timer; `member_id` is empty for those of the whole group."""

    kind: TimerKind
    delay_ms: int
    member_id: str = ""


class StopTimer(NamedTuple):
    """Stop a timer if it runs."""

    kind: TimerKind
    member_id: str = ""


class EmptyWrite(NamedTuple):
    """The record of a group without members; nothing waits for it."""


class AssignmentWrite(NamedTuple):
    """The record that the leader's SyncGroup is about; its members wait for it."""

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
    """The group after a rule, and what to do about it, in order."""

    group: ClassicGroup
    effects: tuple[Effect, ...] = ()

    def then(self, rule: Callable[[ClassicGroup], Step]) -> Step:
        """Apply the next rule to the group and keep all effects."""
        group, effects = rule(self.group)
        return Step(group, self.effects + effects)

    def also(self, *effects: Effect) -> Step:
        """Return the step with more effects at its end."""
        return Step(self.group, self.effects + effects)
