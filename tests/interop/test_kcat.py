"""kcat, the librdkafka command line: metadata, plain and transactional produce, both isolation levels, a group."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence

import pytest

from eosctl.testing import SandboxThread
from tests.interop.conftest import NewTopicName

LONG_S = 120


@pytest.fixture(scope="module")
def kcat() -> str:
    program = shutil.which("kcat") or shutil.which("kafkacat")
    if program is None:
        pytest.skip("kcat is missing (Debian: kcat)")
    return program


def run(command: Sequence[str], given: str = "") -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=LONG_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_metadata(kcat: str, cluster: SandboxThread, new_topic: NewTopicName) -> None:
    topic = new_topic(2)
    shown = json.loads(run([kcat, "-b", cluster.bootstrap, "-L", "-J", "-t", topic]))
    assert len(shown["brokers"]) == len(cluster.bootstrap.split(","))
    (found,) = shown["topics"]
    assert found["topic"] == topic
    assert [partition["partition"] for partition in found["partitions"]] == [0, 1]
    ids = {broker["id"] for broker in shown["brokers"]}
    for partition in found["partitions"]:
        assert partition["leader"] in ids
        assert {isr["id"] for isr in partition["isrs"]} == {replica["id"] for replica in partition["replicas"]}


def test_what_is_produced_is_consumed(kcat: str, cluster: SandboxThread, new_topic: NewTopicName) -> None:
    topic = new_topic()
    lines = [f"k{number}:v{number}" for number in range(50)]
    run([kcat, "-b", cluster.bootstrap, "-P", "-t", topic, "-K:", "-z", "lz4", "-H", "by=kcat"], "\n".join(lines))
    consume = [kcat, "-q", "-b", cluster.bootstrap, "-C", "-t", topic, "-o", "beginning", "-e"]
    assert run([*consume, "-K:"]).splitlines() == lines
    assert set(run([*consume, "-f", "%h\n"]).splitlines()) == {"by=kcat"}
    last = [kcat, "-q", "-b", cluster.bootstrap, "-C", "-t", topic, "-o", "-3", "-e", "-f", "%o\n"]
    assert run(last).split() == ["47", "48", "49"]
    assert run([kcat, "-b", cluster.bootstrap, "-Q", "-t", f"{topic}:0:-1"]).split()[-1] == "50"


def test_a_transaction_is_committed_at_the_end_of_the_input(
    kcat: str, cluster: SandboxThread, new_topic: NewTopicName
) -> None:
    topic = new_topic()
    transactional = ["-X", f"transactional.id={topic}"]
    run([kcat, "-b", cluster.bootstrap, "-P", "-t", topic, *transactional], "one\ntwo\n")
    consume = [kcat, "-q", "-b", cluster.bootstrap, "-C", "-t", topic, "-o", "beginning", "-e"]
    assert run([*consume, "-X", "isolation.level=read_committed", "-f", "%o %s\n"]).splitlines() == ["0 one", "1 two"]
    assert run([kcat, "-b", cluster.bootstrap, "-Q", "-t", f"{topic}:0:-1"]).split()[-1] == "3", "and a marker"


def test_a_group_continues_at_its_position(kcat: str, cluster: SandboxThread, new_topic: NewTopicName) -> None:
    topic = new_topic()
    produce = [kcat, "-b", cluster.bootstrap, "-P", "-t", topic]
    group = [kcat, "-q", "-b", cluster.bootstrap, "-G", topic, "-X", "auto.offset.reset=earliest", "-c", "2", topic]
    run(produce, "one\ntwo\n")
    assert run(group).split() == ["one", "two"]
    run(produce, "three\nfour\n")
    assert run(group).split() == ["three", "four"]
