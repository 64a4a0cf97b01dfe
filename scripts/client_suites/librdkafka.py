"""The suites of librdkafka: both group protocols, also without automatic topics, and with TLS and a login."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NamedTuple

from scripts.client_suites.certificates import client_certificate
from scripts.client_suites.clusters import ClusterPlan, Login, login_of, run_limited
from scripts.client_suites.kafka_scripts import write_kafka_scripts
from scripts.client_suites.outcomes import Outcome, Outcomes, chosen, completed, read_librdkafka
from scripts.client_suites.suite import Place

#: Entries of librdkafka's table of tests, up to the next one.
_ENTRY: Final = re.compile(
    r"^\s+_TEST\((?P<name>(?P<number>\d{4})_\w+),(?P<flags>[^,)]*)(?P<rest>(?:(?!^\s+_TEST\(|^#)[^\n]*\n?)*)",
    re.MULTILINE,
)
_SCENARIO: Final = re.compile(r'\.scenario = "(?P<names>[\w,]+)"')
_NO_CLUSTER: Final = ("TEST_F_LOCAL", "TEST_F_MANUAL")
#: Numbers from here on are of programs for manual use.
_FIRST_MANUAL: Final = 1000
DEFAULT: Final = "default"
#: Tests that skip themselves in their quick form.
_ONLY_WHOLE: Final = frozenset({"0082", "0142"})
#: Tests that skip themselves, or a part, without TLS and a login.
SECURED: Final = ("0081", "0097", "0135", "0142")
#: Tests at a time in the first run; most of them wait for times of the protocol.
CONCURRENT: Final = 4


class Entry(NamedTuple):
    """A test of librdkafka's table that uses a cluster.

    Attributes:
        name: Its number and name.
        scenarios: The clusters on which it does not skip itself.
    """

    name: str
    scenarios: tuple[str, ...]

    @property
    def number(self) -> str:
        """The number by which the runner selects it, together with others of the same file."""
        return self.name[:4]


@dataclass(frozen=True)
class LibrdkafkaSuite:
    """The tests of librdkafka that use a cluster, each file in a process of its own, in their quick form.

    Attributes:
        protocol: The group protocol, `classic` or `consumer`.
        variant: What differs from the common cluster; part of the name.
        scenario: The name of the cluster in librdkafka's table of tests.
        numbers: The numbers of the tests; all of the scenario by default.
        test_limit_s: Maximum time of a test.
    """

    protocol: str
    cluster: ClusterPlan
    variant: str = ""
    scenario: str = DEFAULT
    numbers: tuple[str, ...] = ()
    test_limit_s: int = 600
    repository: str = "confluentinc/librdkafka"

    @property
    def name(self) -> str:
        """The name of the client, its group protocol, and the variant."""
        return f"librdkafka-{self.protocol}{self.variant}"

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
        """Run the named tests one file at a time, or all of them concurrently."""
        wanted = self._tests(place) if tests is None else tests
        numbers = tuple(dict.fromkeys(name[:4] for name in wanted))
        settings, variables = self._settings(place)
        (place.work / "test.conf").write_text("".join(f"{key}={value}\n" for key, value in settings.items()), "utf-8")
        outcomes: dict[str, Outcome] = {}
        with ThreadPoolExecutor(CONCURRENT if tests is None else 1) as pool:
            for found in pool.map(lambda number: self._run_file(place, number, variables), numbers):
                outcomes |= found
        return completed(wanted, chosen(outcomes, wanted))

    def _tests(self, place: Place) -> tuple[str, ...]:
        entries = list_librdkafka((place.source / "tests" / "test.c").read_text("utf-8"))
        here = [entry for entry in entries if self.scenario in entry.scenarios]
        if self.scenario != DEFAULT:
            here = [entry for entry in here if DEFAULT not in entry.scenarios]
        return tuple(entry.name for entry in here if not self.numbers or entry.number in self.numbers)

    def _settings(self, place: Place) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return the settings of the clients, and the variables with the paths of certificates."""
        common = {"bootstrap.servers": self.cluster.bootstrap, "test.timeout.multiplier": "4"}
        if self.cluster.user is None:
            return common, {}
        login: Login = login_of(self.cluster, place.work / "state")
        certificate = client_certificate(place.work / "certificates", login.authority)
        secured = {
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "PLAIN",
            "sasl.username": login.user,
            "sasl.password": login.password,
            **certificate.settings,
        }
        return common | secured, certificate.variables

    def _run_file(self, place: Place, number: str, variables: Mapping[str, str]) -> Outcomes:
        report = place.work / f"report-{number}.json"
        report.unlink(missing_ok=True)
        environment = {
            "TESTS": number,
            "TEST_REPORT": str(report),
            "TEST_SCENARIO": self.scenario,
            "RDKAFKA_TEST_CONF": str(place.work / "test.conf"),
            "TEST_KAFKA_VERSION": "4.3.1",
            "TEST_CONSUMER_GROUP_PROTOCOL": self.protocol,
            "KAFKA_PATH": str(place.work / "kafka"),
            "BROKERS": self.cluster.bootstrap,
            "LD_LIBRARY_PATH": f"{place.source}/src{os.pathsep}{place.source}/src-cpp",
            **variables,
        }
        quick = () if number in _ONLY_WHOLE else ("-Q",)
        command = ["./test-runner", "-L", "-p1", *quick]
        run_limited(command, place.source / "tests", environment, self.test_limit_s, place.log(number))
        return {name: found for name, found in read_librdkafka(report).items() if name.startswith(number)}


def list_librdkafka(source: str) -> tuple[Entry, ...]:
    """Return the tests that use a cluster, from the text of `test.c`.

    >>> list_librdkafka("    _TEST(0001_multiobj, 0),\\n    _TEST(0004_conf, TEST_F_LOCAL),\\n")
    (Entry(name='0001_multiobj', scenarios=('default',)),)
    """
    found = (entry for entry in _ENTRY.finditer(source) if int(entry["number"]) < _FIRST_MANUAL)
    return tuple(
        Entry(entry["name"], _scenarios(entry["rest"]))
        for entry in found
        if not any(flag in entry["flags"] for flag in _NO_CLUSTER)
    )


def _scenarios(text: str) -> tuple[str, ...]:
    found = _SCENARIO.search(text)
    return tuple(found["names"].split(",")) if found else (DEFAULT,)


#: Those of the clusters for which the tests are written.
_COMMON: Final = {
    "num.partitions": "4",
    "default.replication.factor": "3",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    "group.share.min.record.lock.duration.ms": "1000",
    "connections.max.reauth.ms": "10000",
    "allow.everyone.if.no.acl.found": "true",
}
_AUTHORIZER: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:admin",
}
#: Brokers register as this user before their controllers know any rule.
_BETWEEN_BROKERS: Final = {"super.users": "User:admin;User:ANONYMOUS"}
_CREATED: Final = {"auto.create.topics.enable": "true"}
_NOT_CREATED: Final = {"auto.create.topics.enable": "false"}
_RACKS: Final = ("RACK1", "RACK2", "RACK3")
_SECURE: Final = ("--sasl", "plain", "--tls", "--authorizer")


def _suites(protocol: str, port: int) -> tuple[LibrdkafkaSuite, ...]:
    common = _COMMON | _AUTHORIZER
    plan = ClusterPlan(port, 3, common | _CREATED, real_settings=_BETWEEN_BROKERS, racks=_RACKS)
    without = plan._replace(port=port + 10, settings=common | _NOT_CREATED)
    secured = plan._replace(port=port + 20, settings=_COMMON | _CREATED, options=_SECURE, user="testuser")
    return (
        LibrdkafkaSuite(protocol, plan),
        LibrdkafkaSuite(protocol, without, "-noautocreate", scenario="noautocreate"),
        LibrdkafkaSuite(protocol, secured, "-tls", numbers=SECURED),
    )


LIBRDKAFKA: Final = (*_suites("classic", 9492), *_suites("consumer", 9592))
