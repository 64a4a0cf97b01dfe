import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from eosctl.sandbox.process import identity
from eosctl.sandbox.process.identity import is_same_process, send_signal, start_ticks, wait_for_exit

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]


@pytest.fixture(autouse=True, params=["pidfds", "psutil"])
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test as on Linux, and as on systems without /proc and pidfds."""
    if request.param == "psutil":
        monkeypatch.setattr(identity, "HAS_PIDFDS", False)
        monkeypatch.delattr(os, "pidfd_open")
        monkeypatch.delattr(signal, "pidfd_send_signal")
    assert (request.param == "pidfds") == identity.HAS_PIDFDS


@contextmanager
def sleeping_process() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(SLEEPER) as process:
        try:
            yield process
        finally:
            process.kill()  # or a failed assertion would wait for it for ever


@pytest.fixture
def many_open_files() -> Iterator[None]:
    """Take every descriptor that select() can wait for."""
    taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(1024)]
    yield
    for descriptor in taken:
        os.close(descriptor)


def test_a_process_is_known_by_id_and_start_time():
    ticks = start_ticks(os.getpid())
    assert ticks is not None
    assert is_same_process(os.getpid(), ticks)
    assert not is_same_process(os.getpid(), ticks + 1)


def test_a_signal_reaches_only_the_process_that_was_meant():
    with sleeping_process() as process:
        ticks = start_ticks(process.pid)
        assert ticks is not None
        send_signal(process.pid, ticks + 1, signal.SIGKILL)
        assert process.poll() is None
        assert not wait_for_exit(process.pid, ticks, 0.01)
        send_signal(process.pid, ticks, signal.SIGKILL)
        assert wait_for_exit(process.pid, ticks, 10)
        assert process.wait() == -signal.SIGKILL
    assert start_ticks(process.pid) is None
    assert wait_for_exit(process.pid, ticks, 0)
    send_signal(process.pid, ticks, signal.SIGKILL)


@pytest.mark.usefixtures("many_open_files")
def test_the_end_of_a_process_is_seen_among_many_open_files():
    with sleeping_process() as process:
        ticks = start_ticks(process.pid)
        assert ticks is not None
        assert not wait_for_exit(process.pid, ticks, 0.01)
        process.kill()
        assert wait_for_exit(process.pid, ticks, 60)
