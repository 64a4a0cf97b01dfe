"""Variables of one application in several places: a container's own, ConfigMaps, and units with their files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.services.lint_configuration import LintRequest, lint_configuration
from tests.settings.test_deployment_files import findings

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  replicas: 1
  selector: {matchLabels: {app: pay}}
  template:
    spec:
      containers:
        - name: pay
          image: acme/pay:1
          envFrom: [{configMapRef: {name: pay}}]
          env:
"""
OWN = "            - {name: KAFKA_%s, value: %s}\n"
TRANSACTIONS = OWN % ("TRANSACTIONAL_ID", "pay")
READS = OWN % ("GROUP_ID", "g") + OWN % ("ISOLATION_LEVEL", "read_committed")
ACKS = OWN % ("ACKS", "all")
MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: pay}\ndata:\n  KAFKA_%s: "%s"\n'
UNIT = "[Service]\nEnvironmentFile=/etc/default/pay\nEnvironment=%s\n"


def found_in(folder: Path, files: Mapping[str, str]) -> list[tuple[str, str, object]]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    result = lint_configuration(LintRequest((folder,)))
    facts = [(one.check_id, dict(one.facts)) for one in result.found]
    return [(check_id, str(fact["file"]).removeprefix(f"{folder}/"), fact["line"]) for check_id, fact in facts]


@pytest.mark.parametrize(
    ("own", "shared", "expected"),
    [
        (TRANSACTIONS + READS, ("ENABLE_AUTO_COMMIT", "false"), []),
        (TRANSACTIONS + READS, ("ENABLE_AUTO_COMMIT", "true"), [("EOS-CFG-021", "map.yaml", 5)]),
        (OWN % ("ACKS", "1"), ("TRANSACTIONAL_ID", "pay"), [("EOS-CFG-011", "pay.yaml", 14)]),
        (ACKS, ("TRANSACTIONAL_ID", "pay"), []),
    ],
)
def test_a_config_maps_variables_are_the_containers(
    own: str, shared: tuple[str, str], expected: list[tuple[str, str, object]], tmp_path: Path
) -> None:
    files = {"pay.yaml": DEPLOYMENT % "pay" + own, "map.yaml": MAP % shared}
    assert found_in(tmp_path, files) == expected


def test_a_consumer_of_its_own_belongs_to_the_writer(tmp_path: Path) -> None:
    variables = MAP % ("ENABLE_AUTO_COMMIT", "true")
    found = found_in(tmp_path, {"pay.yaml": DEPLOYMENT % "pay" + TRANSACTIONS, "map.yaml": variables})
    assert ("EOS-CFG-021", "map.yaml", 5) in found


def test_two_workloads_with_one_id_from_one_config_map(tmp_path: Path) -> None:
    files = {f"{name}.yaml": DEPLOYMENT % name + ACKS for name in ("pay", "bill")}
    found = found_in(tmp_path, {**files, "map.yaml": MAP % ("TRANSACTIONAL_ID", "pay")})
    assert found == [("EOS-CFG-046", "map.yaml", 5)]


def test_one_line_of_two_processes_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(
        "for i in 1 2; do\n  docker run -d --name p-$i -e KAFKA_TRANSACTIONAL_ID=pay acme/pay:1\ndone\n", "utf-8"
    )
    (found,) = lint_configuration(LintRequest((tmp_path,))).found
    assert found.message == "KAFKA_TRANSACTIONAL_ID=pay is the id of all 2 processes."


def test_equal_names_in_two_files_are_not_joined(tmp_path: Path) -> None:
    files = {"pay.yaml": DEPLOYMENT % "pay" + TRANSACTIONS + READS}
    files |= {f"{name}/map.yaml": MAP % ("ENABLE_AUTO_COMMIT", name) for name in ("true", "false")}
    assert ("EOS-CFG-021", "pay.yaml", 14) in found_in(tmp_path, files)


@pytest.mark.parametrize(("commit", "expected"), [("false", []), ("true", [("EOS-CFG-021", "etc/default/pay", 2)])])
def test_a_template_unit_has_the_variables_of_its_file(
    commit: str, expected: list[tuple[str, str, object]], tmp_path: Path
) -> None:
    unit = UNIT % '"KAFKA_TRANSACTIONAL_ID=pay-%i" "KAFKA_GROUP_ID=g" "KAFKA_ISOLATION_LEVEL=read_committed"'
    variables = f"KAFKA_BOOTSTRAP_SERVERS=kafka:9092\nKAFKA_ENABLE_AUTO_COMMIT={commit}\n"
    assert found_in(tmp_path, {"pay@.service": unit, "etc/default/pay": variables}) == expected


IMAGE = """\
FROM apache/kafka:4.0.0
ENV KAFKA_NODE_ID=1 KAFKA_PROCESS_ROLES=broker,controller KAFKA_CONTROLLER_QUORUM_VOTERS=1@localhost:9093
ENV KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR=1 KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1
ENV KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=%d
"""
BUILT = """\
  k%d:
    build: %s
    environment: {KAFKA_NODE_ID: %d, KAFKA_CONTROLLER_QUORUM_VOTERS: "1@k1:9093,2@k2:9093,3@k3:9093"}
"""


def test_an_image_with_a_node_id_is_one_broker(tmp_path: Path) -> None:
    assert found_in(tmp_path, {"Dockerfile": IMAGE % 1}) == []
    assert found_in(tmp_path, {"Dockerfile": IMAGE % 2}) == [("EOS-CFG-149", "Dockerfile", 4)]


@pytest.mark.parametrize(
    ("name", "build"),
    [("Dockerfile", "."), ("kafka/Dockerfile", "{context: ./kafka}"), ("a.Dockerfile", "{dockerfile: a.Dockerfile}")],
)
def test_built_brokers_have_the_variables_of_their_image(name: str, build: str, tmp_path: Path) -> None:
    services = "".join(BUILT % (node, build, node) for node in (1, 2, 3))
    found = found_in(tmp_path, {name: IMAGE % 1, "compose.yaml": f"services:\n{services}"})
    assert set(found) == {("EOS-CFG-036", name, 3), ("EOS-CFG-032", name, 3), ("EOS-CFG-032", name, 4)}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("template.yaml", "Environment:\n  Variables:\n    {0}: pay\n    {1}: 'false'\n"),
        ("wrangler.toml", '[vars]\n{0} = "pay"\n\n{1} = "false"\n'),
        (
            "main.tf",
            'resource "kubernetes_config_map" "a" {{\n  data = {{\n    {0} = "pay"\n    {1} = "false"\n  }}\n}}\n',
        ),
    ],
)
def test_variables_have_any_word_above_them(file: str, text: str) -> None:
    given = text.format("KAFKA_TRANSACTIONAL_ID", "KAFKA_ENABLE_IDEMPOTENCE")
    assert findings((file, given)) == [f"EOS-CFG-010 {file}:4"]
