"""A real Kafka Streams application, observed through its JMX."""

from __future__ import annotations

import socket
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.testing import SandboxThread
from tests.apache.test_streams import LONG_S, Counts, application, compile_word_count, write_lines
from tests.capacity.workloads import ROOT
from tests.commands.conftest import eosctl


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def test_a_real_application_gives_its_workload(streams_jars: Path, tmp_path: Path) -> None:
    classes = tmp_path / "classes"
    classes.mkdir()
    java, *arguments = compile_word_count(streams_jars, classes)
    port = free_port()
    options = {
        "com.sun.management.jmxremote.port": port,
        "com.sun.management.jmxremote.rmi.port": port,
        "com.sun.management.jmxremote.host": "127.0.0.1",
        "java.rmi.server.hostname": "127.0.0.1",
        "com.sun.management.jmxremote.authenticate": "false",
        "com.sun.management.jmxremote.ssl": "false",
        "threads": 2,
    }
    command = [java, *(f"-D{name}={value}" for name, value in options.items()), *arguments]
    path = tmp_path / "observed.yaml"
    with SandboxThread(brokers=1, emulate="4.3", fast=False) as sandbox:
        bootstrap = sandbox.bootstrap
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for created in admin.create_topics([NewTopic("lines", 2), NewTopic("counts", 2)]).values():
            created.result(LONG_S)
        counts = Counts(bootstrap)
        write_lines(bootstrap, 300)
        with application(command, bootstrap, tmp_path, "observed") as (running, log):
            counts.read_until(lambda: sum(map(len, counts.seen.values())) >= 200, running, log)
            # More lines than are counted while it is watched.
            write_lines(bootstrap, 60_000)
            described = ROOT / "examples" / "strimzi-cluster.yaml"
            asked = ("--streams", f"jmx://127.0.0.1:{port}", "--description", described, "--duration", "3s")
            done = eosctl("capacity", "observe", path, *asked)
            assert done.code == 0, done.err
        counts.close()
    text = path.read_text()
    for expected in ("  word-count:", "    kind: streams", "    producers: 2 ", '    reads: ["lines", "word-count-KST'):
        assert expected in text, text
    assert "    # transaction_timeout:" in text
    # RocksDB's sizes are large integers, which jmxquery writes as text.
    assert "stores without files" not in text
    assert "JMX of word-count: commit-total" in text
