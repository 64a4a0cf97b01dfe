"""Kafka's dump tool and `eosctl decode -o kafka` print of a sandbox's files what they print of a real broker's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eosctl.testing import SandboxThread
from tests.apache.conftest import SETTINGS, KafkaTool, running
from tests.apache.test_sandbox_files import DUMP
from tests.apache.test_tools import EMULATIONS, prepare
from tests.commands.decode.running import run

pytestmark = pytest.mark.apache

DECODERS = {
    "tools-orders": "--print-data-log",
    "__transaction_state": "--transaction-log-decoder",
    "__consumer_offsets": "--offsets-decoder",
}


def logs_of(data: Path) -> dict[str, list[Path]]:
    """Return the logs with records, by topic; both sides hash ids and groups to the same partitions."""
    return {topic: sorted(path for path in data.glob(f"{topic}-*/*.log") if path.stat().st_size) for topic in DECODERS}


def masked(text: str, data: Path) -> list[str]:
    """Replace what differs from cluster to cluster: where files are, ids, times, and checksums over them."""
    text = text.replace(str(data), "DATA")
    text = re.sub(r"(?i)\b(crc|producerId|lastProducerId)(: ?|=)-?\d+", r"\1\2N", text)
    text = re.sub(r'("topicId":)"[^"]*"', r'\1"ID"', text)
    text = re.sub(r"\b1[789]\d{11}\b", "TIME", text)
    return text.splitlines()


def in_any_order(lines: list[str]) -> list[str]:
    """Forget in which order records came: 3.9 writes the partitions of one commit in the order of a hash map."""
    return sorted(re.sub(r"\b(offset|sequence): \d+", r"\1: N", line) for line in lines)


@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_dumps_are_the_same(
    tmp_path: Path, kafka_tool: KafkaTool, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    release = EMULATIONS[version]
    real_data = ours_data = tmp_path
    found: dict[str, list[list[str]]] = {topic: [] for topic in DECODERS}
    with (
        running(version, tmp_path / "kafka") as real,
        SandboxThread(emulate=release, fast=False, config=SETTINGS, data_dir=tmp_path / "sandbox") as sandbox,
    ):
        prepare(real.bootstrap)
        prepare(sandbox.bootstrap)
        real_data, ours_data = real.data_dirs()[1], tmp_path / "sandbox" / "broker-1"
        for data in (real_data, ours_data):
            for topic, logs in logs_of(data).items():
                files = ",".join(map(str, logs))
                options = ["--deep-iteration", "--files", files, DECODERS[topic]]
                done = kafka_tool(DUMP[release][1], *options, version=version)
                assert done.exit_code == 0, done.stderr
                ran = run(capsys, "decode", "segment", *logs, "--records", "-o", "kafka", "--kafka-version", release)
                assert (ran.code, ran.out) == (0, done.stdout)
                found[topic].append([path.parent.name for path in logs] + masked(done.stdout, data))
    for topic, (theirs, ours) in found.items():
        assert len(ours) > 3
        if topic == "__consumer_offsets" and release == "3.9":
            theirs, ours = in_any_order(theirs), in_any_order(ours)
        assert ours == theirs
