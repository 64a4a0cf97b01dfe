"""Suites of native programs: librdkafka (with both group protocols) and rskafka."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scripts.client_suites.clusters import ClusterPlan, run_limited
from scripts.client_suites.kafka_scripts import write_kafka_scripts
from scripts.client_suites.outcomes import Outcome, Outcomes, chosen, completed, read_cargo, read_librdkafka
from scripts.client_suites.suite import Place

#: Entries of librdkafka's table of tests: the number, and the flags. Local and manual tests use no cluster.
_ENTRY: Final = re.compile(r"^\s+_TEST\((?P<number>\d{4})_(?P<name>\w+),(?P<flags>[^,)]*)", re.MULTILINE)
_NO_CLUSTER: Final = ("TEST_F_LOCAL", "TEST_F_MANUAL")


@dataclass(frozen=True)
class LibrdkafkaSuite:
    """The tests of librdkafka that use a cluster, each in a process of its own, in their quick form.

    Attributes:
        protocol: The group protocol, `classic` or `consumer`.
        test_limit_s: Maximum time of a test.
    """

    protocol: str
    cluster: ClusterPlan
    test_limit_s: int = 240
    repository: str = "confluentinc/librdkafka"

    @property
    def name(self) -> str:
        """The name of the client and its group protocol."""
        return f"librdkafka-{self.protocol}"

    def build(self, place: Place) -> None:
        """Build the library and its test runner, and the scripts of Kafka that the tests call."""
        write_kafka_scripts(place.work / "kafka")
        if (place.source / "tests" / "test-runner").exists():
            return
        for command in (
            ["./configure", "--disable-gssapi", "--disable-lz4-ext"],
            ["make", "-j2", "libs"],
            ["make", "-C", "tests", "-j2", "test-runner"],
        ):
            subprocess.run(command, cwd=place.source, check=True, stdout=subprocess.DEVNULL)

    def run(self, place: Place, tests: Sequence[str] | None) -> Outcomes:
        """Run the tests one at a time."""
        wanted = list_librdkafka((place.source / "tests" / "test.c").read_text("utf-8")) if tests is None else tests
        outcomes: dict[str, Outcome] = {}
        for number in wanted:
            outcomes |= self._run_test(place, number)
        return outcomes

    def _run_test(self, place: Place, number: str) -> Outcomes:
        directory = place.source / "tests"
        report, settings = place.work / "report.json", place.work / "test.conf"
        report.unlink(missing_ok=True)
        settings.write_text(f"bootstrap.servers={self.cluster.bootstrap}\ntest.timeout.multiplier=2\n", "utf-8")
        libraries = f"{place.source}/src{os.pathsep}{place.source}/src-cpp"
        environment = {
            "TESTS": number,
            "TEST_REPORT": str(report),
            "RDKAFKA_TEST_CONF": str(settings),
            "TEST_KAFKA_VERSION": "4.3.1",
            "TEST_CONSUMER_GROUP_PROTOCOL": self.protocol,
            "KAFKA_PATH": str(place.work / "kafka"),
            "BROKERS": self.cluster.bootstrap,
            "LD_LIBRARY_PATH": libraries,
        }
        command = ["./test-runner", "-Q", "-p1"]
        run_limited(command, directory, environment, self.test_limit_s, place.log(number))
        return completed([number], {name: one for name, one in read_librdkafka(report).items() if name == number})


def list_librdkafka(source: str) -> tuple[str, ...]:
    """Return the numbers of the tests that use a cluster, from the text of `test.c`.

    >>> list_librdkafka("    _TEST(0001_multiobj, 0),\\n    _TEST(0004_conf, TEST_F_LOCAL),\\n")
    ('0001',)
    """
    entries = [entry for entry in _ENTRY.finditer(source) if int(entry["number"]) < 1000]
    return tuple(
        dict.fromkeys(entry["number"] for entry in entries if not any(flag in entry["flags"] for flag in _NO_CLUSTER))
    )


@dataclass(frozen=True)
class RskafkaSuite:
    """The integration tests of rskafka."""

    cluster: ClusterPlan
    name: str = "rskafka"
    repository: str = "influxdata/rskafka"
    limit_s: int = 600

    def build(self, place: Place) -> None:
        """Compile the tests with the installed toolchain."""
        (place.source / "rust-toolchain.toml").unlink(missing_ok=True)
        subprocess.run([*self._cargo(), "--no-run"], cwd=place.source, env=self._environment(place), check=True)

    def run(self, place: Place, tests: Sequence[str] | None) -> Outcomes:
        """Run the tests in one process of each file."""
        command = [*self._cargo(), "--no-fail-fast", "--", *(tests or ()), *(("--exact",) if tests else ())]
        output = run_limited(command, place.source, self._environment(place), self.limit_s, place.log(self.name))
        outcomes = read_cargo(output)
        return outcomes if tests is None else completed(tests, chosen(outcomes, tests))

    def _environment(self, place: Place) -> dict[str, str]:
        own = {
            "CARGO_TARGET_DIR": str(place.work / "target"),
            "TEST_INTEGRATION": "1",
            "TEST_BROKER_IMPL": "kafka",
            "KAFKA_CONNECT": self.cluster.bootstrap,
        }
        return os.environ | own

    @staticmethod
    def _cargo() -> tuple[str, ...]:
        return ("cargo", "test", "--features", "full", "--tests")


#: Those of the clusters for which the tests are written.
LIBRDKAFKA_SETTINGS: Final = {"auto.create.topics.enable": "true", "num.partitions": "4"}
LIBRDKAFKA: Final = tuple(
    LibrdkafkaSuite(protocol, ClusterPlan(port, brokers=3, settings=LIBRDKAFKA_SETTINGS))
    for protocol, port in (("classic", 9492), ("consumer", 9592))
)
RSKAFKA: Final = RskafkaSuite(ClusterPlan(9692, brokers=3, settings={"auto.create.topics.enable": "false"}))
