"""Measure the processor time of an idle sandbox: many consumers wait for records that do not come.

    python -m benchmarks.idle [--brokers 3] [--consumers 50] [--groups 5] [--partitions 50] [--seconds 30] [--rounds 3]

The consumers are librdkafka's, with its defaults: each sends every broker that leads one of its partitions a fetch that
waits up to 500 ms, and its coordinator a heartbeat every 3 s. They run in a process of their own. The share is the
server's processor time of one core; the exit code is 1 when the target of 1 % is missed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

import confluent_kafka
import psutil
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import SandboxSpec

TARGET: Final = 0.01
_TOPIC: Final = "idle"
_SETTLE_S: Final = 15


def consume(bootstrap: str, consumers: int, groups: int) -> None:
    """Run consumers until standard input ends."""
    members = []
    for number in range(consumers):
        settings = {"bootstrap.servers": bootstrap, "group.id": f"group-{number % groups}", "client.id": f"c{number}"}
        member = confluent_kafka.Consumer(settings | {"auto.offset.reset": "earliest"})
        member.subscribe([_TOPIC])
        members.append(member)
    os.set_blocking(0, False)
    while sys.stdin.buffer.read() != b"":
        for member in members:
            member.poll(0)
        time.sleep(0.5)


class Share(NamedTuple):
    """Processor time of the server, of its own code and of the kernel for it, as shares of a core."""

    own: float
    kernel: float

    @property
    def whole(self) -> float:
        """Return both."""
        return self.own + self.kernel

    def __str__(self) -> str:
        return f"{self.whole:.2%}, of them {self.kernel:.2%} in the kernel"


def measure(brokers: int, consumers: int, groups: int, partitions: int, seconds: float) -> Share:
    """Measure a new sandbox."""
    with tempfile.TemporaryDirectory() as home:
        spec = SandboxSpec(f"idle-{os.getpid()}", str(Path(home, "data")), brokers=brokers, ephemeral=True)
        sandbox = manage.start(spec)
        try:
            _create(sandbox.bootstrap, partitions, brokers)
            own = (sys.executable, "-m", "benchmarks.idle", "--consume", sandbox.bootstrap)
            words = (*own, "--consumers", str(consumers), "--groups", str(groups))
            with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
                time.sleep(_SETTLE_S)
                server = psutil.Process(sandbox.pid)
                before, began = server.cpu_times(), time.monotonic()
                time.sleep(seconds)
                after, passed = server.cpu_times(), time.monotonic() - began
                process.kill()
            return Share((after.user - before.user) / passed, (after.system - before.system) / passed)
        finally:
            manage.stop(sandbox)


def _create(bootstrap: str, partitions: int, brokers: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    created = admin.create_topics([NewTopic(_TOPIC, num_partitions=partitions, replication_factor=brokers)])
    created[_TOPIC].result()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--consumers", type=int, default=50)
    parser.add_argument("--groups", type=int, default=5)
    parser.add_argument("--partitions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--consume", default="", help="run the consumers of this cluster")
    given = parser.parse_args()
    if given.consume:
        consume(given.consume, given.consumers, given.groups)
        return 0
    size = (given.brokers, given.consumers, given.groups, given.partitions, given.seconds)
    shares = sorted((measure(*size) for _ in range(given.rounds)), key=lambda share: share.whole)
    middle = shares[len(shares) // 2]
    what = (
        f"{given.brokers} brokers, {given.consumers} consumers in {given.groups} groups, {given.partitions} partitions"
    )
    print(f"{what}: {middle} (all: {', '.join(f'{share.whole:.2%}' for share in shares)})")
    return 0 if middle.whole < TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
