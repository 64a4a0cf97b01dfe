"""Requests of clients with `controller_mutation_rate`, recorded from real brokers and played on the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import alter_client_quotas as quotas
from eosctl.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from eosctl.wire.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

BROKER = 1
RATE = 10.0  # Partitions per second; a client may spend those of eleven seconds first.
EXACT = 0


class Cluster(Protocol):
    """A real cluster, or the one of the harness."""

    def client(self, broker_id: int, client_id: str) -> Any: ...

    def now_ms(self) -> int: ...

    def advance(self, ms: float) -> None: ...

    def run_until(self, stop: Callable[[], bool]) -> None: ...


class Conversation:
    """The requests, one after the other, with their results and times."""

    def __init__(self, cluster: Cluster, times: Sequence[int] = ()) -> None:
        self._cluster = cluster
        self._times = list(times)
        self._started_ms = cluster.now_ms()
        self._clients: dict[str, Any] = {}
        self.steps: list[dict[str, Any]] = []

    def run(self, *, creates_automatically: bool = True) -> list[dict[str, Any]]:
        """Play everything; topics are referred to only where that creates them."""
        for client in ("strict", "loose", "deleting", "growing", "automatic", "removed"):
            self._limit(client, RATE)
        self._create("other", 7, ["quota-kept", "quota-gone", "quota-grown"], partitions=60, validate_only=False)
        for names in (["one"], ["two", "three"], ["quota-kept", "bad name"], ["four"]):
            self._create("strict", 7, names)
        self._probe("strict")
        self._create("loose", 5, ["one", "two"])
        self._create("loose", 5, ["one"], partitions=1)
        self._probe("loose")
        self._create("deleting", 7, ["one"])
        self._delete("deleting", ["quota-missing", "quota-kept"])
        self._delete("deleting", ["quota-missing", "quota-gone"])
        self._delete("deleting", ["quota-gone"])
        self._probe("deleting")
        self._grow("growing", 3, [("quota-grown", 120), ("quota-missing", 3)])
        self._grow("growing", 3, [("quota-grown", 59)])
        self._grow("growing", 3, [("quota-grown", 130)])
        self._grow("growing", 3, [("quota-grown", 61), ("quota-grown", 62), ("quota-missing", 3)])
        self._grow("growing", 2, [("quota-grown", 61), ("quota-missing", 3)])
        self._probe("growing")
        self._create("automatic", 5, ["one", "two"])
        self._probe("automatic")
        self._create("automatic", 7, ["one"], partitions=119)
        if creates_automatically:
            self._refer("automatic", "quota-referred")
            self._refer("other", "quota-referred")
        self._create("removed", 7, ["one"], partitions=120)
        self._create("removed", 7, ["one"])
        self._limit("removed", None)
        self._create("removed", 7, ["one"])
        self._limit("removed", 2 * RATE)
        self._create("removed", 7, ["one"])
        self._delete("other", ["quota-kept", "quota-grown"])
        return self.steps

    def _limit(self, client_id: str, rate: float | None) -> None:
        entity = [quotas.EntityData("client-id", client_id)]
        change = quotas.OpData("controller_mutation_rate", rate or 0.0, rate is None)
        request = quotas.AlterClientQuotasRequest([quotas.RequestEntryData(entity, [change])])
        answer = self._request("admin", ApiKey.ALTER_CLIENT_QUOTAS, 1, request)
        assert [entry.error_code for entry in answer.entries] == [0]
        query = DescribeClientQuotasRequest([ComponentData("client-id", EXACT, client_id)], True)
        while self._described(query) != ([] if rate is None else [rate]):
            self._cluster.advance(10)

    def _described(self, query: DescribeClientQuotasRequest) -> list[float]:
        found = self._request("admin", ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, query)
        return [value.value for entry in found.entries or () for value in entry.values]

    def _request(self, client_id: str, api_key: int, version: int, message: Any) -> Any:
        if client_id not in self._clients:
            self._clients[client_id] = self._cluster.client(BROKER, client_id)
        pending = self._clients[client_id].send(api_key, version, message)
        self._cluster.run_until(lambda: pending.is_over)
        return pending.response

    def _ask(self, client_id: str, api_key: ApiKey, version: int, request: Any) -> Any:
        """Send a request at the time at which it was recorded, and note when the response arrives."""
        if self._times:
            self._cluster.advance(max(0, self._started_ms + self._times.pop(0) - self._cluster.now_ms()))
        sent_ms = self._cluster.now_ms()
        answer = self._request(client_id, api_key, version, request)
        self.steps.append(
            {
                "client": client_id,
                "api": f"{api_key.name} {version}",
                "at_ms": sent_ms - self._started_ms,
                "waited_ms": self._cluster.now_ms() - sent_ms,
                "throttle_ms": answer.throttle_time_ms,
            }
        )
        return answer

    def _note(self, results: list[Any]) -> None:
        self.steps[-1]["results"] = sorted([one.name, int(one.error_code), one.error_message] for one in results)

    def _create(
        self, client_id: str, version: int, names: list[str], *, partitions: int = 60, validate_only: bool = True
    ) -> None:
        topics = [CreatableTopic(name, partitions, 1) for name in names]
        answer = self._ask(client_id, ApiKey.CREATE_TOPICS, version, CreateTopicsRequest(topics, 30_000, validate_only))
        self._note(answer.topics)

    def _delete(self, client_id: str, names: list[str]) -> None:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name) for name in names], timeout_ms=30_000)
        self._note(self._ask(client_id, ApiKey.DELETE_TOPICS, 6, request).responses)

    def _grow(self, client_id: str, version: int, counts: list[tuple[str, int]]) -> None:
        topics = [CreatePartitionsTopic(name, count, None) for name, count in counts]
        request = CreatePartitionsRequest(topics, 30_000, True)
        self._note(self._ask(client_id, ApiKey.CREATE_PARTITIONS, version, request).results)

    def _probe(self, client_id: str) -> None:
        """Send a request that no quota counts."""
        self._ask(client_id, ApiKey.METADATA, 12, MetadataRequest([]))

    def _refer(self, client_id: str, topic: str) -> None:
        """Name a missing topic, twice: a broker creates it if the client may create more."""
        request = MetadataRequest([MetadataRequestTopic(name=topic)], True)
        self._ask(client_id, ApiKey.METADATA, 12, request)
        self._cluster.advance(500)
        self._ask(client_id, ApiKey.METADATA, 12, request)
        self.steps[-1]["exists"] = self._exists(topic)

    def _exists(self, topic: str) -> bool:
        request = MetadataRequest([MetadataRequestTopic(name=topic)], False)
        return not self._request("admin", ApiKey.METADATA, 12, request).topics[0].error_code
