"""The pytest plugin: the fixture `eos_cluster` and its marker.

It is loaded with every pytest run of an environment with eosctl, so it imports the sandbox only on use.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from eosctl.testing.sandbox_thread import SandboxThread

MARKER = (
    "eos_cluster(brokers=1, emulate='4.4', transaction_version=None, config=None, fast=True, sasl=(), tls=False, "
    "users=('admin',)): "
    "shape of the cluster that the fixture of the same name starts"
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and exclude the modules of eosctl from pytest's rewriting."""
    config.addinivalue_line("markers", MARKER)
    _import_as_they_are()


def _import_as_they_are() -> None:
    """Import the modules of eosctl without pytest's rewriting of assertions.

    Pytest rewrites every package of a distribution with a plugin. Rewriting parses each module, which takes seconds,
    and CPython's parser of syntax trees is not safe for concurrent threads (gh-106905: a SystemError about its
    recursion depth), while a cluster in a thread and its test both import modules.
    """
    for finder in sys.meta_path:
        marked = getattr(finder, "_must_rewrite", None)
        if isinstance(marked, set) and "eosctl" in marked:
            marked.discard("eosctl")
            getattr(finder, "_marked_for_rewrite_cache", {}).clear()


@pytest.fixture
def eos_cluster(request: pytest.FixtureRequest) -> Iterator[SandboxThread]:
    """Run a Kafka cluster for one test, deleted afterwards; `eos_cluster.bootstrap` is its address.

    `@pytest.mark.eos_cluster(brokers=3, transaction_version=1)` configures it; the nearest of several markers is used.
    """
    from eosctl.testing.sandbox_thread import SandboxThread

    marker = request.node.get_closest_marker("eos_cluster")
    if marker is not None and marker.args:
        raise pytest.UsageError("the marker eos_cluster takes its options by name, e.g. eos_cluster(brokers=3)")
    with SandboxThread(**(marker.kwargs if marker is not None else {})) as cluster:
        yield cluster
