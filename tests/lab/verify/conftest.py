"""A cluster to verify."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eosctl.testing import SandboxThread


@pytest.fixture(scope="module")
def kafka() -> Iterator[SandboxThread]:
    """A cluster of this process, which the program did not start: a foreign one."""
    with SandboxThread(brokers=1) as cluster:
        yield cluster
