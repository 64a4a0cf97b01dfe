"""A member of a classic group that takes part in rebalances without reading records."""

from __future__ import annotations

import asyncio
from typing import Final

from eosctl.client.client import Client
from eosctl.client.destinations import group_coordinator, moved_codes
from eosctl.client.outcome import error_for_code, error_of
from eosctl.client.transactions import GroupIdentity
from eosctl.errors import EosctlError
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.heartbeat import HeartbeatRequest
from eosctl.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from eosctl.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from eosctl.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

SESSION_MS: Final = 45_000
REBALANCE_MS: Final = 60_000
HEARTBEAT_S: Final = 3.0
_ELSEWHERE: Final = moved_codes(group_coordinator(""))
_AGAIN: Final = frozenset({ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})


class GroupMember:
    """Joins, syncs, and sends heartbeats until it leaves; joins again whenever the group requires it.

    Args:
        client: A separate client, since a join waits for the other members.
        group_id: The group.
        rebalance_timeout_ms: How long other members wait for it in a rebalance.
    """

    def __init__(self, client: Client, group_id: str, rebalance_timeout_ms: int = REBALANCE_MS) -> None:
        self._client = client
        self._group_id = group_id
        self._rebalance_timeout_ms = rebalance_timeout_ms
        self._member_id = ""
        self._generation = -1
        self._gone = False
        self.joined = asyncio.Event()

    @property
    def identity(self) -> GroupIdentity:
        """Return the member's identity for offset commits in a transaction (KIP-447)."""
        return GroupIdentity(self._group_id, self._generation, self._member_id)

    async def live(self) -> None:
        """Run the member until it leaves or is cancelled."""
        while not self._gone:
            try:
                await self.join()
                while not self._gone:
                    await asyncio.sleep(HEARTBEAT_S)
                    await self._beat()
            except EosctlError:
                await asyncio.sleep(HEARTBEAT_S)

    async def leave(self) -> None:
        """Leave the group permanently."""
        self._gone = True
        request = LeaveGroupRequest(self._group_id, members=[MemberIdentity(self._member_id)])
        await self._client.request(group_coordinator(self._group_id), ApiKey.LEAVE_GROUP, request, floor=3, cap=3)

    async def join(self) -> None:
        """Join, or join again, and wait until the rebalance is complete."""
        protocols = [JoinGroupRequestProtocol("range", b"")]
        while True:
            request = JoinGroupRequest(
                group_id=self._group_id,
                session_timeout_ms=SESSION_MS,
                rebalance_timeout_ms=self._rebalance_timeout_ms,
                member_id=self._member_id,
                group_instance_id=None,
                protocol_type="consumer",
                protocols=protocols,
            )
            answer = await self._client.request(
                group_coordinator(self._group_id), ApiKey.JOIN_GROUP, request, floor=5, cap=5, error_of=_moved
            )
            if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self._member_id = answer.member_id
                continue
            if answer.error_code in _AGAIN:
                self._member_id = ""
                continue
            if answer.error_code:
                raise error_for_code(answer.error_code, f"JoinGroup of {self._group_id}", api_key=ApiKey.JOIN_GROUP)
            break
        self._member_id, self._generation = answer.member_id, answer.generation_id
        shares = [SyncGroupRequestAssignment(member.member_id, b"") for member in answer.members]
        sync = SyncGroupRequest(self._group_id, self._generation, self._member_id, assignments=shares)
        await self._client.request(group_coordinator(self._group_id), ApiKey.SYNC_GROUP, sync, floor=3, cap=3)
        self.joined.set()

    async def _beat(self) -> None:
        if self._gone:
            return
        request = HeartbeatRequest(self._group_id, self._generation, self._member_id)
        answer = await self._client.request(
            group_coordinator(self._group_id), ApiKey.HEARTBEAT, request, floor=3, cap=3, error_of=_moved
        )
        if error_of(answer) in _AGAIN:
            await self.join()


def _moved(answer: object) -> ErrorCode:
    """Return the errors that the client retries (a moved or loading coordinator); others belong to the protocol."""
    code = error_of(answer)
    return code if code in _ELSEWHERE else ErrorCode.NONE
