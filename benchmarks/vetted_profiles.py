"""Measure the vetted configurations: delay of records for read_committed consumers, and throughput.

    python -m benchmarks.vetted_profiles
    python -m benchmarks.vetted_profiles streams-eos-v2-low-latency

Real Kafka 4.3.1 runs three brokers with the settings of `broker-eos-production` and topics of one partition. Each
client runs with its profile, the reader with `consumer-read-committed`. For ten seconds, 50 records of 25 bytes a
second are sent and their delays measured, without the first second. For another ten seconds, the client sends as
fast as it can. Producers commit after ten records. Spring and Flink run in their own processes with at most 50,000
records; Flink commits once a minute, so each of its phases takes a minute.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.profile_applications import FLINK, SPRING, compile_application, copying
from eosctl.lab.apache.jars import resolve_jars
from eosctl.lab.apache.java import find_java
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from tests.apache.libraries import streams
from tests.settings.filled_profiles import filled

SOURCE: Final = Path(__file__).with_name("java") / "ProfileRun.java"
VERSION: Final = "4.3.1"
MODES: Final = {
    "producer-transactional": "producer",
    "producer-idempotent-only": "producer",
    "streams-eos-v2-low-latency": "streams",
    "streams-eos-v2-balanced": "streams",
    "streams-eos-v2-throughput": "streams",
    "dlq-retry-topology": "streams",
    "connect-worker-eos-source": "connect",
    SPRING: "apart",
    FLINK: "apart",
}
"""How the program runs each profile of a Java client."""
LIBRDKAFKA: Final = "librdkafka-transactional"
IN_A_TRANSACTION: Final = 10
PATIENCE_S: Final = 180
PLACEHOLDERS: Final = ("TRANSACTIONAL_ID", "APPLICATION_ID", "CONNECT_GROUP")


class Run(NamedTuple):
    """The result of a client's run: records sent, seen, seen twice, and rejected; delays, and records per second."""

    given: int
    seen: int
    twice: int
    dead: int
    p50_ms: float
    p99_ms: float
    records_per_s: float


class Load(NamedTuple):
    """A steady rate of records per second, and its duration; maximum throughput follows for the same time."""

    rate: int
    seconds: int


def compile_program(folder: Path) -> list[str]:
    """Compile the program of Java clients; return the command line, to which arguments are appended.

    Raises:
        MissingTool: Java, a compiler, or Maven is missing.
    """
    javac = shutil.which("javac")
    if javac is None:
        raise MissingTool("javac", "The program that runs the clients must be compiled.", "", "Install a JDK.")
    path = ":".join(f"{resolve_jars(release)}/*" for release in (resolve_release(VERSION), streams(VERSION)))
    subprocess.run([javac, "-nowarn", "-d", str(folder), "-cp", path, str(SOURCE)], check=True)
    java = str(find_java(resolve_release(VERSION)))
    return [java, "-Xmx512m", "-Dorg.apache.logging.log4j.level=ERROR", "-cp", f"{folder}:{path}"]


def run_profile(name: str, program: Sequence[str], bootstrap: str, folder: Path, load: Load) -> Run:
    """Run the client of a profile against a cluster; use each cluster once."""
    topics = {part: f"{name}-{part}" for part in ("in", "out")}
    dead = f"{name}-dlq" if name == "dlq-retry-topology" else ""
    wanted = [NewTopic(topic, 1, -1) for topic in (*topics.values(), dead) if topic]
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for made in admin.create_topics(wanted).values():
        made.result(PATIENCE_S)
    reader = filled("consumer-read-committed", GROUP_ID=f"{name}-reader")
    if name == LIBRDKAFKA:
        return _run_librdkafka(bootstrap, topics["out"], reader, load)
    apart = MODES[name] == "apart"
    settings = {} if apart else filled(name, **dict.fromkeys(PLACEHOLDERS, name))
    if "state.dir" in settings:
        settings["state.dir"] = str(folder / f"{name}-state")
    files = [_write(folder / f"{name}-{part}.properties", one) for part, one in (("own", settings), ("reader", reader))]
    poison = ["-Dpoison=true"] if dead else []
    arguments = [MODES[name], *files, bootstrap, topics["in"], topics["out"], dead, str(load.rate), str(load.seconds)]
    with ExitStack() as stack:
        if apart:
            (folder / name).mkdir()
            application = compile_application(name, folder / name)
            stack.enter_context(copying(application, bootstrap, (topics["in"], topics["out"]), folder / name))
        done = subprocess.run(
            [*program[:1], *poison, *program[1:], "ProfileRun", *arguments],
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S + 2 * load.seconds,
            check=False,
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise RuntimeError(f"{name}: {(done.stdout + done.stderr)[-2000:]}")
    return Run(**json.loads(lines[-1]))


def _write(path: Path, settings: Mapping[str, str]) -> str:
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), "utf-8")
    return str(path)


def _run_librdkafka(bootstrap: str, topic: str, reader: Mapping[str, str], load: Load) -> Run:
    """Do the same as the Java program, with librdkafka."""
    seen: Counter[int] = Counter()
    delays: list[float] = []
    last = [0.0]
    ended = threading.Event()
    paced = load.rate * load.seconds

    def watch() -> None:
        consumer = Consumer({**reader, "bootstrap.servers": bootstrap})
        consumer.subscribe([topic])
        while not ended.is_set():
            for message in consumer.consume(1000, 0.05):
                number, due = message.value().split()
                seen[int(number)] += 1
                last[0] = time.perf_counter()
                if load.rate <= int(number) < paced:
                    delays.append(last[0] - float(due))
        consumer.close()

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    producer = Producer({**filled(LIBRDKAFKA, TRANSACTIONAL_ID=LIBRDKAFKA), "bootstrap.servers": bootstrap})
    producer.init_transactions(PATIENCE_S)
    begun, number = time.perf_counter(), 0
    flat_out = begun + load.seconds
    while number < paced or time.perf_counter() < flat_out + load.seconds:
        producer.begin_transaction()
        for _ in range(IN_A_TRANSACTION):
            due = begun + number / load.rate if number < paced else time.perf_counter()
            time.sleep(max(0.0, due - time.perf_counter()))
            if number == paced:
                flat_out = due
            producer.produce(topic, f"{number} {due}")
            number += 1
        producer.commit_transaction(PATIENCE_S)
    deadline = time.perf_counter() + PATIENCE_S
    while len(seen) < number and time.perf_counter() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)  # for those that would come twice
    ended.set()
    watching.join()
    delays.sort()
    p50, p99 = (1e3 * delays[len(delays) * part // 100] for part in (50, 99))
    twice = sum(count > 1 for count in seen.values())
    return Run(number, len(seen), twice, 0, p50, p99, (number - paced) / (last[0] - flat_out))


def main(names: Sequence[str]) -> None:
    """Print the table."""
    load = Load(rate=50, seconds=10)
    print("| Profile | P50, ms | P99, ms | records/s |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        program = compile_program(folder)
        config = ApacheConfig(VERSION, node_count=3, settings=filled("broker-eos-production"))
        engine = ApacheNodes(config, folder / "cluster", random.Random())
        asyncio.run(engine.up())
        try:
            for name in names or (*MODES, LIBRDKAFKA):
                own = load._replace(seconds=60) if name == FLINK else load
                run = run_profile(name, program, engine.bootstrap, folder, own)
                if run.seen != run.given or run.twice:
                    raise RuntimeError(f"{name}: {run}")
                print(f"| {name} | {run.p50_ms:.0f} | {run.p99_ms:.0f} | {run.records_per_s:,.0f} |", flush=True)
        finally:
            asyncio.run(engine.down())


if __name__ == "__main__":
    main(sys.argv[1:])
