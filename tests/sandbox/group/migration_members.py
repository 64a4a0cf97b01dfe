"""Members of both protocols of one group on a cluster, which record their responses.

Member ids are recorded as ``<name>`` and topics by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from msgspec.structs import replace

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_response, encode_request
from eosctl.wire.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    decode_assignment,
    encode_assignment,
    encode_subscription,
)
from eosctl.wire.messages import (
    consumer_group_heartbeat,
    describe_groups,
    join_group,
    leave_group,
    offset_commit,
    sync_group,
)
from eosctl.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from eosctl.wire.messages.heartbeat import HeartbeatRequest
from eosctl.wire.messages.internal.consumer_protocol import consumer_protocol_assignment, consumer_protocol_subscription
from eosctl.wire.messages.list_groups import ListGroupsRequest
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.sandbox.security.wire_client import WireClient

TOPICS = {"four": 4, "two": 2}
OLD_SESSION_MS, REBALANCE_MS = 60_000, 60_000


def topic_ids(admin: Client) -> dict[str, bytes]:
    asked = MetadataRequest([MetadataRequestTopic(name=name) for name in TOPICS], False)
    topics = admin.ask(ApiKey.METADATA, 12, asked).topics
    return {topic.name: bytes(topic.topic_id) for topic in topics if not topic.error_code}


class Client(WireClient):
    """A connection of one client, which names itself."""

    def __init__(self, bootstrap: str, client_id: str = "admin") -> None:
        super().__init__(bootstrap)
        self._client_id = client_id
        self._sent: list[tuple[int, int]] = []

    def start(self, api_key: int, version: int, message: Any) -> None:
        self.send(encode_request(api_key, version, 7, self._client_id, message))
        self._sent.append((api_key, version))

    def answer(self) -> Any:
        api_key, version = self._sent.pop(0)
        frame = self.frame()
        assert frame is not None, f"the broker hung up on {ApiKey(api_key).name}"
        return decode_response(api_key, version, frame)[1]

    def ask(self, api_key: int, version: int, message: Any) -> Any:
        self.start(api_key, version, message)
        return self.answer()


class Stage:
    """One group on one cluster, its members, and their responses."""

    def __init__(self, bootstrap: str, group_id: str) -> None:
        self.bootstrap, self.group_id = bootstrap, group_id
        self.admin = Client(bootstrap)
        self.topic_ids = topic_ids(self.admin)
        self.names: dict[str, str] = {}  # of members, by id
        self.recorded: list[str] = []
        self._clients = [self.admin]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.__exit__()

    def connect(self, name: str) -> Client:
        client = Client(self.bootstrap, name)
        self._clients.append(client)
        return client

    def record(self, who: str, what: str, **facts: Any) -> None:
        shown = " ".join(f"{key}={self._shown(value)}" for key, value in facts.items())
        self.recorded.append(f"{who} {what}: {shown}")

    def _shown(self, value: Any) -> Any:
        return f"<{self.names[value]}>" if isinstance(value, str) and value in self.names else value

    def partitions(self, topics: Iterable[Any]) -> dict[str, list[int]]:
        names = {topic_id: name for name, topic_id in self.topic_ids.items()}
        return dict(sorted((names[bytes(topic.topic_id)], sorted(topic.partitions)) for topic in topics))

    def describe(self) -> None:
        group = self.admin.ask(ApiKey.CONSUMER_GROUP_DESCRIBE, 1, ConsumerGroupDescribeRequest([self.group_id])).groups[
            0
        ]
        members = sorted(
            (
                self.names.get(member.member_id, "?"),
                member.instance_id,
                member.member_epoch,
                member.member_type,
                member.subscribed_topic_names,
                self.partitions(member.assignment.topic_partitions),
                self.partitions(member.target_assignment.topic_partitions),
            )
            for member in group.members
        )
        epochs = (group.group_epoch, group.assignment_epoch)
        self.record("", "described", error=group.error_code, state=group.group_state, epochs=epochs, members=members)

    def list(self) -> None:
        listed = self.admin.ask(ApiKey.LIST_GROUPS, 5, ListGroupsRequest()).groups
        found = [(group.group_state, group.group_type) for group in listed if group.group_id == self.group_id]
        self.record("", "listed", groups=found)

    def await_state(self, state: str) -> None:
        """Return when the classic group is in a state, so that the next request finds it there."""
        asked = describe_groups.DescribeGroupsRequest([self.group_id])
        while self.admin.ask(ApiKey.DESCRIBE_GROUPS, 5, asked).groups[0].group_state != state:
            pass


class Old:
    """A member that speaks the classic protocol."""

    def __init__(
        self, stage: Stage, name: str, instance_id: str | None = None, topics: Sequence[str] = ("four",)
    ) -> None:
        self.stage, self.name, self.instance_id, self.topics = stage, name, instance_id, topics
        self.client = stage.connect(name)
        self.member_id, self.generation = "", -1
        self.owned: dict[str, list[int]] = {}
        self.protocol_type = "consumer"

    def subscription(self) -> bytes:
        owned = [consumer_protocol_subscription.TopicPartition(*topic) for topic in self.owned.items()]
        return encode_subscription(ConsumerProtocolSubscription(list(self.topics), None, owned, -1, None), 1)

    def start_join(self, metadata: bytes | None = None, protocol: str = "range", version: int = 7) -> None:
        offered = self.subscription() if metadata is None else metadata
        protocols = [join_group.JoinGroupRequestProtocol(protocol, offered)]
        request = join_group.JoinGroupRequest(
            self.stage.group_id,
            OLD_SESSION_MS,
            REBALANCE_MS,
            self.member_id,
            self.instance_id,
            self.protocol_type,
            protocols,
        )
        self.client.start(ApiKey.JOIN_GROUP, version, request)

    def joined(self) -> int:
        answer = self.client.answer()
        if answer.member_id:
            self.stage.names[answer.member_id] = self.name
        if answer.error_code in (0, 79):
            self.member_id = answer.member_id
        if not answer.error_code:
            self.generation = answer.generation_id
        self.stage.record(
            self.name,
            "joined",
            error=answer.error_code,
            id=answer.member_id,
            generation=answer.generation_id,
            protocol=(answer.protocol_type, answer.protocol_name),
            leader=answer.leader,
            members=len(answer.members),
        )
        return int(answer.error_code)

    def join(self, **fields: Any) -> None:
        self.start_join(**fields)
        if self.joined() == 79:
            self.start_join(**fields)
            self.joined()

    def sync(self, given: dict[Old, dict[str, list[int]]] | None = None, user_data: bytes | None = None) -> None:
        assignments = [
            sync_group.SyncGroupRequestAssignment(
                member.member_id,
                encode_assignment(
                    ConsumerProtocolAssignment(
                        [consumer_protocol_assignment.TopicPartition(*topic) for topic in topics.items()], user_data
                    ),
                    1,
                ),
            )
            for member, topics in (given or {}).items()
        ]
        request = sync_group.SyncGroupRequest(
            self.stage.group_id,
            self.generation,
            self.member_id,
            self.instance_id,
            self.protocol_type,
            "range",
            assignments,
        )
        answer = self.client.ask(ApiKey.SYNC_GROUP, 5, request)
        if not answer.error_code and answer.assignment:
            # Sorted, as random topic ids decide in which order a broker gives them, and a join says them again.
            topics = decode_assignment(bytes(answer.assignment)).assigned_partitions
            self.owned = dict(sorted((topic.topic, sorted(topic.partitions)) for topic in topics))
        protocol = (answer.protocol_type, answer.protocol_name)
        version = bytes(answer.assignment[:2]).hex()
        self.stage.record(
            self.name,
            "synced",
            error=answer.error_code,
            protocol=protocol,
            version=version,
            owns=sorted(self.owned.items()),
        )

    def beat(self, **fields: Any) -> None:
        request = HeartbeatRequest(self.stage.group_id, self.generation, self.member_id, self.instance_id)
        answer = self.client.ask(ApiKey.HEARTBEAT, 4, replace(request, **fields))
        self.stage.record(self.name, "beat", error=answer.error_code)

    def commit(self, generation: int, partition: int, version: int = 8, topic: str = "four") -> None:
        _commit(self, generation, partition, version, topic)

    def leave(self, member_id: str | None = None) -> None:
        leaving = self.member_id if member_id is None else member_id
        identity = leave_group.MemberIdentity(leaving, self.instance_id, None)
        request = leave_group.LeaveGroupRequest(self.stage.group_id, members=[identity])
        answer = self.client.ask(ApiKey.LEAVE_GROUP, 5, request)
        codes = [member.error_code for member in answer.members]
        self.stage.record(self.name, "left", error=answer.error_code, codes=codes)


class New:
    """A member that speaks the protocol of KIP-848."""

    def __init__(self, stage: Stage, name: str, instance_id: str | None = None) -> None:
        self.stage, self.name, self.instance_id = stage, name, instance_id
        self.client = stage.connect(name)
        self.member_id = name
        stage.names[name] = name
        self.epoch = 0
        self.owned: dict[str, list[int]] = {}

    def beat(self, *, epoch: int | None = None, topics: Sequence[str] | None = None, says_owned: bool = False) -> None:
        joins = epoch == 0
        owned = [
            consumer_group_heartbeat.TopicPartitions(self.stage.topic_ids[topic], indexes)
            for topic, indexes in self.owned.items()
        ]
        request = consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
            self.stage.group_id,
            self.member_id,
            self.epoch if epoch is None else epoch,
            self.instance_id,
            None,
            REBALANCE_MS if joins else -1,
            list(topics or ("four",)) if joins or topics else None,
            None,
            "range" if joins else None,  # unlike uniform it has one answer: it sorts the members
            [] if joins else owned if says_owned else None,
        )
        answer = self.client.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request)
        if not answer.error_code:
            self.epoch = answer.member_epoch
        got = None
        if answer.assignment is not None:
            self.owned = got = self.stage.partitions(answer.assignment.topic_partitions)
        self.stage.record(self.name, "beat", error=answer.error_code, epoch=answer.member_epoch, assignment=got)

    def commit(self, epoch: int, partition: int, version: int = 9, topic: str = "four") -> None:
        _commit(self, epoch, partition, version, topic)


def _commit(member: Old | New, epoch: int, partition: int, version: int, topic: str) -> None:
    offset = offset_commit.OffsetCommitRequestTopic(
        topic, partitions=[offset_commit.OffsetCommitRequestPartition(partition, 7, -1, -1, "")]
    )
    stage = member.stage
    request = offset_commit.OffsetCommitRequest(
        stage.group_id, epoch, member.member_id, -1, member.instance_id, [offset]
    )
    answer = member.client.ask(ApiKey.OFFSET_COMMIT, version, request)
    error = answer.topics[0].partitions[0].error_code
    stage.record(member.name, f"committed {topic}-{partition} at {epoch}", error=error)
