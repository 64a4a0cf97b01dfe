"""The commands of Kafka's own tools that change the replicas and leaders of partitions."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from typing import Final

from eosctl.findings.bootstrap import bootstrap_of
from eosctl.findings.finding import Command
from eosctl.model.snapshot import Broker, ClusterSnapshot, Topic
from eosctl.text import name_some

PLAN_FILE: Final = "plan.json"


def add_replicas(topic: Topic, replicas: int, snapshot: ClusterSnapshot, bootstrap: str) -> tuple[Command, ...]:
    """Return the commands that write a reassignment plan and carry it out; none without all brokers.

    Every partition keeps its replicas, and its first one stays the preferred leader. New ones are on racks that the
    partition does not use yet, as far as there are any, and are spread over the brokers.

    Args:
        topic: The topic.
        replicas: The replicas that each partition must have.
        snapshot: The cluster with its brokers.
        bootstrap: What follows `--bootstrap-server` (`findings.bootstrap.bootstrap_of`).
    """
    if absent_brokers(snapshot):
        return ()
    available = _available(snapshot)
    racks = {broker.node_id: broker.rack for broker in snapshot.brokers}
    held: dict[int, int] = defaultdict(int)
    numbers: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for info in topic.partitions:
        chosen = list(info.replicas)
        while len(chosen) < replicas:
            used = {racks.get(node_id) for node_id in chosen}
            free = [broker for broker in available if broker.node_id not in chosen]
            if not free:
                return ()
            chosen.append(min(free, key=lambda one: (_shares_rack(one, used), held[one.node_id], one.node_id)).node_id)
            held[chosen[-1]] += 1
        if len(info.replicas) < replicas:
            numbers[tuple(chosen)].append(info.partition.partition)
    if not numbers:
        return ()
    name = json.dumps(topic.name)
    # printf repeats its format for each number, so that a topic with many partitions takes one line for each set of
    # replicas.
    entries = [
        f'printf \'{{"topic":{name},"partition":%s,"replicas":{json.dumps(chosen, separators=(",", ":"))}}}\\n\' '
        + " ".join(map(str, found))
        for chosen, found in sorted(numbers.items())
    ]
    whole = shlex.quote('s/.*/{"version":1,"partitions":[&]}/')
    return (
        Command(
            f"{{ {'; '.join(entries)}; }} | paste -sd, - | sed {whole} > {PLAN_FILE}",
            f"writes the plan: {replicas} replicas for each partition",
        ),
        Command(
            f"kafka-reassign-partitions.sh --bootstrap-server {bootstrap} --reassignment-json-file {PLAN_FILE} "
            "--execute",
            "copies the partitions to the added brokers",
        ),
    )


def broker_ids(snapshot: ClusterSnapshot) -> frozenset[int]:
    """Return the ids of all brokers: those of the metadata, and those that only hold replicas while they are away."""
    held = {replica for topic in snapshot.topics for info in topic.partitions for replica in info.replicas}
    return frozenset(held | {broker.node_id for broker in snapshot.brokers})


def absent_brokers(snapshot: ClusterSnapshot) -> tuple[int, ...]:
    """Return the brokers that cannot take or give replicas now.

    A plan without them would count too few replicas, and a partition without leader cannot be copied at all. Pasted
    output may have no list of brokers: one that leads a partition, or is in sync with its leader, is there.
    """
    return tuple(sorted(broker_ids(snapshot) - {broker.node_id for broker in _available(snapshot)}))


def after_return(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    """Return the step that comes before adding replicas; none where all brokers are there."""
    absent = absent_brokers(snapshot)
    return (
        (f"First bring back {name_some('broker', list(map(str, absent)))}: no replicas can be added before.",)
        if absent
        else ()
    )


def elect_preferred_leaders(snapshot: ClusterSnapshot) -> Command:
    """Return the command that makes the first replica of every partition its leader."""
    # Before 4.2, this tool alone has another name for --command-config (KIP-1147).
    reached = bootstrap_of(snapshot, "--admin.config")
    return Command(
        f"kafka-leader-election.sh --bootstrap-server {reached} --election-type preferred --all-topic-partitions"
    )


def _available(snapshot: ClusterSnapshot) -> list[Broker]:
    listed = snapshot.brokers or tuple(Broker(node_id, "", -1) for node_id in sorted(_in_sync(snapshot)))
    return [broker for broker in listed if broker.reachable and not broker.fenced]


def _in_sync(snapshot: ClusterSnapshot) -> frozenset[int]:
    """Return the brokers that lead a partition, and those in sync with a leader."""
    led = [info for topic in snapshot.topics for info in topic.partitions if info.leader_id is not None]
    return frozenset(node_id for info in led for node_id in info.isr)


def _shares_rack(broker: Broker, used: set[str | None]) -> bool:
    return broker.rack is not None and broker.rack in used
