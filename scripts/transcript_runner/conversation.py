"""Run a scenario on a cluster: in memory on virtual time, or behind a socket."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec, is_flexible, versions
from eosctl.wire.generated.index import APIS
from scripts.transcript_runner.matching import Names, UnboundNameError, compare, contains, fill
from scripts.transcript_runner.plain import build, describe
from scripts.transcript_runner.scenario import Scenario, Target, expectation
from scripts.transcript_runner.sockets import SocketClient, SocketCluster
from tests.sandbox.harness import Harness, HarnessClient, Pending

PATIENCE_MS = 15_000
POLL_MS = 20
SILENCE_MS = 300
BROKER = 1


class Outcome(NamedTuple):
    """The result of a scenario."""

    scenario: Scenario
    check_count: int
    differences: list[str]
    unsupported: bool = False


def _api_key(name: str) -> ApiKey:
    return next(ApiKey(key) for key, api in APIS.items() if api.name == name)


def _message_class(api_key: ApiKey, suffix: str) -> Any:
    package = import_module(f"eosctl.wire.messages.{api_key.name.lower()}")
    return getattr(package, f"{APIS[api_key].name}{suffix}")


class Conversation:
    """The clients, names, and pending requests of a run."""

    def __init__(self, harness: Harness | SocketCluster, scenario: Scenario, target: Target, run: str) -> None:
        self._harness = harness
        self._scenario = scenario
        self._target = target
        self._names: Names = {"run": run}
        self._clients: dict[str, HarnessClient | SocketClient] = {}
        self._started: dict[str, tuple[str, Pending]] = {}

    def run(self) -> Outcome:
        """Create the topics, run every step, and compare every response."""
        self._create_topics()
        check_count, differences = 0, []
        for number, step in enumerate(self._scenario.steps, 1):
            want = expectation(step, self._target.name)
            label = f"step {number} {step.get('client', '')} {step.get('api', step.get('await', ''))}".rstrip()
            try:
                got = self._do(step)
            except (UnboundNameError, TimeoutError) as error:
                check_count += 1
                differences.append(f"{label}: {error}")
                continue
            if want is None:
                continue
            check_count += 1
            if isinstance(want, str) or isinstance(got, str):
                found = [] if want == got else [f"{want} was expected, {got} came"]
            else:
                found = compare(want, got, self._names)
            differences += [f"{label}: {difference}" for difference in found]
        return Outcome(self._scenario, check_count, differences)

    # --- steps --------------------------------------------------------------------------------------------------

    def _do(self, step: Mapping[str, Any]) -> Any:
        if "wait" in step:
            self._harness.advance(step["wait"] * 1000)
            return None
        if "disconnect" in step:
            self._drop(step["disconnect"])
            return None
        if "await" in step:
            return self._answer(*self._started.pop(step["await"]))
        for _ in range(step.get("repeat", 1) - 1):
            self._once(step)
        answer = self._once(step)
        if "until" in step:
            waited_ms = 0
            while not contains(step["until"], answer, self._names) and waited_ms < PATIENCE_MS:
                self._harness.advance(POLL_MS)
                waited_ms += POLL_MS
                answer = self._once(step)
        return answer

    def _once(self, step: Mapping[str, Any]) -> Any:
        name, api_key, version = step["client"], _api_key(step["api"]), step["version"]
        request = fill(step.get("request", {}), self._names)
        now_ms = self._harness.now_ms()
        message = build(_message_class(api_key, "Request"), request, now_ms)
        client = self._client(name)
        if version in versions(api_key):
            pending = client.send(api_key, version, message)
        else:
            pending = self._send_unknown(client, api_key, version, message)
        if "start" in step:
            self._started[step["start"]] = (name, pending)
            return None
        if step.get("silent"):
            self._harness.advance(SILENCE_MS)
            if pending.closed:
                self._drop(name)
            return "closed" if pending.closed else "silent" if pending.response is None else "answered"
        return self._answer(name, pending)

    def _send_unknown(
        self, client: HarnessClient | SocketClient, api_key: ApiKey, version: int, message: Any
    ) -> Pending:
        """Send an unsupported version, in the layout of the nearest supported one."""
        nearest = min(version, versions(api_key)[-1])
        body = codec(api_key, nearest).encode_request(message)
        return client.send_as(api_key, nearest, version, b"\0" if is_flexible(api_key, nearest) else b"", body)

    def _answer(self, name: str, pending: Pending) -> Any:
        self._harness.run_until(lambda: pending.is_over)
        if pending.closed:
            self._drop(name)
            return "closed"
        return describe(pending.response)

    def _client(self, name: str) -> HarnessClient | SocketClient:
        client = self._clients.get(name)
        if client is None or client.closed:
            client = self._clients[name] = self._harness.client(BROKER, name)
        return client

    def _drop(self, name: str) -> None:
        client = self._clients.pop(name, None)
        if client is not None and not client.closed:
            client.disconnect()

    # --- topics -------------------------------------------------------------------------------------------------

    def _create_topics(self) -> None:
        topics = []
        for name, given in self._scenario.topics.items():
            spec = given if isinstance(given, dict) else {"partitions": given}
            configs = {"retention.ms": -1, **spec.get("configs", {})}
            topics.append(
                {
                    "name": fill(name, self._names),
                    "numPartitions": spec.get("partitions", 1),
                    "replicationFactor": 1,
                    "configs": [{"name": key, "value": str(value)} for key, value in configs.items()],
                }
            )
        if topics:
            message = build(_message_class(ApiKey.CREATE_TOPICS, "Request"), {"topics": topics, "timeoutMs": 10_000}, 0)
            response = self._harness.request(BROKER, ApiKey.CREATE_TOPICS, 5, message)
            refused = [topic for topic in response.topics if topic.error_code]
            if refused:
                raise RuntimeError(f"topics could not be created: {refused}")
            self._await_leaders(topics)

    def _await_leaders(self, topics: list[dict[str, Any]]) -> None:
        """Wait until every partition responds, since a broker in a separate process needs time."""
        asked = [
            {
                "name": topic["name"],
                "partitions": [{"partitionIndex": index, "timestamp": -1} for index in range(topic["numPartitions"])],
            }
            for topic in topics
        ]
        message = build(_message_class(ApiKey.LIST_OFFSETS, "Request"), {"replicaId": -1, "topics": asked}, 0)
        for _ in range(PATIENCE_MS // POLL_MS):
            answer = self._harness.request(BROKER, ApiKey.LIST_OFFSETS, 5, message)
            if not any(part.error_code for topic in answer.topics for part in topic.partitions):
                return
            self._harness.advance(POLL_MS)
        raise RuntimeError("topics have no leaders")
