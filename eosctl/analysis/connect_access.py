"""The access rules that an exactly-once source of Kafka Connect needs, workers and connector under one principal.

After Connect's own code: `DistributedConfig.transactionalProducerId` names the leader's id,
`Worker.taskTransactionalId` those of tasks (KIP-618). Workers read and write their three topics with clients that join
no group; the group is that of the workers themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.model.access import Name, NeededRule

LEADER_PREFIX: Final = "connect-cluster-"
_TRANSACTION: Final = ("AddPartitionsToTxn", "Produce", "EndTxn")


class ConnectSource(NamedTuple):
    """A source connector and the cluster of workers that runs it.

    Attributes:
        group_id: `group.id` of the workers.
        connector: The connector's name, or how the names of several begin.
        writes: The topics that it fills.
        configs: `config.storage.topic`.
        offsets: `offset.storage.topic`, or the connector's own `offsets.storage.topic`.
        status: `status.storage.topic`.
    """

    group_id: str
    connector: Name
    writes: tuple[Name, ...]
    configs: str
    offsets: str
    status: str


def plan_connect_access(source: ConnectSource) -> tuple[NeededRule, ...]:
    """Return the smallest set of rules with which the workers start and the connector writes.

    Create counts for the first start alone: with topics that are there before, it may be left out. Read on the topics
    of offsets and states counts from the second start on, as there is nothing in them before. Without Write on the
    status topic records flow, but nobody is told what became of the connector.
    """
    return tuple(_rules(source))


def _rules(source: ConnectSource) -> Iterator[NeededRule]:
    group = Name(source.group_id)
    yield NeededRule("Group", group, "Read", ("FindCoordinator", "JoinGroup"), "GROUP_AUTHORIZATION_FAILED")
    leader = Name(LEADER_PREFIX + source.group_id)
    ending = "" if source.connector.prefixed else "-"
    tasks = Name(f"{source.group_id}-{source.connector.text}{ending}", prefixed=True)
    for name in (leader, tasks):
        yield NeededRule(
            "TransactionalId",
            name,
            "Write",
            ("FindCoordinator", "InitProducerId", *_TRANSACTION),
            "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        )
    for text, writing in (
        (source.configs, _TRANSACTION[:2]),
        (source.offsets, _TRANSACTION[:2]),
        (source.status, ("Produce",)),
    ):
        for operation, requests in (("Create", ("CreateTopics",)), ("Read", ("Fetch",)), ("Write", writing)):
            yield NeededRule("Topic", Name(text), operation, requests, "TOPIC_AUTHORIZATION_FAILED")
    for name in source.writes:
        yield NeededRule("Topic", name, "Write", ("Metadata", *_TRANSACTION[:2]), "TOPIC_AUTHORIZATION_FAILED")
