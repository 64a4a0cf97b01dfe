"""The ACLs that an exactly-once source of Kafka Connect needs, with one principal for workers and connector.

Derived from Connect's code: `DistributedConfig.transactionalProducerId` is the leader's id,
`Worker.taskTransactionalId` those of tasks (KIP-618). Workers read and write their three topics with clients outside of
groups; the group is that of the workers.
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
        connector: The connector's name, or the common prefix of several.
        writes: The topics that it writes.
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
    """Return the minimal ACLs with which the workers start and the connector writes.

    Create is needed only for the first start without existing topics. Read on the offset and status topics is needed
    from the second start on. Without Write on the status topic, records flow but the connector's status is not
    recorded.
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
