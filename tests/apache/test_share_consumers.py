"""The Java share consumer: the same program, on a real broker and on the sandbox, prints the same lines."""

from __future__ import annotations

import asyncio
import random
import uuid
from pathlib import Path

import pytest

from eosctl.client import Client
from eosctl.lab.apache.java import prepare_runtime, run_tool
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.testing import SandboxThread
from tests.apache.conftest import KafkaTool
from tests.apache.java_programs import compile_java
from tests.commands import share_consumer
from tests.commands.conftest import eosctl
from tests.commands.open_transactions import on

SOURCE = Path(__file__).with_name("java") / "ShareScenario.java"
EXPECTED = [
    "first 5 [order-1 delivery 1, order-2 delivery 1, order-3 delivery 1, order-4 delivery 1, order-5 delivery 1]",
    "again 1 [order-3 delivery 2]",
    "second 1 [order-3 delivery 3]",
]


def run_scenario(bootstrap: str, directory: Path) -> list[str]:
    try:
        runtime = prepare_runtime(resolve_release("4.3.1"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    compile_java(SOURCE, directory, f"{runtime.jars}/*")
    topic = f"shared-{uuid.uuid4().hex[:8]}"
    done = run_tool(runtime, "-cp", f"{runtime.jars}/*:{directory}", "ShareScenario", bootstrap, topic)
    assert done.exit_code == 0, done.stdout + done.stderr
    return done.stdout.replace(topic, "shared").splitlines()


def test_share_consumers_see_no_difference(apache_4_3: ApacheNodes, tmp_path: Path) -> None:
    real = run_scenario(apache_4_3.bootstrap, tmp_path)
    with SandboxThread(emulate="4.3", fast=False) as sandbox:
        ours = run_scenario(sandbox.bootstrap, tmp_path)
    assert ours == real
    assert ours[:3] == EXPECTED


def test_the_tool_describes_a_share_group(tmp_path: Path, kafka_tool: KafkaTool) -> None:
    with SandboxThread(emulate="4.3", fast=False) as sandbox:
        run_scenario(sandbox.bootstrap, tmp_path)
        shown = kafka_tool(
            "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
            "--bootstrap-server",
            sandbox.bootstrap,
            "--describe",
            "--all-groups",
        )
    assert shown.exit_code == 0, shown.stderr
    row = next(line.split() for line in shown.stdout.splitlines() if "-group" in line)
    assert row[2] == "0"  # The partition; the last column is the lag.
    assert row[-1] == "0"


def test_records_that_a_real_group_gave_up_are_found(tmp_path: Path) -> None:
    async def scenario(client: Client) -> None:
        await share_consumer.alter_group(client, {"share.auto.offset.reset": "earliest"})
        await share_consumer.commit_records(client, 4)
        session = share_consumer.Session(client, await share_consumer.join(client))
        deliveries = 0
        while deliveries < 5:
            for one in await session.acquire():
                await session.acknowledge(one.first_offset, one.last_offset, share_consumer.RELEASE)
                deliveries = max(deliveries, one.delivery_count)

    engine = ApacheNodes(ApacheConfig("4.3.1", settings={}), tmp_path, random.Random())
    try:
        asyncio.run(engine.up())
        on(engine.bootstrap, scenario)
        judged = eosctl("check", "run", "EOS-GRP-008", "EOS-GRP-009", "-b", engine.bootstrap)
        lag = eosctl("group", "lag", "-b", engine.bootstrap, "-o", "json").json["items"]
    finally:
        asyncio.run(engine.down())
    assert "workers gave up 1 record of orders-0 after 5 deliveries" in judged.out
    assert "came back from consumers of workers up to 4 times of 5" in judged.out
    assert [(one["committed_offset"], one["lag_offsets"]) for one in lag] == [(0, 4)]
