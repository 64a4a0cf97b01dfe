"""What holds for every test: loopback only, no deadline for examples, no files left behind, and no silent skips."""

from __future__ import annotations

import gc
import ipaddress
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import uuid
from bisect import bisect_right
from collections.abc import Generator, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import psutil
import pytest
from hypothesis import settings

# A busy machine makes single examples slow; that says nothing about the code.
settings.register_profile("eosctl", deadline=None)
settings.register_profile("prove", deadline=None, max_examples=10_000)
# A gate answers the same for the same commit; new examples are for developers and for `make prove`.
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile(os.environ.get("EOSCTL_HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "eosctl"))

_LIST: Final = Path(__file__).parent / "slow.txt"
#: Written by `scripts.slow_tests`; tests that start pytest in a folder of their own have no list.
SLOW: Final = frozenset(_LIST.read_text("utf-8").splitlines() if _LIST.exists() else ())

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


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep profiles, sandboxes, journals, locks, and audit files of the user out of a test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("EOSCTL_BOOTSTRAP_SERVERS", "EOSCTL_COMMAND_CONFIG", "EOSCTL_PROFILE", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def own_sandboxes(own_home: Path) -> Iterator[None]:
    """Stop what a test leaves running in a home of its own."""
    from eosctl.sandbox.process import manage

    yield
    for found in manage.find_all():
        manage.stop(found.sandbox)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


#: Ends what a run leaves, however the run ends: brokers have sessions of their own, which no signal to pytest reaches.
#: Only a run that ends in order keeps its temporary files or removes them itself.
_REAPER: Final = """
import os, shutil, sys, time

marker, scratch = sys.argv[1].encode(), sys.argv[2]
in_order = sys.stdin.buffer.read()


def is_left(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return marker in file.read().split(bytes(1))
    except OSError:
        return False


while left := [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_left(pid)]:
    for pid in left:
        try:
            os.kill(pid, 9)
        except OSError:
            pass
    time.sleep(0.05)
if scratch and not in_order:
    shutil.rmtree(scratch, ignore_errors=True)
"""
_RUN: Final = "EOSCTL_TEST_RUN"
_SCRATCH: Final = pytest.StashKey[Path]()
_REAPING: Final = pytest.StashKey[int]()
_FAILED: Final = pytest.StashKey[bool]()
#: How a reason to skip names the package that is missing: "kcat is missing (Debian: kcat)".
_PACKAGE: Final = re.compile(r"\(Debian: ([\w.-]+)\)")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run take a part of the test modules."""
    parser.addoption("--share", default="1/1", metavar="K/N", help="run one of N shares of the test modules")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect no garbage while modules are imported and tests are made: all of that remains."""
    worker = getattr(session.config, "workerinput", None)
    root = Path(__file__).parent
    if worker is not None and [Path(one).absolute() for one in session.config.args] == [root]:
        session.config.args = shares(root, int(worker["workerid"].removeprefix("gw")), worker["workercount"])
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def shares(root: Path, worker: int, count: int) -> list[str]:
    """Return the parts of a folder of tests, from another one on for each worker.

    The first import of a test module compiles it, with its assertions rewritten, and workers that go through the same
    modules at the same time would all do so.
    """
    sizes = {str(path): size for path in sorted(root.iterdir()) if (size := _size(path))}
    ends = list(accumulate(sizes.values()))
    first = bisect_right(ends, ends[-1] * worker // count)
    parts = list(sizes)
    return parts[first:] + parts[:first]


def _size(path: Path) -> int:
    """Return the number of test modules in a folder, 1 for a test module, 0 for another file."""
    return sum(1 for _ in path.rglob("test_*.py")) if path.is_dir() else path.match("test_*.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give every worker the same order, wherever it began, mark the slow tests, and leave out those of other shares."""
    for item in items:
        if item.nodeid in SLOW and item.get_closest_marker("quick") is None:
            item.add_marker(pytest.mark.slow)
    share, of = map(int, config.getoption("share").split("/"))
    chosen, others = [], []
    for item in items:
        (chosen if in_share(item.nodeid, share, of) else others).append(item)
    if others:
        config.hook.pytest_deselected(items=others)
    items[:] = sorted(chosen, key=lambda item: item.nodeid.partition("::")[0])


def in_share(name: str, share: int, of: int) -> bool:
    """Return whether a test belongs to a share, from 1 on: the tests of a module stay together, for their fixtures."""
    return crc32(name.partition("::")[0].encode()) % of == share - 1


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exempt the collected tests from garbage collection, and collect less often: a full pass visits every object."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def fast_folder(memory: Path = Path("/dev/shm"), *, wanted: int = 8 << 30) -> Path | None:
    """Return a folder in memory where nothing waits for a disk, None where it or the free memory is below 8 GiB."""
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK):
        return None
    return memory if min(shutil.disk_usage(memory).free, psutil.virtual_memory().available) >= wanted else None


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give the run one directory for all temporary files, since killed programs leave theirs, and a reaper."""
    if hasattr(config, "workerinput"):
        return
    scratch = _make_scratch(config)
    if Path("/proc/self/environ").exists():
        config.stash[_REAPING] = start_reaper(scratch)


def start_reaper(scratch: Path | None) -> int:
    """Start the process that ends marked ones after this one; return the descriptor to which to write before an end."""
    reading, writing = os.pipe()
    marker = uuid.uuid4().hex
    command = [sys.executable, "-I", "-S", "-c", _REAPER, f"{_RUN}={marker}", str(scratch or "")]
    unmarked = {name: value for name, value in os.environ.items() if name != _RUN}
    silent = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_WRONLY, 0) for descriptor in (1, 2)]
    actions = [(os.POSIX_SPAWN_DUP2, reading, 0), *silent]
    os.posix_spawn(command[0], command, unmarked, file_actions=actions, setsid=True)
    os.close(reading)
    os.environ[_RUN] = marker
    return writing


def _make_scratch(config: pytest.Config) -> Path | None:
    if config.option.basetemp is not None:
        return None
    scratch = Path(tempfile.mkdtemp(prefix="eosctl-tests-", dir=fast_folder()))
    config.stash[_SCRATCH] = scratch
    # A short name: the paths of Unix sockets are limited.
    config.option.basetemp = str(scratch / "t")
    os.environ["TMPDIR"] = str(scratch)
    tempfile.tempdir = None
    return scratch


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the temporary files, unless a failed test may be explained by its own."""
    if (reaping := config.stash.get(_REAPING, None)) is not None:
        os.write(reaping, b".")
    scratch = config.stash.get(_SCRATCH, None)
    if scratch is not None and not config.stash.get(_FAILED, False):
        shutil.rmtree(scratch, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """List the packages that skipped tests need, and where the files of failed tests are."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    packages = [found[1] for reason in reasons if (found := _PACKAGE.search(reason))]
    if packages:
        terminalreporter.write_line(
            f"{len(packages)} tests were skipped because optional packages are missing. "
            f"To run them, too: apt-get install {' '.join(sorted(set(packages)))}"
        )
    if config.stash.get(_FAILED, False) and (scratch := config.stash.get(_SCRATCH, None)) is not None:
        terminalreporter.write_line(f"Temporary files of the failed tests: {scratch}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the run when a test was skipped although EOSCTL_REQUIRE says that its tools are there."""
    session.config.stash[_FAILED] = session.testsfailed > 0
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not os.environ.get("EOSCTL_REQUIRE"):
        return
    skipped = len(reporter.stats.get("skipped", ()))
    if skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line(f"EOSCTL_REQUIRE is set: {skipped} skipped tests fail the run", red=True)
