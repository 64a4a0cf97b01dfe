"""Logs of every shipper in a topic, for tests that read them on Spark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eosctl.testing import SandboxThread
from tests.logs.shipping import shipped_by_all


@pytest.fixture(scope="module")
def shipped_logs() -> Iterator[SandboxThread]:
    """Run a sandbox with a topic that every shipper has sent logs to, behind a password."""
    with shipped_by_all() as running:
        yield running
