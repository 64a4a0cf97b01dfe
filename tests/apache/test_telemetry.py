"""Client metrics subscriptions with Kafka's own tool, and a producer that pushes its metrics to a sandbox."""

from __future__ import annotations

from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from tests.apache.conftest import KafkaTool

TOOL = "org.apache.kafka.tools.ClientMetricsCommand"
COMMANDS = (
    "--list",
    "--alter --name telemetry-test --metrics org.apache.kafka.producer. --interval 200 --match client_id=.*",
    "--list",
    "--describe --name telemetry-test",
    "--alter --name telemetry-test --interval 5",
    "--delete --name telemetry-test",
    "--describe",
    "--list",
)


def printed(bootstrap: str, kafka_tool: KafkaTool) -> list[tuple[str, int, str]]:
    outputs = []
    for command in COMMANDS:
        done = kafka_tool(TOOL, "--bootstrap-server", bootstrap, *command.split())
        outputs.append((command, done.exit_code, done.stdout))
    return outputs


def test_the_tool_sees_no_difference(apache_4_3: ApacheNodes, kafka_tool: KafkaTool) -> None:
    with SandboxThread(emulate="4.3", fast=False) as sandbox:
        ours = printed(sandbox.bootstrap, kafka_tool)
    real = printed(apache_4_3.bootstrap, kafka_tool)
    assert ours == real
    assert "telemetry-test" in real[3][2]


def test_a_producer_pushes_its_metrics(kafka_tool: KafkaTool) -> None:
    config = {"metric.reporters": "com.example.TelemetryReporter"}
    with SandboxThread(emulate="4.3", fast=False, config=config) as sandbox:
        kafka_tool(TOOL, "--bootstrap-server", sandbox.bootstrap, *COMMANDS[1].split())
        done = kafka_tool(
            "org.apache.kafka.tools.VerifiableProducer",
            "--bootstrap-server",
            sandbox.bootstrap,
            *["--topic", "telemetry", "--max-messages", "20", "--throughput", "10"],
        )
        assert done.exit_code == 0, done.stdout + done.stderr
        counts = sandbox._embedded.core.broker(1).requests.counts()
    assert counts[ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, False] >= 1
    assert counts[ApiKey.PUSH_TELEMETRY, 0, False] >= 2
