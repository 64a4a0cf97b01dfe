"""Runbooks on clusters with faults that were really made.

Clusters have Kafka's own timers (``fast=False``): on a busy machine quick fencing can move a leader, and an abort is
then rightly refused.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from eosctl.client import Client, connect
from eosctl.model.client_config import ClientConfig
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.commands.conftest import Done, eosctl
from tests.lab.scenarios.stage.stage import Stage

VERIFIED, NO_ACTION, MANUAL, BLOCKED, FAILED = 0, 5, 6, 7, 8


@pytest.fixture(autouse=True)
def own_home(own_home: Path) -> Path:
    """Keep the user's files out of all of these tests."""
    return own_home


def play(bootstrap: str, scenario: Callable[..., Awaitable[Any]], **options: Any) -> Any:
    """Play a scenario with its options and return its report."""
    stage = Stage(ClientConfig(parse_endpoints(bootstrap, "test")), system_now_ms, random.Random(7))

    async def run() -> Any:
        return await scenario(stage, **options)

    return asyncio.run(run())


def with_client(bootstrap: str, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """Do something with a client of one's own."""

    async def run() -> Any:
        async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
            return await work(client)

    return asyncio.run(run())


def run(bootstrap: str, book: str, *options: str) -> Done:
    """Run a runbook through the program."""
    return eosctl("runbook", "run", book, "-b", bootstrap, "--second-look-after", "100ms", "-o", "json", *options)


def item_of(done: Done) -> Any:
    assert "items" in done.json, done.out
    (item,) = done.json["items"]
    return item
