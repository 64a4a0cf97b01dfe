"""Heavy live load is never called hanging, and what hangs among it is found.

`EOSCTL_LIVE_LOAD_S` says for how long, 2 s when it is not set (`make prove live-load`: ten minutes). The load has a
process of its own, until its standard input ends: short transactions as fast as they go, and slow ones that stay open
across both looks.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from eosctl.client import Client, connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, Profile
from eosctl.model.client_config import ClientConfig
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl, run_scenario
from tests.lab.scenarios.stage.hanging import run_hanging

SECONDS = float(os.environ.get("EOSCTL_LIVE_LOAD_S", "2"))
SLOW_PRODUCERS = 12
#: Longer than the half second between the two readings, far below any timeout.
SLOW_S = (0.3, 2.0)
#: A starved machine is not what is tested.
PATIENT = ("--timeout", "3m", "-X", "request.timeout.ms=60000")
LEAST_LOOKS_A_MINUTE = 6
LEAST_FAST_PER_S = 50
#: The load comes in waves of new producers with the ids of those before.
WAVE_MS = 1_000


async def slow_transactions(client: Client, number: int, enough: Event) -> int:
    """Keep one transaction after the other open for a while; commit some, abort some."""
    chance = random.Random(number)
    topic = await ensure_topic(client, "slow", partition_count=6, replica_count=1)
    producer = TransactionalProducer(client, f"slow-{number}", now_ms=system_now_ms)
    await producer.init_transactions()
    made = 0
    while not enough.is_set():
        await producer.send(topic.partitions[number % 6].partition, [OutgoingRecord(b"key", b"value")])
        await asyncio.sleep(chance.uniform(*SLOW_S))
        await (producer.commit() if chance.random() < 0.7 else producer.abort())
        made += 1
    return made


async def put_load(bootstrap: str, enough: Event) -> dict[str, int]:
    """Put short and slow transactions on a cluster; return how many ended."""
    config = ClientConfig(parse_endpoints(bootstrap, "test"), client_id="live-load", timeout_ms=120_000)
    async with connect(config, chance=random.Random(1)) as client:
        await ensure_topic(client, "fast", partition_count=6, replica_count=1)
        load = Load(Profile.TV1, "fast", connection_count=4, ids_per_connection=8, warm_up_ms=0, duration_ms=WAVE_MS)
        slow = [asyncio.create_task(slow_transactions(client, number, enough)) for number in range(SLOW_PRODUCERS)]
        fast = 0
        while not enough.is_set():
            fast += (await run_load(client, load, now_ms=system_now_ms)).completed_count
            print("under load", flush=True)
        return {"fast": fast, "slow": sum(await asyncio.gather(*slow))}


@contextmanager
def load_on(bootstrap: str) -> Iterator[subprocess.Popen[str]]:
    """Run this module as a program of its own."""
    command = [sys.executable, "-m", "tests.commands.txn.test_live_load", bootstrap]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root) as load:
        try:
            yield load
        finally:
            load.kill()


def main() -> None:
    """Put load on the cluster that the command line names until standard input ends; print what ended."""
    enough = Event()

    def wait() -> None:
        sys.stdin.read()
        enough.set()

    Thread(target=wait, daemon=True).start()
    sys.stdout.write(json.dumps(asyncio.run(put_load(sys.argv[1], enough))))


@pytest.mark.timeout(600 + SECONDS)
def test_heavy_load_gives_no_false_hang_and_hides_no_true_one() -> None:
    settings = {"transaction.partition.verification.enable": "false"}  # so that a transaction can be made to hang
    with (
        SandboxThread(brokers=3, fast=False, config=settings) as cluster,
        load_on(cluster.bootstrap) as load,
    ):
        assert load.stdout is not None
        assert load.stdout.readline() == "under load\n"
        looks, seen, ends_at = 0, Counter[str](), time.monotonic() + SECONDS
        while time.monotonic() < ends_at:
            done = eosctl("txn", "hanging", "--all", "-b", cluster.bootstrap, *PATIENT, "-o", "json")
            assert (done.code, load.poll()) == (0, None), done.out
            seen.update(f"{item['status']} {item['cause']}" for item in done.json["items"])
            looks += 1
        hanging = run_scenario(cluster.bootstrap, run_hanging)
        done = eosctl("txn", "hanging", "-b", cluster.bootstrap, *PATIENT, "-o", "json")
        assert load.poll() is None
        found = [(item["topic"], item["partition"], item["status"]) for item in done.json["items"]]
        assert (done.code, found) == (3, [(*hanging.partition, "hanging")])
        ended = json.loads(load.communicate()[0].splitlines()[-1])
    sys.stdout.write(f"{looks} looks, transactions ended: {ended}, open when looked at: {dict(seen)}\n")
    assert looks >= SECONDS * LEAST_LOOKS_A_MINUTE / 60
    assert sum(seen.values()) > looks, "the looks met no transactions"
    assert ended["fast"] > SECONDS * LEAST_FAST_PER_S
    assert ended["slow"] >= SLOW_PRODUCERS


if __name__ == "__main__":
    main()
