"""What sandbox groups are held to when they migrate is still what a real broker does."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
from pathlib import Path

import pytest

from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.engine import MissingTool
from tests.sandbox.group.migration_scenarios import SETTINGS, play_all
from tests.sandbox.group.test_migration import RECORDED


def test_a_real_broker_answers_and_writes_records_as_recorded(tmp_path: Path) -> None:
    engine = ApacheNodes(ApacheConfig("4.3.1", settings=SETTINGS), tmp_path / "kafka", random.Random())
    try:
        try:
            asyncio.run(engine.up())
        except MissingTool as missing:
            pytest.skip(f"{missing.tool} is missing: {missing.what}")
        played = play_all(engine.bootstrap)
    finally:
        asyncio.run(engine.down())
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    assert played.keys() == recorded.keys()
    for name, lines in recorded.items():
        assert played[name] == lines
