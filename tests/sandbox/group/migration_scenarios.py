"""Groups that migrate between the classic protocol and that of KIP-848, played alike on a sandbox and on a real broker.

Every scenario has its own group and returns the responses to its members and, at the end, the group's records.
"""

from __future__ import annotations

from collections.abc import Callable

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.heartbeat import HeartbeatRequest
from tests.sandbox.group.migration_members import TOPICS, Client, New, Old, Stage, topic_ids
from tests.sandbox.group.migration_records import group_records, sorted_runs

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "1",
}


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
    old.start_join()
    old.joined()
    old.member_id = "a"  # any id will do; this one sorts before that of the newcomer
    stage.names["a"] = "c1"
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
    other.member_id = "b"
    stage.names["b"] = "c2"
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
    """A group without topics in its protocol, or with data of an assignor's own, does not migrate."""
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
    newcomer = New(stage, "n")
    newcomer.beat(epoch=0)
    third.joined()
    third.member_id = "z"  # it received no id, so it joins as another member; this id sorts after the others
    stage.names["z"] = "c4"
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
    """Play every scenario, and return the responses to the members and the group's records."""
    with Client(bootstrap) as admin:
        _prepare(admin)
        played: dict[str, list[str]] = {}
        for name, play in SCENARIOS.items():
            with Stage(bootstrap, name) as stage:
                play(stage)
                played[name] = stage.recorded + sorted_runs(group_records(admin, stage))
    return played


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
    while len(topic_ids(admin)) < len(TOPICS):
        pass  # the broker follows the controller
