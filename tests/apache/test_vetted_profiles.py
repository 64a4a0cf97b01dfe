"""Each vetted configuration in the client that it is for, on brokers with the vetted settings, real ones and ours.

What the clients wrote is read by the vetted consumer: every record, and none twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.vetted_profiles import LIBRDKAFKA, MODES, Load, compile_program, run_profile
from eosctl.lab.engine import MissingTool
from eosctl.testing import SandboxThread
from tests.apache.conftest import running
from tests.settings.filled_profiles import filled

pytestmark = pytest.mark.long

BROKERS = "broker-eos-production"
POISON_EVERY = 100
LOAD = Load(rate=20, seconds=2)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    try:
        return compile_program(tmp_path_factory.mktemp("classes"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")


@pytest.fixture(scope="module", params=["apache", "sandbox"])
def bootstrap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run three brokers with the vetted settings."""
    if request.param == "apache":
        with running("4.3.1", tmp_path_factory.mktemp("brokers"), filled(BROKERS), node_count=3) as engine:
            yield engine.bootstrap
    else:
        with SandboxThread(brokers=3, config=filled(BROKERS), fast=False) as sandbox:
            yield sandbox.bootstrap


@pytest.mark.parametrize("name", [*MODES, LIBRDKAFKA])
def test_a_profile_delivers_every_record_once(name: str, bootstrap: str, program: list[str], tmp_path: Path) -> None:
    run = run_profile(name, program, bootstrap, tmp_path, LOAD)
    assert (run.seen, run.twice) == (run.given, 0)
    assert run.given > LOAD.rate * LOAD.seconds
    # Of those that fail, each is set aside by the one profile that does so.
    assert run.dead == (run.given // POISON_EVERY if name == "dlq-retry-topology" else 0)
