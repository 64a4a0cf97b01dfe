"""What holds for every test: loopback only, no deadline for examples, and no silent skips where tools are required."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# A busy machine makes single examples slow; that says nothing about the code.
settings.register_profile("eosctl", deadline=None)
settings.register_profile("prove", deadline=None, max_examples=10_000)
# A gate answers the same for the same commit; new examples are for developers and for `make prove`.
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile(os.environ.get("EOSCTL_HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "eosctl"))

# A shell that starts the tests in the background lets them ignore SIGINT, and programs that they start inherit that;
# tests that interrupt a program need the ordinary disposition.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Iterator[None]:
    """Refuse every connection of this process that would leave the machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise AssertionError(f"a test tried to connect to {address}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the run when a test was skipped although EOSCTL_REQUIRE says that its tools are there."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not os.environ.get("EOSCTL_REQUIRE"):
        return
    skipped = len(reporter.stats.get("skipped", ()))
    if skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line(f"EOSCTL_REQUIRE is set: {skipped} skipped tests fail the run", red=True)
