"""Groups that migrate between the classic protocol and that of KIP-848, played alike on a sandbox and on a real broker.

Every scenario has a group of its own and yields what its members were told, and at the end the records of the group.
Member ids are told as ``<name>``, topics by name, and a hash as whether it is that of the group's topics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Self

from eosctl.sandbox.coordinator.group.consumer.topics import metadata_hash
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_response, encode_request
from eosctl.wire.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    decode_assignment,
    encode_assignment,
    encode_subscription,
)
from eosctl.wire.internal.offsets import decode_key, decode_value
from eosctl.wire.messages import (
    consumer_group_heartbeat,
    describe_groups,
    join_group,
    leave_group,
    offset_commit,
    sync_group,
)
from eosctl.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.heartbeat import HeartbeatRequest
from eosctl.wire.messages.internal.consumer_protocol import consumer_protocol_assignment, consumer_protocol_subscription
from eosctl.wire.messages.list_groups import ListGroupsRequest
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from eosctl.wire.records.batch import decode_records, iter_headers
from tests.sandbox.security.wire_client import WireClient

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "1",
}
TOPICS = {"four": 4, "two": 2}
OFFSETS = "__consumer_offsets"
OLD_SESSION_MS, REBALANCE_MS = 60_000, 60_000


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
    """One group on one cluster, its members, and what they were told."""

    def __init__(self, bootstrap: str, group_id: str) -> None:
        self.bootstrap, self.group_id = bootstrap, group_id
        self.admin = Client(bootstrap)
        self.topic_ids = _topic_ids(self.admin)
        self.names: dict[str, str] = {}  # of members, by id
        self.told: list[str] = []
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

    def tell(self, who: str, what: str, **facts: Any) -> None:
        shown = " ".join(f"{key}={self._shown(value)}" for key, value in facts.items())
        self.told.append(f"{who} {what}: {shown}")

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
        self.tell("", "described", error=group.error_code, state=group.group_state, epochs=epochs, members=members)

    def list(self) -> None:
        listed = self.admin.ask(ApiKey.LIST_GROUPS, 5, ListGroupsRequest()).groups
        found = [(group.group_state, group.group_type) for group in listed if group.group_id == self.group_id]
        self.tell("", "listed", groups=found)

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
        self.stage.tell(
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
            topics = decode_assignment(bytes(answer.assignment)).assigned_partitions
            self.owned = {topic.topic: sorted(topic.partitions) for topic in sorted(topics)}
        protocol = (answer.protocol_type, answer.protocol_name)
        version = bytes(answer.assignment[:2]).hex()
        self.stage.tell(
            self.name,
            "synced",
            error=answer.error_code,
            protocol=protocol,
            version=version,
            owns=sorted(self.owned.items()),
        )

    def beat(self, **fields: Any) -> None:
        request = HeartbeatRequest(self.stage.group_id, self.generation, self.member_id, self.instance_id)
        answer = self.client.ask(ApiKey.HEARTBEAT, 4, request._replace(**fields))
        self.stage.tell(self.name, "beat", error=answer.error_code)

    def commit(self, generation: int, partition: int, version: int = 8, topic: str = "four") -> None:
        _commit(self, generation, partition, version, topic)

    def leave(self, member_id: str | None = None) -> None:
        leaving = self.member_id if member_id is None else member_id
        identity = leave_group.MemberIdentity(leaving, self.instance_id, None)
        request = leave_group.LeaveGroupRequest(self.stage.group_id, members=[identity])
        answer = self.client.ask(ApiKey.LEAVE_GROUP, 5, request)
        codes = [member.error_code for member in answer.members]
        self.stage.tell(self.name, "left", error=answer.error_code, codes=codes)


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
            None,
            [] if joins else owned if says_owned else None,
        )
        answer = self.client.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request)
        if not answer.error_code:
            self.epoch = answer.member_epoch
        got = None
        if answer.assignment is not None:
            self.owned = got = self.stage.partitions(answer.assignment.topic_partitions)
        self.stage.tell(self.name, "beat", error=answer.error_code, epoch=answer.member_epoch, assignment=got)

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
    stage.tell(member.name, f"committed {topic}-{partition} at {epoch}", error=error)


def _pair(stage: Stage) -> tuple[Old, Old]:
    """Form a stable classic group of two members, which have two partitions each."""
    first, second = Old(stage, "c1"), Old(stage, "c2")
    first.join()
    first.sync({first: {"four": [0, 1, 2, 3]}})
    second.start_join()
    assert second.joined() == 79
    second.start_join()
    stage.await_state("PreparingRebalance")
    first.start_join()
    first.joined()
    second.joined()
    first.sync({first: {"four": [0, 1]}, second: {"four": [2, 3]}})
    second.sync()
    return first, second


def upgrade_and_downgrade(stage: Stage) -> None:
    """A member of the new protocol joins a stable group of two, works in it, and leaves it as the last of its kind."""
    first, second = _pair(stage)
    stage.describe()
    stage.list()
    newcomer = New(stage, "n")
    newcomer.beat(epoch=5)
    newcomer.beat(epoch=0)
    stage.describe()
    stage.list()
    first.commit(first.generation, 0)
    first.commit(first.generation, 3)
    first.commit(first.generation + 5, 0)
    first.sync()
    for member in (first, second):
        member.beat()
        member.beat(generation_id=member.generation + 1)
    for _ in range(4):
        for member in (first, second):
            member.join()
            member.sync()
            member.beat()
        newcomer.beat(says_owned=True)
    stage.describe()
    newcomer.commit(newcomer.epoch, 1)
    first.commit(first.generation, 0)
    second.beat(member_id="n", generation_id=newcomer.epoch)
    second.leave("n")
    second.leave()
    second.beat()
    first.beat()
    newcomer.beat()
    first.join()
    first.sync()
    newcomer.beat(says_owned=True)
    stage.describe()
    newcomer.beat(epoch=-1)
    stage.list()
    stage.describe()
    first.beat()
    first.join()
    first.sync({first: {"four": [0, 1, 2, 3]}})
    first.beat()
    newcomer.beat()


def classic_members_join_a_consumer_group(stage: Stage) -> None:
    """Members of the classic protocol are served in a group that never was a classic one."""
    newcomer = New(stage, "n")
    newcomer.beat(epoch=0)
    old = Old(stage, "c1", topics=("four", "two"))
    old.protocol_type = "connect"
    old.start_join()
    old.joined()
    old.protocol_type = "consumer"
    old.start_join(metadata=b"")
    old.joined()
    old.member_id = ""
    old.join()
    stage.describe()
    old.sync()
    old.beat()
    newcomer.beat()
    newcomer.beat(says_owned=True)
    old.beat()
    old.join()
    old.sync()
    other = Old(stage, "c2")
    other.start_join(protocol="roundrobin")
    other.joined()
    other.member_id = "not-mine"
    other.beat()
    other.sync()
    other.leave()
    other.member_id = ""
    other.start_join(version=3)
    other.joined()
    other.sync()
    old.topics = ("two",)
    old.join()
    old.sync()
    for _ in range(3):
        newcomer.beat(says_owned=True)
        for member in (old, other):
            member.join()
            member.sync()
    stage.describe()
    newcomer.commit(newcomer.epoch, 0)
    newcomer.commit(newcomer.epoch - 1, 0)
    old.commit(old.generation, 0, topic="two")
    old.commit(old.generation - 1, 0, topic="two")
    old.commit(1, 0, topic="two")
    newcomer.beat(epoch=0)
    old.leave()
    other.leave()
    newcomer.beat(says_owned=True)
    stage.describe()


def refused_upgrades(stage: Stage) -> None:
    """A group that does not speak of topics, or whose clients assign with data of their own, stays what it is."""
    old, newcomer = Old(stage, "c1"), New(stage, "n")
    old.join()
    old.sync({old: {"four": [0]}}, user_data=b"mine")
    newcomer.beat(epoch=0)
    stage.list()
    old.beat()
    old.leave()
    other = Old(stage, "c2")
    other.protocol_type = "connect"
    other.join(metadata=b"worker")
    newcomer.beat(epoch=0)
    other.leave()
    third = Old(stage, "c3")
    third.join(metadata=b"\0")
    third.sync()
    newcomer.beat(epoch=0)
    third.beat()
    third.leave()
    newcomer.beat(epoch=0)


def upgrade_during_a_rebalance(stage: Stage) -> None:
    """Members that wait for a rebalance are sent back to join the consumer group."""
    first, second = _pair(stage)
    third = Old(stage, "c3")
    third.start_join(version=3)
    stage.await_state("PreparingRebalance")
    second.start_join()
    newcomer = New(stage, "n")
    newcomer.beat(epoch=0)
    third.joined()
    second.joined()
    first.beat()
    for _ in range(4):
        for member in (first, second, third):
            member.join()
            member.sync()
        newcomer.beat(says_owned=True)
    stage.describe()


def static_members_change_protocol(stage: Stage) -> None:
    """A static member comes back with the new protocol, then with the old one again, which ends the consumer group."""
    first, second = Old(stage, "c1", "one"), Old(stage, "c2", "two")
    first.join()
    second.start_join()
    stage.await_state("PreparingRebalance")
    first.start_join()
    first.joined()
    second.joined()
    first.sync({first: {"four": [0, 1]}, second: {"four": [2, 3]}})
    second.sync()
    newcomer = New(stage, "n", "two")
    newcomer.beat(epoch=0)
    second.beat()
    stage.describe()
    first.beat()
    first.join()
    first.sync()
    newcomer.beat(says_owned=True)
    newcomer.beat(epoch=-2)
    stage.describe()
    again = Old(stage, "c3", "two")
    again.start_join()
    again.joined()
    stage.list()
    newcomer.beat()
    again.beat()
    first.beat()


SCENARIOS: dict[str, Callable[[Stage], None]] = {
    play.__name__: play
    for play in (
        upgrade_and_downgrade,
        classic_members_join_a_consumer_group,
        refused_upgrades,
        upgrade_during_a_rebalance,
        static_members_change_protocol,
    )
}


def play_all(bootstrap: str) -> dict[str, list[str]]:
    """Play every scenario, and tell what the members heard and what the group left in the log."""
    with Client(bootstrap) as admin:
        _prepare(admin)
        told: dict[str, list[str]] = {}
        for name, play in SCENARIOS.items():
            with Stage(bootstrap, name) as stage:
                play(stage)
                told[name] = stage.told + sorted_runs(_records(admin, stage))
    return told


def _prepare(admin: Client) -> None:
    topics = [CreatableTopic(name, count, 1, (), ()) for name, count in TOPICS.items()]
    created = admin.ask(ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest(topics, 30_000))
    assert not any(topic.error_code for topic in created.topics), created
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=["any"])
    while admin.ask(ApiKey.FIND_COORDINATOR, 4, find).coordinators[0].error_code:
        pass  # the offsets topic is being created
    request = HeartbeatRequest("any", 1, "nobody")
    while admin.ask(ApiKey.HEARTBEAT, 4, request).error_code != 25:
        pass  # and loaded
    while len(_topic_ids(admin)) < len(TOPICS):
        pass  # the broker follows the controller


def _topic_ids(admin: Client) -> dict[str, bytes]:
    asked = MetadataRequest([MetadataRequestTopic(name=name) for name in TOPICS], False)
    topics = admin.ask(ApiKey.METADATA, 12, asked).topics
    return {topic.name: bytes(topic.topic_id) for topic in topics if not topic.error_code}


class _Topics:
    """The metadata that a hash is of."""

    def __init__(self, ids: dict[str, bytes]) -> None:
        self._ids = ids

    def topic_id(self, topic: str) -> bytes | None:
        return self._ids.get(topic)

    def partition_racks(self, topic: str) -> list[tuple[str, ...]]:
        return [()] * TOPICS[topic]


def _records(admin: Client, stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield (type, text) of the group's records in order."""
    offsets_id = bytes(
        admin.ask(ApiKey.METADATA, 12, MetadataRequest([MetadataRequestTopic(name=OFFSETS)], False)).topics[0].topic_id
    )
    partition = FetchPartition(0, -1, 0, -1, -1, 1 << 24)
    request = FetchRequest(-1, 0, 1, 1 << 24, 0, topics=[FetchTopic(OFFSETS, offsets_id, [partition])])
    answer = admin.ask(ApiKey.FETCH, 12, request)
    data = bytes(answer.responses[0].partitions[0].records)
    for position, header in iter_headers(data):
        for record in decode_records(data, header, position):
            key = decode_key(record.key)
            if getattr(key, "group_id", getattr(key, "group", None)) == stage.group_id:
                value = None if record.value is None else decode_value(key, record.value)
                yield type(key).__name__ + ("" if value is not None else " gone"), _text(stage, key, value)


def _text(stage: Stage, key: Any, value: Any) -> str:
    hashes = {
        metadata_hash(_Topics(stage.topic_ids), topics): f"hash of {topics}"  # type: ignore[arg-type]
        for topics in ([], ["four"], ["two"], ["four", "two"])
    }
    if hasattr(value, "metadata_hash"):
        value = value._replace(metadata_hash=hashes.get(value.metadata_hash, "another hash"))
    value = _in_order(stage, value)
    text = f"{key} {value}"
    for member_id, name in stage.names.items():
        text = text.replace(f"'{member_id}'", f"<{name}>")
    for topic, topic_id in stage.topic_ids.items():
        text = text.replace(repr(topic_id), topic)
    return re.sub(r"(timestamp\w*)=\d{6,}", r"\1=now", text)


def _in_order(stage: Stage, value: Any) -> Any:
    """Sort what the order of a map of Java decides: topics, members, and which of them leads a group that came back."""
    names = {topic_id: name for name, topic_id in stage.topic_ids.items()}
    for field in ("topic_partitions", "assigned_partitions", "partitions_pending_revocation"):
        if hasattr(value, field):
            topics = sorted(getattr(value, field), key=lambda topic: names[bytes(topic.topic_id)])
            value = value._replace(**{field: topics})
    if hasattr(value, "members"):
        members = sorted(value.members, key=lambda member: stage.names[member.member_id])
        leads = value.leader in {member.member_id for member in members}
        value = value._replace(members=members, leader="one of them" if leads else value.leader)
    return value


def sorted_runs(records: Iterable[tuple[str, str]]) -> list[str]:
    """Sort what a map's order decides: neighbours of one type."""
    return [text for _, run in groupby(records, key=lambda record: record[0]) for _, text in sorted(run)]
