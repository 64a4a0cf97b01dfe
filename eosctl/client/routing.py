"""Lookup of leaders, coordinators, and the controller, cached until a response proves it outdated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from eosctl.client.deadline import Deadline
from eosctl.client.destinations import CoordinatorKind, CoordinatorOf, Destination, Role
from eosctl.client.metadata import ClusterMetadata, parse_metadata
from eosctl.client.negotiation import ExpectedNode
from eosctl.client.outcome import Failure, Outcome, error_for_code, failure_for_code
from eosctl.errors import ClusterUnreachable, EosctlError
from eosctl.model.client_config import Endpoint
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from eosctl.wire.uuid import ZERO_UUID

AskAnyBroker = Callable[[ApiKey, Any, int, Deadline], Awaitable[Any]]
"""Sends a request (API, message, lowest version, deadline) to the first broker that responds."""

# Below this version, Metadata creates the requested topics.
_METADATA_WITHOUT_CREATION: Final = 4
_FIRST_WITH_KIND: Final = {CoordinatorKind.GROUP: 0, CoordinatorKind.TRANSACTION: 1, CoordinatorKind.SHARE: 6}


class ClusterChanged(EosctlError):  # noqa: N818
    """The bootstrap addresses now lead to another cluster than the one that this client was opened for."""


class Router:
    """The last known cluster, with cached leaders and coordinators."""

    def __init__(self, ask: AskAnyBroker) -> None:
        self.cluster = ClusterMetadata("", None, (), ())
        self._ask = ask
        self._leaders: dict[TopicPartition, int] = {}
        self._topic_ids: dict[str, bytes] = {}
        self._coordinators: dict[CoordinatorOf, int] = {}

    async def refresh(self, topics: Sequence[str] | None, deadline: Deadline) -> ClusterMetadata:
        """Fetch brokers and topics (all if None, none if empty) without creating topics.

        Raises:
            ClusterChanged: Another cluster answered than in earlier responses.
        """
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        response = await self._ask(ApiKey.METADATA, request, _METADATA_WITHOUT_CREATION, deadline)
        cluster = parse_metadata(response)
        self._check_same_cluster(cluster.cluster_id)
        self.cluster = cluster
        for topic in self.cluster.topics:
            self._topic_ids[topic.name] = topic.topic_id
            for partition in topic.partitions:
                if partition.leader_id is not None:
                    self._leaders[partition.partition] = partition.leader_id
                else:
                    self._leaders.pop(partition.partition, None)
        return self.cluster

    async def node_id(self, destination: Destination, deadline: Deadline) -> int:
        """Return the broker for a destination.

        Raises:
            BrokerError: No broker has that role at the moment.
        """
        match destination:
            case TopicPartition():
                return await self._leader(destination, deadline)
            case CoordinatorOf():
                return await self._coordinator(destination, deadline)
            case Role.CONTROLLER:
                controller_id = (await self.refresh([], deadline)).controller_id
                if controller_id is None:
                    raise error_for_code(ErrorCode.NOT_CONTROLLER, "Looking for the controller")
                return controller_id
            case Role.ANY:
                raise ValueError("any broker has no id")
            case node_id:
                return node_id

    async def endpoint(self, node_id: int, deadline: Deadline) -> Endpoint:
        """Return a broker's address; fetch metadata once if it is unknown.

        Raises:
            ClusterUnreachable: The cluster does not have this broker.
        """
        endpoint = self.cluster.endpoint(node_id)
        if endpoint is None:
            endpoint = (await self.refresh([], deadline)).endpoint(node_id)
        if endpoint is None:
            raise ClusterUnreachable(
                f"Broker {node_id} is not in the cluster.",
                f"The metadata names the brokers {', '.join(map(str, self.cluster.node_ids)) or 'none'}.",
                "Start it, or wait until it has registered.",
            )
        return endpoint

    async def topic_ids(self, names: Sequence[str], deadline: Deadline) -> dict[str, bytes]:
        """Return the ids of those topics that have one (Metadata 10 and later), cached until `forget_topics`."""
        if any(name not in self._topic_ids for name in names):
            await self.refresh(names, deadline)
        found = {name: self._topic_ids.get(name, ZERO_UUID) for name in names}
        return {name: topic_id for name, topic_id in found.items() if topic_id != ZERO_UUID}

    def forget_topics(self, names: Sequence[str]) -> None:
        """Drop cached topic ids."""
        for name in names:
            self._topic_ids.pop(name, None)

    def expected(self, endpoint: Endpoint) -> ExpectedNode | None:
        """Return the broker at an address; None if the metadata names none there, or several."""
        nodes = [broker.node_id for broker in self.cluster.brokers if broker.endpoint == endpoint]
        return ExpectedNode(self.cluster.cluster_id, nodes[0]) if len(nodes) == 1 and self.cluster.cluster_id else None

    @property
    def is_bootstrapping(self) -> bool:
        """Return whether the brokers were dropped and not fetched again yet."""
        return bool(self.cluster.cluster_id) and not self.cluster.brokers

    def rebootstrap(self) -> None:
        """Drop everything but the cluster's id, so that the bootstrap addresses are queried next."""
        self.cluster = ClusterMetadata(self.cluster.cluster_id, None, (), ())
        self._leaders.clear()
        self._coordinators.clear()
        self._topic_ids.clear()

    def forget(self, destination: Destination) -> None:
        """Drop the cached broker of a destination."""
        match destination:
            case TopicPartition():
                self._leaders.pop(destination, None)
            case CoordinatorOf():
                self._coordinators.pop(destination, None)

    async def ask_coordinators(
        self, kind: CoordinatorKind, keys: Sequence[str], deadline: Deadline
    ) -> dict[str, Outcome[int]]:
        """Return the coordinator's node id of each key, or the broker's error; without retries."""
        found: dict[str, Outcome[int]] = {}
        remaining = list(dict.fromkeys(keys))
        while remaining:
            request = FindCoordinatorRequest(key=remaining[0], key_type=kind, coordinator_keys=remaining)
            response = await self._ask(ApiKey.FIND_COORDINATOR, request, _FIRST_WITH_KIND[kind], deadline)
            # Below version 4, a request has one key, and the response is not a list.
            answers = {answer.key: answer for answer in response.coordinators} or {remaining[0]: response}
            for key, answer in answers.items():
                found[key] = self._parse_coordinator(CoordinatorOf(kind, key), answer)
            remaining = [key for key in remaining if key not in answers]
        return found

    def _check_same_cluster(self, cluster_id: str) -> None:
        own = self.cluster.cluster_id
        if own and cluster_id and own != cluster_id:
            raise ClusterChanged(
                f"The bootstrap addresses lead to cluster {cluster_id}; this client was opened for {own}.",
                "The cluster was rebuilt, or its addresses now belong to another one.",
                "Check the bootstrap addresses, then run the command again.",
            )

    def _parse_coordinator(self, part: CoordinatorOf, answer: Any) -> Outcome[int]:
        if answer.error_code:
            return failure_for_code(
                answer.error_code, f"Looking for {part}", answer.error_message, ApiKey.FIND_COORDINATOR
            )
        node_id = int(answer.node_id)
        self._coordinators[part] = node_id
        return node_id

    async def _leader(self, partition: TopicPartition, deadline: Deadline) -> int:
        if partition not in self._leaders:
            await self.refresh([partition.topic], deadline)
        leader_id = self._leaders.get(partition)
        if leader_id is None:
            code = self._why_no_leader(partition)
            raise error_for_code(code, f"Looking for the leader of {partition}", api_key=ApiKey.METADATA)
        return leader_id

    def _why_no_leader(self, partition: TopicPartition) -> ErrorCode:
        topic = self.cluster.topic(partition.topic)
        found = self.cluster.partition(partition)
        if topic is not None and topic.error is not ErrorCode.NONE:
            return topic.error
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if found is None else ErrorCode.LEADER_NOT_AVAILABLE

    async def _coordinator(self, part: CoordinatorOf, deadline: Deadline) -> int:
        node_id = self._coordinators.get(part)
        if node_id is not None:
            return node_id
        outcome = (await self.ask_coordinators(part.kind, [part.key], deadline))[part.key]
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome
