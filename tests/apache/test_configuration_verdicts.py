"""eosctl's verdicts on configurations match the behavior of real clients at their start."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from eosctl.checks.judge import judge
from eosctl.knowledge.parameter_tables import load_tables, parse_release
from eosctl.lab.apache.node import QUICK_START
from eosctl.model.deployment import Client, Deployment, Role
from eosctl.settings.deployment.deployment_files import read_components
from eosctl.settings.files.documents import parse_documents
from eosctl.settings.formats.tree import flatten
from eosctl.settings.values.sources import Releases
from tests.settings.filled_profiles import filled

FIXTURES = Path(__file__).parents[1] / "fixtures" / "checks" / "configuration"
CACHE = Path.home() / ".cache" / "eosctl" / "kafka-clients"
RELEASES = ("2.8.2", "3.9.2", "4.3.1")
# The rules that Kafka's own clients enforce when they start.
ENFORCED = (
    *("001", "002", "010", "011", "012", "013", "014", "015", "016", "019", "024", "027", "051", "086", "088"),
    *("102", "103", "104", "131", "140", "146"),
)
# Values from elsewhere, libraries and classes that are not on the class path.
NEEDS_MORE = ("${", "zstd", "strategy=x")
PROFILES = {
    "producer-transactional": (Role.PRODUCER, (2, 5)),
    "producer-idempotent-only": (Role.PRODUCER, (0, 11)),
    "consumer-read-committed": (Role.CONSUMER, (0, 11)),
    "streams-eos-v2-low-latency": (Role.STREAMS, (3, 0)),
    "streams-eos-v2-balanced": (Role.STREAMS, (3, 0)),
    "streams-eos-v2-throughput": (Role.STREAMS, (3, 0)),
    "dlq-retry-topology": (Role.STREAMS, (4, 2)),
}
"""The vetted configurations of Java clients, with the first release that each is for."""
STARTED = (Role.STREAMS, Role.PRODUCER, Role.CONSUMER)


POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>clients</groupId><artifactId>clients</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka-streams</artifactId><version>{version}</version>
</dependency></dependencies></project>
"""


def client_jars(version: str) -> Path:
    """Return a folder with the clients of a release, fetched once; without Java or Maven the test is skipped."""
    missing = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{missing[0]} is missing")
    folder = CACHE / version
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(POM.format(version=version), "utf-8")
        subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"], cwd=folder, check=True
        )
        (folder / "complete").touch()
    return folder / "jars"


class Start(NamedTuple):
    """One configuration of one client."""

    name: str
    role: Role
    settings: dict[str, str]
    refused: bool


def starts(release: tuple[int, int]) -> list[Start]:
    return [
        start
        for number in ENFORCED
        for index, case in enumerate(yaml.safe_load((FIXTURES / f"EOS-CFG-{number}.yaml").read_text("utf-8"))["cases"])
        if (start := start_of(f"{number}-{index}", case, release)) is not None
    ]


def vetted(release: tuple[int, int]) -> list[Start]:
    """Return the vetted configurations of a release; each must start."""
    values = {"TRANSACTIONAL_ID": "orders-0", "GROUP_ID": "orders", "APPLICATION_ID": "orders"}
    return [
        Start(name, role, filled(name, **values), refused=False)
        for name, (role, since) in PROFILES.items()
        if release >= since
    ]


def start_of(name: str, case: dict[str, Any], release: tuple[int, int]) -> Start | None:
    """Return a case as a client to start; None if it is not a single Java client, or its requirements are missing."""
    ((file, text), *others) = case["files"].items()
    if others or not file.endswith(".properties") or any(word in text for word in NEEDS_MORE):
        return None
    parts = read_components(file, text, releases=Releases(release))
    part = next((part for part in parts if part.inside is None and part.role in STARTED), None)
    settings = {
        key: leaf.text or "" for key, leaf in flatten(parse_documents(file, text)[0]) if "serializer" not in key
    }
    if part is None or part.client is not Client.JAVA:
        return None
    if not part.given.keys() & settings.keys():  # a framework's names, which no client knows
        return None
    found = [finding for result in judge(Deployment(tuple(parts), load_tables())) for finding in result.findings]
    return Start(name, part.role, settings, any("does not start" in finding.impact for finding in found))


@pytest.mark.parametrize("version", RELEASES)
def test_what_is_said_to_start_starts_and_nothing_else(version: str, tmp_path: Path) -> None:
    jars = client_jars(version)
    wanted = [*starts(parse_release(version)), *vetted(parse_release(version))]
    lines = [
        f"{start.name}\t{start.role.value}\t{'|'.join(f'{key}={text}' for key, text in start.settings.items())}\n"
        for start in wanted
    ]
    (tmp_path / "starts.tsv").write_text("".join(lines), "utf-8")
    program = Path(__file__).with_name("Accept.java")
    command = ["java", *QUICK_START, "-cp", f"{jars}/*", program, tmp_path / "starts.tsv"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    output = dict(line.split("\t", 1) for line in run.stdout.splitlines() if "\t" in line)
    assert len(wanted) > 50
    differing = {
        start.name: (start.settings, output.get(start.name))
        for start in wanted
        if output.get(start.name, "").startswith("refused") is not start.refused or start.name not in output
    }
    assert differing == {}
