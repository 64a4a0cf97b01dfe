"""Run kafka-python's and aiokafka's own tests of transactions and groups against a sandbox.

    python -m scripts.client_suites

kafka-python's tests come from its source archive; aiokafka's from a clone of its repository (EOSCTL_AIOKAFKA_REPOSITORY
overrides the address). Both clients are installed into a temporary environment. The exit status is 0 when the required
number of tests pass: 50 of kafka-python's, without those that need its own TLS broker or a broker with id 0, and all 20
of aiokafka's transaction tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from eosctl.testing import SandboxThread

ROOT = Path(__file__).parents[2]
STAND_INS = Path(__file__).with_name("stand_ins")
KAFKA_PYTHON = "3.0.12"
AIOKAFKA = "0.14.0"
AIOKAFKA_REPOSITORY = os.environ.get("EOSCTL_AIOKAFKA_REPOSITORY", "https://github.com/aio-libs/aiokafka")
PACKAGES = (
    f"kafka-python[crc32c,lz4,snappy,zstd]=={KAFKA_PYTHON}",
    f"aiokafka[lz4,snappy,zstd]=={AIOKAFKA}",
    *("pytest==8.4.2", "pytest-asyncio==1.5.0", "pytest-mock==3.17.0", "pytest-timeout==2.4.0"),
)
TEST_LIMIT_S = 120
SETTINGS = {
    "num.partitions": "4",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
}


class Suite(NamedTuple):
    """The required results of a client's tests."""

    name: str
    required: int  # Number of tests that must pass.


def main() -> int:
    """Run both suites; return 0 if each reaches its required number."""
    with tempfile.TemporaryDirectory(prefix="client-suites-") as folder:
        work = Path(folder)
        python = install(work / "environment")
        results = [
            is_reached(Suite("kafka-python", 50), run_kafka_python(python, work)),
            is_reached(Suite("aiokafka", 20), run_aiokafka(python, work)),
        ]
    return 0 if all(results) else 1


def install(directory: Path) -> Path:
    """Create an environment with both clients, and return its interpreter."""
    venv.create(directory, with_pip=True)
    python = directory / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES], check=True)
    return python


def run_kafka_python(python: Path, work: Path) -> Counter[str]:
    """Run the tests of the source archive against a sandbox."""
    wanted = f"kafka-python=={KAFKA_PYTHON}"
    download = (python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", work, wanted)
    subprocess.run(download, check=True)
    # tarfile has filters only from Python 3.11.4 on.
    subprocess.run(["tar", "-xf", work / f"kafka_python-{KAFKA_PYTHON}.tar.gz", "-C", work], check=True)
    directory = work / f"kafka_python-{KAFKA_PYTHON}"
    (directory / "test" / "__init__.py").touch()
    shutil.copy(STAND_INS / "service.py", directory / "test")
    with SandboxThread(brokers=1, emulate="4.3", config=SETTINGS) as sandbox:
        environment = {
            "PYTHONPATH": str(directory),
            "KAFKA_URI": f"kafka://{sandbox.bootstrap}",
            "KAFKA_VERSION": "4.3",
            "KAFKA_ROOT": str(work),
        }
        return run_tests(python, directory, ["test/integration"], environment)


def run_aiokafka(python: Path, work: Path) -> Counter[str]:
    """Run the transaction tests of the repository with a sandbox as their container and without Kerberos."""
    clone = work / "aiokafka-repository"
    git = ("git", "-c", "advice.detachedHead=false", "clone", "-q", "--depth", "1", "--branch", f"v{AIOKAFKA}")
    subprocess.run([*git, AIOKAFKA_REPOSITORY, clone], check=True)
    directory = work / "aiokafka-tests"  # Outside of the sources, so that the installed package is tested.
    shutil.copytree(clone / "tests", directory / "tests")
    shutil.copy(clone / "pyproject.toml", directory)
    (directory / "tests" / "ssl_cert").mkdir(exist_ok=True)
    tools = work / "tools"
    tools.mkdir()
    ktutil = tools / "ktutil"
    ktutil.write_text("#!/bin/sh\nexit 0\n")
    ktutil.chmod(0o755)
    environment = {
        "PYTHONPATH": str(STAND_INS),
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "EOSCTL_PYTHON": sys.executable,
        "XDG_STATE_HOME": str(work / "state"),
    }
    modules = ["tests/test_transactional_producer.py", "tests/test_transactional_consumer.py"]
    return run_tests(python, directory, [*modules, "--docker-image", "kafka:2.13_2.8.1"], environment)


def run_tests(python: Path, directory: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Counter[str]:
    """Run pytest and count the results."""
    report = directory / "report.xml"
    options = ("-q", "-rfE", "--tb=line", "-p", "no:cacheprovider", f"--timeout={TEST_LIMIT_S}")
    command = (str(python), "-m", "pytest", *options, f"--junit-xml={report}", *arguments)
    subprocess.run(command, cwd=directory, env=os.environ | dict(environment), check=False)
    if not report.exists():
        return Counter(failed=1)
    return Counter(outcome(case) for case in ET.parse(report).iter("testcase"))


def outcome(case: ET.Element) -> str:
    """Return the result of a test."""
    for tag, name in (("failure", "failed"), ("error", "error"), ("skipped", "skipped")):
        if case.find(tag) is not None:
            return name
    return "passed"


def is_reached(suite: Suite, counts: Counter[str]) -> bool:
    """Print the results of a suite; return whether enough tests passed."""
    counted = ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
    reached = counts["passed"] >= suite.required
    print(f"{suite.name}: {counted}; asked for: {suite.required} passed: {'yes' if reached else 'NO'}", flush=True)
    return reached


if __name__ == "__main__":
    sys.exit(main())
