"""Suites in Go: franz-go, sarama, and kafka-go."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from scripts.client_suites.clusters import ClusterPlan, cluster_environment, name_of, run_limited
from scripts.client_suites.kafka_scripts import write_kafka_scripts
from scripts.client_suites.outcomes import Outcome, Outcomes, chosen, completed, read_go, unfinished_go
from scripts.client_suites.stand_ins import compose
from scripts.client_suites.stand_ins.toxiproxy import serving_proxies
from scripts.client_suites.suite import Place

PROGRAM: Final = "suite.test"


@dataclass(frozen=True)
class GoSuite:
    """A package of tests.

    Attributes:
        package: Directory of the package in the repository.
        workspace: Other modules of the repository that it uses in their fetched state.
        tags: Build tags.
        selected: Pattern of the source lines of tests that use a cluster; the others are left out.
        limit_s: Maximum time of the whole suite.
        in_containers: Whether the suite expects brokers of Docker Compose, and Toxiproxy before them.
    """

    name: str
    repository: str
    cluster: ClusterPlan
    environment: Mapping[str, str]
    package: str = "."
    workspace: tuple[str, ...] = ()
    tags: str = ""
    files: str = "*_test.go"
    limit_s: int = 1800
    in_containers: bool = False
    arguments: tuple[str, ...] = field(default=())

    def build(self, place: Place) -> None:
        """Compile the tests."""
        go = {"GOFLAGS": "-mod=mod"} if not self.workspace else {}
        if self.workspace:
            (place.source / "go.work").unlink(missing_ok=True)
            subprocess.run(["go", "work", "init", ".", *self.workspace], cwd=place.source, check=True)
        command = ["go", "test", "-c", "-tags", self.tags, "-o", str(place.work / PROGRAM), f"./{self.package}"]
        subprocess.run(command, cwd=place.source, env=os.environ | go, check=True)

    def run(self, place: Place, tests: Sequence[str] | None) -> Outcomes:
        """Run the tests; those behind one that ended the program run in another one."""
        wanted = tuple(tests) if tests is not None else self._tests(place)
        if not self.in_containers:
            return self._run_all(place, wanted)
        with serving_proxies() as address:
            return self._run_all(place, wanted, {"TOXIPROXY_ADDR": address, **self._compose(place)})

    def _compose(self, place: Place) -> Mapping[str, str]:
        """Write the command `docker`; return the variables with which it finds the cluster."""
        write_kafka_scripts(place.work / "kafka")
        tools = place.work / "tools"
        tools.mkdir(exist_ok=True)
        docker = tools / "docker"
        docker.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {compose.__name__} "$@"\n', "utf-8")
        docker.chmod(0o755)
        return cluster_environment(place.work / "state") | {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            compose.CLUSTER: name_of(self.cluster),
            compose.BOOTSTRAP: self.cluster.bootstrap,
            compose.SCRIPTS: str(place.work / "kafka"),
        }

    def _run_all(
        self, place: Place, wanted: Sequence[str], added: Mapping[str, str] = MappingProxyType({})
    ) -> Outcomes:
        outcomes: dict[str, Outcome] = {}
        left = tuple(wanted)
        while left:
            found, culprit = self._run_program(place, left, self.limit_s, added)
            outcomes |= found
            outcomes |= {culprit: Outcome.NOT_RUN} if culprit else {}
            remaining = tuple(name for name in left if name not in outcomes)
            left = remaining if len(remaining) < len(left) else ()
        return completed(wanted, outcomes)

    def _run_program(
        self, place: Place, tests: Sequence[str], limit_s: int, added: Mapping[str, str]
    ) -> tuple[Outcomes, str | None]:
        """Return the results, and the test that ended the program before its others ran."""
        pattern = f"^({'|'.join(tests)})$"
        command = [str(place.work / PROGRAM), "-test.v", f"-test.timeout={limit_s}s", f"-test.run={pattern}"]
        environment = dict(self.environment) | dict(added)
        directory = place.source / self.package
        output = run_limited([*command, *self.arguments], directory, environment, limit_s + 30, place.log(self.name))
        return chosen(read_go(output), tests), unfinished_go(output)

    def _tests(self, place: Place) -> tuple[str, ...]:
        """Return the tests of the files."""
        found: set[str] = set()
        for path in (place.source / self.package).glob(self.files):
            found |= set(re.findall(r"^func (Test(?!Main\b)\w*)\(\w+ \*testing\.T\)", path.read_text("utf-8"), re.M))
        return tuple(sorted(found))


FRANZ_GO: Final = GoSuite(
    name="franz-go",
    repository="twmb/franz-go",
    package="pkg/kgo",
    workspace=("pkg/kadm", "pkg/kfake", "pkg/kmsg"),
    cluster=ClusterPlan(9392, settings={"share.coordinator.state.topic.num.partitions": "5"}),
    environment={
        "KGO_SEEDS": "127.0.0.1:9392",
        "KGO_TEST_RF": "1",
        "KGO_TEST_RECORDS": "50000",
        "KGO_TEST_STABLE_FETCH": "true",
        "KGO_LOG_LEVEL": "none",
    },
)

KAFKA_GO: Final = GoSuite(
    name="kafka-go",
    repository="segmentio/kafka-go",
    cluster=ClusterPlan(
        9092,
        settings={
            "message.max.bytes": "200000000",
            "auto.create.topics.enable": "true",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "true",
            "super.users": "User:ANONYMOUS",
        },
    ),
    environment={"KAFKA_VERSION": "4.3.1", "KAFKA_SKIP_NETTEST": "1"},
)

SARAMA: Final = GoSuite(
    name="sarama",
    repository="IBM/sarama",
    tags="functional",
    files="functional_*_test.go",
    cluster=ClusterPlan(
        29091,
        brokers=3,
        racks=("1", "2", "3"),
        settings={
            "auto.create.topics.enable": "false",
            "default.replication.factor": "2",
            "group.initial.rebalance.delay.ms": "0",
            "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
        },
    ),
    environment={"KAFKA_VERSION": "4.3.1"},
    in_containers=True,
)
