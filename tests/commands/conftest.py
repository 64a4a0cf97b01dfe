"""Running the program in process, against files and against an embedded cluster."""

from __future__ import annotations

import asyncio
import io
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from eosctl.cli import main
from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from tests.commands.open_transactions import unhurried
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.lab.scenarios.stage.stage import Stage
from tests.lab.scenarios.stage.zombie import run_zombie
from tests.render.unhappy_cluster import unhappy_cluster


class Done(NamedTuple):
    """What one run of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[list[str]]:
        return [line.split("\t") for line in self.out.splitlines()]


class Captured(io.StringIO):
    """A standard stream that is not a terminal."""


def eosctl(*arguments: str | Path, stdin: str = "") -> Done:
    """Run the program as a shell would, in this process."""
    out, err = Captured(), Captured()
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main([str(argument) for argument in arguments])
    finally:
        sys.stdin = before
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(autouse=True)
def own_home(own_home: Path) -> Path:
    """Keep the user's files out of all of these tests."""
    return own_home


@pytest.fixture
def snapshot_file(tmp_path: Path) -> Path:
    path = tmp_path / "unhappy.json"
    save_snapshot(unhappy_cluster(), path)
    return path


def run_scenario(bootstrap: str, scenario: Callable[[Stage], Awaitable[Any]]) -> Any:
    """Play a scenario on a cluster and return its report."""
    config = ClientConfig(parse_endpoints(bootstrap, "test"))
    stage = Stage(config, lambda: time.time_ns() // 1_000_000, random.Random(7))

    async def run() -> Any:
        return await scenario(stage)

    return asyncio.run(run())


class Broken(NamedTuple):
    """A cluster with both faults, and what the scenarios said they did."""

    cluster: SandboxThread
    zombie: Any
    hanging: Any


@pytest.fixture
def broken() -> Iterator[Broken]:
    """Three brokers with a zombie and a hanging transaction."""
    with SandboxThread(
        brokers=3,
        fast=False,  # quick fencing could move a leader on a busy machine, and an abort would then rightly be refused
        config={"transaction.partition.verification.enable": "false"},
    ) as cluster:
        yield Broken(cluster, run_scenario(cluster.bootstrap, run_zombie), run_scenario(cluster.bootstrap, run_hanging))


@pytest.fixture
def three_brokers() -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, fast=False) as cluster:
        yield cluster


@pytest.fixture
def one_broker() -> Iterator[SandboxThread]:
    with unhurried() as cluster:
        yield cluster
