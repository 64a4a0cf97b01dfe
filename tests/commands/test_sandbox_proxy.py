"""sandbox proxy from a shell: an address on stdout, faults through its socket, and an end by signal."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

from eosctl.client import connect
from eosctl.client.consumer import list_offset
from eosctl.client.topics import ensure_topic
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl


def test_faults_through_the_proxy(own_home: Path) -> None:
    socket = own_home / "proxy.sock"

    async def ask(bootstrap: str) -> int:
        async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
            topic = await ensure_topic(client, "orders", partition_count=1)
            return await list_offset(client, topic.partitions[0].partition)

    with SandboxThread() as cluster:
        words = [
            "sandbox",
            "proxy",
            "-b",
            cluster.bootstrap,
            "--control",
            str(socket),
            "--fault",
            "delay api=FETCH ms=1",
        ]
        process = subprocess.Popen(
            [sys.executable, "-m", "eosctl", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            bootstrap = process.stdout.readline().strip()
            assert bootstrap not in ("", cluster.bootstrap)
            assert asyncio.run(ask(bootstrap)) == 0
            told = eosctl("sandbox", "fault", "--socket", socket, "disconnect", "api=LIST_OFFSETS", "count=1")
            assert (told.code, told.err) == (0, "")
            assert asyncio.run(ask(bootstrap)) == 0  # asked again on a new connection
            shown = eosctl("sandbox", "fault", "--socket", socket, "-o", "json").json["items"][0]
            assert [fault["hit_count"] for fault in shown["active"]] == [0, 1]
            refused = eosctl("sandbox", "fault", "--socket", socket, "kill", "node=1")
            assert refused.code == 1
            assert "A proxy cannot do" in refused.err
            process.send_signal(signal.SIGINT)
            _, told_at_end = process.communicate()
            assert "Traceback" not in told_at_end
        finally:
            process.kill()
            process.communicate()
    assert not socket.exists()


def test_a_cluster_elsewhere_is_refused() -> None:
    done = eosctl("sandbox", "proxy", "-b", "192.0.2.1:9092")
    assert (done.code, done.out) == (2, "")
    assert "not on this machine" in done.err


def test_invalid_faults_are_refused_before_opening_a_port() -> None:
    done = eosctl("sandbox", "proxy", "--fault", "explode")
    assert done.code == 2
    assert "Unknown fault" in done.err
