"""A real Kafka Streams application, observed through its JMX."""

from __future__ import annotations

from pathlib import Path

import yaml
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.testing import SandboxThread
from tests.apache.test_streams import LONG_S, Counts, application, compile_word_count, write_lines
from tests.capacity.workloads import ROOT
from tests.commands.conftest import eosctl
from tests.free_port import free_port


def jmx_options(port: int) -> list[str]:
    """Return what lets a JVM show its beans on a port of loopback."""
    options = {
        "port": port,
        "rmi.port": port,
        "host": "127.0.0.1",
        "authenticate": "false",
        "ssl": "false",
    }
    own = [f"-Dcom.sun.management.jmxremote.{name}={value}" for name, value in options.items()]
    return [*own, "-Djava.rmi.server.hostname=127.0.0.1"]


def test_a_real_application_gives_its_workload(streams_jars: Path, tmp_path: Path) -> None:
    classes = tmp_path / "classes"
    classes.mkdir()
    java, *arguments = compile_word_count(streams_jars, classes)
    port = free_port()
    command = [java, *jmx_options(port), "-Dthreads=2", *arguments]
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
    (written_by,) = (line for line in text.splitlines() if line.lstrip().startswith("written_by:"))
    stem = "word-count-KSTREAM-AGGREGATE-STATE-STORE-0000000004"
    writers = {
        "counts": f"{stem}-repartition",
        f"{stem}-changelog": f"{stem}-repartition",
        f"{stem}-repartition": "lines",
    }
    assert yaml.safe_load(written_by) == {"written_by": writers}
    # RocksDB's sizes are large integers, which jmxquery writes as text.
    assert "stores without files" not in text
    assert "JMX of word-count: commit-total" in text
