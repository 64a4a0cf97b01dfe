"""Clients of a cluster: the raw client, a transactional producer, and a reader.

Example:
    >>> async with connect(config) as client:
    ...     everyone = client.cluster.node_ids
    ...     lists = await client.fan_out(everyone, ApiKey.LIST_TRANSACTIONS, lambda _: ListTransactionsRequest())
    ...     state = await client.request(transaction_coordinator("app"), ApiKey.DESCRIBE_TRANSACTIONS, question)
"""

from eosctl.client.client import Client, connect
from eosctl.client.destinations import (
    CoordinatorKind,
    CoordinatorOf,
    Destination,
    Role,
    group_coordinator,
    transaction_coordinator,
)
from eosctl.client.metadata import BrokerAddress, ClusterMetadata, PartitionMetadata, TopicMetadata
from eosctl.client.negotiation import BrokerVersions
from eosctl.client.outcome import Failure, Outcome

__all__ = [
    "BrokerAddress",
    "BrokerVersions",
    "Client",
    "ClusterMetadata",
    "CoordinatorKind",
    "CoordinatorOf",
    "Destination",
    "Failure",
    "Outcome",
    "PartitionMetadata",
    "Role",
    "TopicMetadata",
    "connect",
    "group_coordinator",
    "transaction_coordinator",
]
