"""The pytest plugin: the fixture ``eos_cluster`` and the marker that shapes it.

It is loaded with every pytest run of an environment that has eosctl, so it imports the sandbox only when a test asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from eosctl.testing.sandbox_thread import SandboxThread

MARKER = (
    "eos_cluster(brokers=1, emulate='4.3', transaction_version=None, config=None, fast=True, sasl=(), tls=False, "
    "users=('admin',)): "
    "shape of the cluster that the fixture of the same name starts"
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def eos_cluster(request: pytest.FixtureRequest) -> Iterator[SandboxThread]:
    """Run a Kafka cluster for one test, fresh and removed afterwards; ``eos_cluster.bootstrap`` is its address.

    ``@pytest.mark.eos_cluster(brokers=3, transaction_version=1)`` shapes it; of several markers the nearest wins.
    """
    from eosctl.testing.sandbox_thread import SandboxThread

    marker = request.node.get_closest_marker("eos_cluster")
    if marker is not None and marker.args:
        raise pytest.UsageError("the marker eos_cluster takes its options by name, e.g. eos_cluster(brokers=3)")
    with SandboxThread(**(marker.kwargs if marker is not None else {})) as cluster:
        yield cluster
