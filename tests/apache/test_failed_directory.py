"""A real broker with two log directories: one fills up and fails, and the broker continues with the other."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.checks.operations.disk_nearly_full import disk_nearly_full
from eosctl.checks.operations.log_directory_failed import log_directory_failed
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.engine import MissingTool
from tests.apache.conftest import SETTINGS
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")
PATIENCE_S = 60
TOPIC = "orders"
PARTITIONS = 8


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Path]:
    """A small file system in memory."""
    place = tmp_path / "volume"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted: {mounted.stderr.decode()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(volume: Path, but: int) -> None:
    """Leave so many bytes of a volume free."""
    space = os.statvfs(volume)
    (volume / "filler").write_bytes(bytes(space.f_bavail * space.f_frsize - but))


def test_a_full_directory_is_the_cause_of_what_it_took(tmp_path: Path, volume: Path) -> None:
    own = {"log.dirs": f"{tmp_path}/kafka/node-1/data,{volume}", "log.segment.bytes": "1048576"}
    engine = ApacheNodes(ApacheConfig("4.3.1", settings=SETTINGS | own), tmp_path / "kafka", random.Random())
    try:
        try:
            asyncio.run(engine.up())
        except MissingTool as missing:
            pytest.skip(f"{missing.tool} is missing: {missing.what}")
        admin = AdminClient({"bootstrap.servers": engine.bootstrap})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(PATIENCE_S)
        fill(volume, 2 << 20)
        doctor = ("doctor", "-b", engine.bootstrap, "-o", "json", "--exit-zero")
        nearly = [item for item in eosctl(*doctor).json["items"] if item["check_id"] == disk_nearly_full.id]
        assert str(volume) in {one["facts"]["path"] for one in nearly}

        producer = Producer({"bootstrap.servers": engine.bootstrap, "message.timeout.ms": 5000, "log_level": 0})
        while not (failed := [i for i in eosctl(*doctor).json["items"] if i["check_id"] == log_directory_failed.id]):
            for number in range(2000):
                producer.produce(TOPIC, os.urandom(4000), partition=number % PARTITIONS)
            producer.flush(PATIENCE_S)
        assert [one["facts"]["path"] for one in failed] == [str(volume)]
        shown = " ".join(eosctl("doctor", "-b", engine.bootstrap, "--exit-zero").out.split())
    finally:
        asyncio.run(engine.down())
    assert "symptoms critical EOS-TOP-001" in shown
    assert "Start a broker that holds" not in shown
