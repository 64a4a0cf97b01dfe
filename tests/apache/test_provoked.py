"""Mistakes that were really made on Apache Kafka are found by the checks that name them."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest

from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.engine import MissingTool
from tests.checks.mistakes import FOUND, SETTINGS, make_mistakes
from tests.commands.conftest import eosctl


def test_mistakes_are_found(tmp_path: Path) -> None:
    engine = ApacheNodes(ApacheConfig("4.3.1", settings=SETTINGS), tmp_path, random.Random())
    try:
        try:
            asyncio.run(engine.up())
        except MissingTool as missing:
            pytest.skip(f"{missing.tool} is missing: {missing.what}")
        make_mistakes(engine.bootstrap)
        done = eosctl("doctor", "-b", engine.bootstrap, "-o", "json", "--exit-zero")
    finally:
        asyncio.run(engine.down())
    assert done.code == 0, done.err
    assert {item["check_id"] for item in json.loads(done.out)["items"]} >= FOUND
