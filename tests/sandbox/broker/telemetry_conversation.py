"""Subscriptions to client metrics and their clients (KIP-714), recorded from real brokers and played on the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import alter_configs, incremental_alter_configs
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from eosctl.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from eosctl.wire.messages.list_config_resources import ListConfigResourcesRequest
from eosctl.wire.messages.push_telemetry import PushTelemetryRequest
from eosctl.wire.records.compression import Compression, compress

BROKER = 1
CLIENT_METRICS = 16
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
INTERVAL_MS = 400
MAX_BYTES = 1024
SETTINGS = {"telemetry.max.bytes": str(MAX_BYTES)}
NO_ID, ONE_ID = bytes(16), bytes(15) + b"\x01"
FIRST, SECOND, THIRD = b"first" + b"\x00\x91" * 5 + b"!", b"s" * 16, b"\xff" * 16
GOOD = b"\x0a\x01x"
LISTED: list[tuple[int, list[int]]] = [(0, []), (1, [CLIENT_METRICS]), (1, [CLIENT_METRICS, 8, 16])]
MATCHES = ("client_id", "other=1", "client_id=[", "client_id=", "=x", "client_id=a=b", "", " client_id = a ")
RETURNING = b"r" * 16
Step = dict[str, Any]


class Cluster(Protocol):
    """A real cluster, or the one of the harness."""

    def client(self, broker_id: int, client_id: str) -> Any: ...

    def now_ms(self) -> int: ...

    def advance(self, ms: float) -> None: ...

    def run_until(self, stop: Callable[[], bool]) -> None: ...


class Conversation:
    """The requests, one after the other, with their results."""

    def __init__(self, cluster: Cluster, *, is_3_9: bool = False) -> None:
        self._cluster = cluster
        self._is_3_9 = is_3_9
        self._clients: dict[str, Any] = {}
        self._ids: dict[bytes, int] = {}
        self.steps: list[Step] = []

    def run(self) -> list[Step]:
        """Play everything."""
        self._configure()
        self._subscribe()
        self._push()
        self._match()
        self._reconnect()
        return self.steps

    # --- subscriptions --------------------------------------------------------------------------------------------

    def _configure(self) -> None:
        self._alter("one", [("metrics", SET, "org.apache.kafka.producer.,org.apache.kafka.consumer.")])
        self._alter("one", [("interval.ms", SET, str(INTERVAL_MS)), ("match", SET, "client_id=telemetry-.*")])
        self._alter("one", [("metrics", APPEND, "org.apache.kafka.admin.")])
        self._alter("one", [("metrics", SUBTRACT, "org.apache.kafka.admin.")])
        self._alter("refused", [("nonsense", SET, "1")])
        for value in ("50", "100", "3600000", "3600001", "many", "", None):
            self._alter("refused", [("interval.ms", SET, value)], validate_only=True)
        for value in MATCHES:
            self._alter("refused", [("match", SET, value)], validate_only=True)
        self._alter("refused", [("metrics", SET, "")], validate_only=True)
        self._alter("refused", [("interval.ms", APPEND, "5")], validate_only=True)
        self._alter("refused", [("interval.ms", DELETE, None)], validate_only=True)
        self._alter("refused", [("nonsense", DELETE, None)], validate_only=True)
        self._alter("", [("interval.ms", SET, "100")])
        self._replace("two", {"interval.ms": "1000", "match": "client_software_name=other"})
        self._replace("two", {"metrics": "*", "match": "client_software_name=other"})
        self._replace("refused", {"nonsense": "1"})
        self._replace("refused", {"interval.ms": None})
        for name in ("one", "two", "missing", ""):
            self._describe(name, [])
        self._describe("one", ["match", "nonsense"])
        for version, types in LISTED[:1] if self._is_3_9 else LISTED:
            answer = self._ask("admin", ApiKey.LIST_CONFIG_RESOURCES, version, ListConfigResourcesRequest(types))
            self._note(resources=[[one.resource_name, one.resource_type] for one in answer.config_resources])

    def _alter(self, name: str, changes: list[tuple[str, int, str | None]], *, validate_only: bool = False) -> None:
        configs = [incremental_alter_configs.AlterableConfig(*change) for change in changes]
        resource = incremental_alter_configs.AlterConfigsResource(CLIENT_METRICS, name, configs)
        request = incremental_alter_configs.IncrementalAlterConfigsRequest([resource], validate_only)
        answer = self._ask("admin", ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
        self._note(changes=[list(change) for change in changes], error=_error(answer.responses[0]))

    def _replace(self, name: str, values: dict[str, str | None]) -> None:
        configs = [alter_configs.AlterableConfig(*item) for item in values.items()]
        resource = alter_configs.AlterConfigsResource(CLIENT_METRICS, name, configs)
        answer = self._ask("admin", ApiKey.ALTER_CONFIGS, 2, alter_configs.AlterConfigsRequest([resource], False))
        self._note(values=values, error=_error(answer.responses[0]))

    def _describe(self, name: str, keys: list[str]) -> None:
        resource = DescribeConfigsResource(CLIENT_METRICS, name, keys or None)
        answer = self._ask("admin", ApiKey.DESCRIBE_CONFIGS, 4, DescribeConfigsRequest([resource], True, False))
        (result,) = answer.results
        configs = [
            [
                one.name,
                one.value,
                one.read_only,
                one.config_source,
                one.is_sensitive,
                one.config_type,
                [[other.name, other.value, other.source] for other in one.synonyms],
            ]
            for one in sorted(result.configs, key=lambda one: one.name)
        ]
        self._note(name=name, error=_error(result), configs=configs)

    # --- clients --------------------------------------------------------------------------------------------------

    def _subscribe(self) -> None:
        self._cluster.advance(500)
        self._get("telemetry-a", FIRST)
        self._get("telemetry-a", FIRST)
        self._get("telemetry-b", FIRST)
        self._get("other", SECOND)
        self._get("telemetry-a", NO_ID)
        self._get("telemetry-a", NO_ID)
        self._get("telemetry-a", ONE_ID)
        self._cluster.advance(INTERVAL_MS)
        self._get("telemetry-a", FIRST)
        self._alter("one", [("metrics", SET, "b.,a.,c.,long.prefix.")])
        self._cluster.advance(50)
        self._get("telemetry-a", FIRST)
        self._get("telemetry-a", FIRST)

    def _push(self) -> None:
        self._push_one("telemetry-a", NO_ID)
        self._push_one("telemetry-a", ONE_ID)
        self._push_one("telemetry-p", THIRD, subscription=7)
        self._push_one("telemetry-p", THIRD)
        self._cluster.advance(INTERVAL_MS)
        self._push_one("telemetry-p", THIRD, subscription=7)
        self._get("telemetry-p", THIRD)
        self._push_one("telemetry-p", THIRD)
        self._push_one("telemetry-p", THIRD)
        for changes in (
            {"compression": 9},
            {"compression": -1},
            {"compression": 4},
            {"metrics": GOOD + b"x" * (MAX_BYTES - len(GOOD))},
            {"metrics": GOOD + b"x" * MAX_BYTES},
            {"metrics": b""},
            {"compression": 1, "metrics": compress(Compression.GZIP, GOOD)},
        ):
            self._cluster.advance(INTERVAL_MS)
            self._push_one("telemetry-p", THIRD, **changes)
        self._get("telemetry-p", THIRD)
        self._cluster.advance(INTERVAL_MS)
        self._get("telemetry-p", THIRD)
        self._push_one("telemetry-p", THIRD, terminating=True)
        self._push_one("telemetry-p", THIRD)
        self._get("telemetry-p", THIRD)
        self._cluster.advance(INTERVAL_MS)
        self._get("telemetry-p", THIRD)
        self._push_one("telemetry-p", THIRD)
        self._push_one("telemetry-p", THIRD, terminating=True)

    def _match(self) -> None:
        matched = bytes(range(16))
        for number, pattern in enumerate(
            (
                "client_instance_id=AAECAwQFBgcICQoLDA0ODw",
                "client_instance_id=AAEC",
                "client_software_name=apache.*",
                "client_software_version=4\\.[0-9]",
                "client_software_version=5.*",
                "client_source_address=127.0.0.1",
                "client_source_port=[0-9]+",
                "client_source_port=1",
                "client_id=matched,client_software_name=other",
                "",
            )
        ):
            interval = ("interval.ms", SET, str(200 + number))
            self._alter("three", [("match", SET, pattern), ("metrics", SET, "m."), interval])
            self._cluster.advance(300)
            self._get("matched", matched)
        self._alter("four", [("metrics", SET, "*,ignored"), ("interval.ms", SET, "5000")])
        self._cluster.advance(300)
        self._get("matched", matched)
        for name in ("four", "three"):
            self._alter(name, [(key, DELETE, None) for key in ("match", "metrics", "interval.ms")])
        self._cluster.advance(300)
        self._get("matched", matched)

    def _reconnect(self) -> None:
        """Use an id on a new connection after the first one has ended: has the broker forgotten the client?"""
        self._get("telemetry-r", RETURNING)
        self._clients.pop("telemetry-r").disconnect()
        self._cluster.advance(50)
        self._get("telemetry-r", RETURNING)
        self._get("telemetry-s", RETURNING)

    def _get(self, client_id: str, instance_id: bytes) -> None:
        request = GetTelemetrySubscriptionsRequest(instance_id)
        answer = self._ask(client_id, ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, request)
        is_own = instance_id != NO_ID
        if not answer.error_code:
            self._ids[instance_id] = answer.subscription_id
        self._note(
            client=client_id,
            error=int(answer.error_code),
            assigned=answer.client_instance_id != NO_ID if not is_own else answer.client_instance_id.hex(),
            subscription=answer.subscription_id if is_own else None,
            compressions=list(answer.accepted_compression_types),
            interval_ms=answer.push_interval_ms,
            max_bytes=answer.telemetry_max_bytes,
            delta=answer.delta_temporality,
            metrics=list(answer.requested_metrics),
            throttle_ms=answer.throttle_time_ms,
        )

    def _push_one(
        self,
        client_id: str,
        instance_id: bytes,
        *,
        subscription: int | None = None,
        compression: int = 0,
        metrics: bytes = GOOD,
        terminating: bool = False,
    ) -> None:
        known = self._ids.get(instance_id, 0)
        request = PushTelemetryRequest(
            instance_id, known if subscription is None else subscription, terminating, compression, metrics
        )
        answer = self._ask(client_id, ApiKey.PUSH_TELEMETRY, 0, request)
        self._note(client=client_id, error=int(answer.error_code), throttle_ms=answer.throttle_time_ms)

    # --- requests -------------------------------------------------------------------------------------------------

    def _ask(self, client_id: str, api_key: ApiKey, version: int, request: Any) -> Any:
        if client_id not in self._clients:
            self._clients[client_id] = self._cluster.client(BROKER, client_id)
            self._request(client_id, ApiKey.API_VERSIONS, 3, ApiVersionsRequest("apache-kafka-java", "4.3"))
        self.steps.append({"api": f"{api_key.name} {version}"})
        return self._request(client_id, api_key, version, request)

    def _request(self, client_id: str, api_key: int, version: int, request: Any) -> Any:
        pending = self._clients[client_id].send(api_key, version, request)
        self._cluster.run_until(lambda: pending.is_over)
        return pending.response

    def _note(self, **facts: Any) -> None:
        self.steps[-1] |= facts


def _error(result: Any) -> list[Any]:
    return [int(result.error_code), result.error_message]
