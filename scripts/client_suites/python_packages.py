"""Suites in Python: kafka-python and aiokafka, as their fetched sources install them."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.client_suites.clusters import ClusterPlan, command_down, command_up, run_limited
from scripts.client_suites.outcomes import Outcomes, chosen, completed, read_junit
from scripts.client_suites.suite import Place

STAND_INS: Final = Path(__file__).with_name("stand_ins")
PACKAGES: Final = ("pytest==8.4.2", "pytest-asyncio==1.5.0", "pytest-mock==3.17.0", "pytest-timeout==2.4.0")
TEST_LIMIT_S: Final = 120
AUTHORIZED: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
}


@dataclass(frozen=True)
class KafkaPythonSuite:
    """The integration tests of kafka-python."""

    cluster: ClusterPlan
    name: str = "kafka-python"
    repository: str = "dpkp/kafka-python"

    def build(self, place: Place) -> None:
        """Install the client from its source."""
        install(place.work, f"{place.source}[crc32c,lz4,snappy,zstd]")

    def run(self, place: Place, tests: Sequence[str] | None) -> Outcomes:
        """Run the tests."""
        environment = {
            "KAFKA_URI": f"kafka://{self.cluster.bootstrap}",
            "KAFKA_VERSION": "4.3",
            "KAFKA_ROOT": str(place.work),
        }
        return run_pytest(self.name, place, place.source, ("test/integration",), environment, tests)


@dataclass(frozen=True)
class AiokafkaSuite:
    """The tests of aiokafka; they start their cluster as a container, for which there is a stand-in.

    The tests of Kerberos, TLS, and SASL need settings of that container and fail with any cluster.
    """

    plan: ClusterPlan
    name: str = "aiokafka"
    repository: str = "aio-libs/aiokafka"
    cluster: None = None

    def build(self, place: Place) -> None:
        """Install the client from its source."""
        install(place.work, f"{place.source}[lz4,snappy,zstd]")
        # Outside of the sources, so that the installed package is tested.
        shutil.copytree(place.source / "tests", place.work / "suite" / "tests", dirs_exist_ok=True)
        shutil.copy(place.source / "pyproject.toml", place.work / "suite")
        (place.work / "suite" / "tests" / "ssl_cert").mkdir(exist_ok=True)
        tools = place.work / "tools"
        tools.mkdir(exist_ok=True)
        ktutil = tools / "ktutil"
        ktutil.write_text("#!/bin/sh\nexit 0\n", "utf-8")
        ktutil.chmod(0o755)

    def run(self, place: Place, tests: Sequence[str] | None) -> Outcomes:
        """Run the tests; their container is a cluster of the current engine."""
        environment = {
            "PYTHONPATH": str(STAND_INS),
            "PATH": f"{place.work / 'tools'}{os.pathsep}{os.environ['PATH']}",
            "EOSCTL_UP": "\n".join(command_up(self.plan, place.engine)),
            "EOSCTL_DOWN": "\n".join(command_down(self.plan)),
            "EOSCTL_PROJECT": str(Path(__file__).parents[2]),
            "XDG_STATE_HOME": str(place.work / "state"),
        }
        arguments = ("tests", "--docker-image", "kafka:2.13_2.8.1")
        return run_pytest(self.name, place, place.work / "suite", arguments, environment, tests)


def install(work: Path, package: str) -> None:
    """Create an environment in `work` with a client and pytest."""
    if interpreter(work).exists():
        return
    venv.create(work / "environment", with_pip=True)
    command = (interpreter(work), "-m", "pip", "install", "-q", "--disable-pip-version-check", package, *PACKAGES)
    subprocess.run(command, check=True)


def interpreter(work: Path) -> Path:
    """Return the interpreter of the environment."""
    return work / "environment" / "bin" / "python"


def run_pytest(
    name: str,
    place: Place,
    directory: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    tests: Sequence[str] | None,
    limit_s: int = 2400,
) -> Outcomes:
    """Run pytest; tests are named by their class and name in its JUnit report."""
    report = place.work / "report.xml"
    report.unlink(missing_ok=True)
    options = ("-q", "-rfE", "--tb=short", "-p", "no:cacheprovider", f"--timeout={TEST_LIMIT_S}")
    named = () if tests is None else ("-k", " or ".join(sorted({function_of(test) for test in tests})))
    command = (interpreter(place.work), "-m", "pytest", *options, f"--junit-xml={report}", *arguments, *named)
    run_limited(command, directory, environment, limit_s, place.log(name))
    outcomes = read_junit(report)
    return outcomes if tests is None else completed(tests, chosen(outcomes, tests))


def function_of(test: str) -> str:
    """Return the name of a test's function.

    >>> function_of("test.integration.test_a.TestA::test_b[x-1]")
    'test_b'
    """
    return test.rpartition("::")[2].partition("[")[0]


KAFKA_PYTHON: Final = KafkaPythonSuite(ClusterPlan(9792, settings={"num.partitions": "4", **AUTHORIZED}))
AIOKAFKA: Final = AiokafkaSuite(ClusterPlan(9892, settings={"num.partitions": "2"}))
