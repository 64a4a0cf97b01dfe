"""Processes that supervisord, systemd, and Terraform start from one description."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.services.lint_configuration import LintRequest, LintResult, lint_configuration


def lint(folder: Path, files: Mapping[str, str]) -> LintResult:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return lint_configuration(LintRequest((folder,)))


SUPERVISED = """\
[supervisord]
environment=KAFKA_BOOTSTRAP_SERVERS="kafka:9092"

[program:billing]
; ids of one group
command=python -m billing ; the worker
numprocs=%s
environment=KAFKA_ACKS="%s",
  KAFKA_TRANSACTIONAL_ID="%s"

[program:web]
command=gunicorn web
"""


@pytest.mark.parametrize(
    ("count", "acks", "identity", "expected"),
    [
        ("4", "all", "%(program_name)s", [("EOS-CFG-147", 9)]),
        ("4", "all", "b-%(process_num)02d", []),
        ("1", "all", "b", []),
        ("1", "1", "b", [("EOS-CFG-011", 8)]),
    ],
)
@pytest.mark.parametrize("name", ["supervisord.conf", "workers.ini"])
def test_programs_of_supervisord_are_processes(
    name: str, count: str, acks: str, identity: str, expected: list[tuple[str, int]], tmp_path: Path
) -> None:
    result = lint(tmp_path, {name: SUPERVISED % (count, acks, identity)})
    assert [(one.check_id, dict(one.facts)["line"]) for one in result.found] == expected
    assert result.linted.not_understood == ()


@pytest.mark.parametrize(
    ("unit", "variables", "expected"),
    [
        ("EnvironmentFile=/etc/pay/pay.env", "KAFKA_TRANSACTIONAL_ID=pay", [("EOS-CFG-147", "etc/pay/pay.env")]),
        ("EnvironmentFile=-/etc/pay/pay.env", "KAFKA_TRANSACTIONAL_ID=pay-%i", []),
        ("Environment=KAFKA_TRANSACTIONAL_ID=pay", "", [("EOS-CFG-147", "pay@.service")]),
        ("Environment=KAFKA_TRANSACTIONAL_ID=pay-%i", "", []),
        ("EnvironmentFile=/etc/pay/pay.env\nEnvironmentFile=/etc/pay/%i.env", "KAFKA_TRANSACTIONAL_ID=pay", []),
    ],
)
def test_instances_of_a_template_unit_share_its_files(
    unit: str, variables: str, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    text = f"[Service]\n{unit}\nExecStart=/opt/pay/run\n"
    files = {"pay@.service": text, "etc/pay/pay.env": f"KAFKA_BOOTSTRAP_SERVERS=k:1\n{variables}\n"}
    result = lint(tmp_path, files)
    found = [(one.check_id, str(dict(one.facts)["file"])) for one in result.found]
    assert [(check_id, file.removeprefix(f"{tmp_path}/")) for check_id, file in found] == expected


TERRAFORM = """\
resource "kubernetes_deployment" "w" {
  spec {
    replicas = 2
    template {
      spec {
        container {
          name  = "w"
          image = "acme/w:1"
          env {
            name  = "KAFKA_STREAMS_APPLICATION_ID"
            value = "w"
          }
          env {
            name  = "KAFKA_STREAMS_PROCESSING_GUARANTEE"
            value = "exactly_once_v2"
          }
          env {
            name  = "KAFKA_STREAMS_COMMIT_INTERVAL_MS"
            value = "%s"
          }
          env {
            name = "KAFKA_STREAMS_STATE_DIR"
            value_from {
              field_ref {
                field_path = "metadata.name"
              }
            }
          }
        }
      }
    }
  }
}
"""


@pytest.mark.parametrize(("interval", "expected"), [("30000", [("EOS-CFG-001", 19)]), ("100", [])])
def test_blocks_of_variables_are_those_of_one_container(
    interval: str, expected: list[tuple[str, int]], tmp_path: Path
) -> None:
    result = lint(tmp_path, {"w.tf": TERRAFORM % interval})
    found = [(one.check_id, dict(one.facts)["line"]) for one in result.found]
    assert [one for one in found if one[0] in ("EOS-CFG-001", "EOS-CFG-020")] == expected
    assert len(result.linted.read_as) == 1


@pytest.mark.parametrize("key", ["configMapGenerator", "secretGenerator"])
def test_generated_resources_are_read_by_their_workloads(key: str, tmp_path: Path) -> None:
    kind = {"configMapGenerator": "configMapRef", "secretGenerator": "secretRef"}[key]
    deployment = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: n}\nspec:\n  replicas: 2\n  template:\n    spec:\n"
        f"      containers:\n      - {{name: n, image: 'a:1', envFrom: [{{{kind}: {{name: e}}}}]}}\n"
    )
    files = {
        "kustomization.yaml": f"resources: [d.yaml]\n{key}:\n- name: e\n  envs: [k.env]\n",
        "k.env": "KAFKA_TRANSACTIONAL_ID=n\n",
        "d.yaml": deployment,
    }
    assert [one.check_id for one in lint(tmp_path, files).found] == ["EOS-CFG-147"]


def test_variables_of_services_of_a_machine_are_read(tmp_path: Path) -> None:
    files = {"etc/default/pay": "KAFKA_TRANSACTIONAL_ID=p\nKAFKA_ACKS=1\n", "etc/default/grub": "# kafka\nA B\n"}
    assert [dict(one.facts)["line"] for one in lint(tmp_path, files).found] == [2]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Procfile", "web: gunicorn\nw: KAFKA_TRANSACTIONAL_ID=w KAFKA_ACKS=1 python w.py\n", [2]),
        ("run.sh", "KAFKA_TRANSACTIONAL_ID=w \\\n  KAFKA_ACKS='1' exec python w.py\n", [2]),
        ("run.sh", "KAFKA_TRANSACTIONAL_ID=w KAFKA_ACKS=1\n", []),
    ],
)
def test_variables_before_a_command_are_those_of_its_process(
    name: str, text: str, expected: list[int], tmp_path: Path
) -> None:
    assert [dict(one.facts)["line"] for one in lint(tmp_path, {name: text}).found] == expected


KNATIVE = """\
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hook}
spec:
  template:
    metadata:
      annotations: {%s}
    spec:
      containers:
        - image: acme/hook:1
          env:
            - {name: KAFKA_TRANSACTIONAL_ID, value: hook}
"""


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ('autoscaling.knative.dev/max-scale: "10"', ["KAFKA_TRANSACTIONAL_ID=hook is the id of all 10 processes."]),
        ('autoscaling.knative.dev/maxScale: "1"', []),
        (
            'autoscaling.knative.dev/min-scale: "1"',
            ["KAFKA_TRANSACTIONAL_ID=hook is the id of all processes that requests need."],
        ),
    ],
)
def test_knative_starts_what_its_limit_allows(annotations: str, expected: list[str], tmp_path: Path) -> None:
    assert [one.message for one in lint(tmp_path, {"hook.yaml": KNATIVE % annotations}).found] == expected


NOMAD = """\
job "ship" {
  group "g" {
    count = 2
    task "t" {
      driver = "docker"
      env {
        KAFKA_BOOTSTRAP_SERVERS = "kafka:9092"
      }
      template {
        destination = "secrets/kafka.env"
        env         = true
        data        = <<EOH
{{ range service "kafka" }}
# brokers
{{ end }}
KAFKA_TRANSACTIONAL_ID=%s
KAFKA_ACKS=%s
EOH
      }
      template {
        destination = "local/consumer.properties"
        data        = <<EOH
group.id=ship
group.instance.id=%s
isolation.level=read_committed
EOH
      }
    }
  }
}
"""


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (('ship-{{ env "NOMAD_ALLOC_INDEX" }}', "all", "${ID}"), []),
        (("ship", "all", "${ID}"), [("EOS-CFG-147", 16)]),
        (('ship-{{ env "NOMAD_ALLOC_INDEX" }}', "1", "${ID}"), [("EOS-CFG-011", 17)]),
        (('ship-{{ env "NOMAD_ALLOC_INDEX" }}', "all", "one"), [("EOS-CFG-148", 24)]),
    ],
)
def test_templates_of_a_task_are_variables_and_files(
    values: tuple[str, ...], expected: list[tuple[str, int]], tmp_path: Path
) -> None:
    result = lint(tmp_path, {"ship.nomad": NOMAD % values})
    assert [(one.check_id, dict(one.facts)["line"]) for one in result.found] == expected
    assert result.linted.not_understood == ()


PM2 = """\
// started by systemd
module.exports = {
  apps: [
    {
      name: 'worker',
      script: 'worker.js',
      instances: %s,
      env: {
        KAFKA_BROKERS: process.env.KAFKA_BROKERS || 'kafka:9092',
        KAFKA_TRANSACTIONAL_ID: %s,
      },
    },
  ],
};
"""


@pytest.mark.parametrize(
    ("instances", "identity", "expected"),
    [
        ("4", "'worker'", [("EOS-CFG-147", 10)]),
        ("4", "`worker`", [("EOS-CFG-147", 10)]),
        ("'max'", "'worker'", [("EOS-CFG-147", 10)]),
        ("0", "'worker'", [("EOS-CFG-147", 10)]),
        ("os.cpus().length", "'worker'", [("EOS-CFG-147", 10)]),
        ("'max'", "process.env.ID", []),
        ("1", "'worker'", []),
        ("4", "process.env.ID", []),
        ("4", "make('worker')", []),
        ("4", "names.worker", []),
    ],
)
def test_pm2_starts_instances(instances: str, identity: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    result = lint(tmp_path, {"ecosystem.config.js": PM2 % (instances, identity)})
    assert [(one.check_id, dict(one.facts)["line"]) for one in result.found] == expected
    assert result.linted.not_understood == ()


def test_a_module_without_an_object_is_not_understood(tmp_path: Path) -> None:
    code = "const apps = make('kafka');\nmodule.exports = apps;\n"
    result = lint(tmp_path, {"ecosystem.config.js": code})
    assert result.found == ()
    assert result.linted.not_understood == (f"{tmp_path}/ecosystem.config.js",)


ARGO = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ship}
spec:
  source:
    helm:
      parameters:
        - {name: replicaCount, value: "%s"}
        - {name: env.KAFKA_TRANSACTIONAL_ID, value: "%s"}
        - {name: 'podAnnotations.example\\.org/team', value: pay}
        - {name: "extra[0].name", value: A}
"""
SETS = """\
resource "helm_release" "ship" {
  chart = "service"
  set {
    name  = "replicaCount"
    value = "%s"
  }
  set {
    name  = "env.KAFKA_TRANSACTIONAL_ID"
    value = "%s"
  }
}
"""
LIST = """\
resource "helm_release" "s" {
  set = [
    { name = "replicaCount", value = "%s" },
    { name = "env.KAFKA_TRANSACTIONAL_ID", value = "%s" },
  ]
}
"""


@pytest.mark.parametrize(("name", "text", "line"), [("a.yaml", ARGO, 9), ("a.tf", SETS, 9), ("a.tf", LIST, 4)])
@pytest.mark.parametrize(("count", "identity", "is_found"), [("3", "ship", True), ("1", "ship", False)])
def test_values_given_one_by_one_are_those_of_a_chart(
    name: str, text: str, line: int, count: str, identity: str, is_found: bool, tmp_path: Path
) -> None:
    result = lint(tmp_path, {name: text % (count, identity)})
    expected = [("EOS-CFG-147", line)] if is_found else []
    assert [(one.check_id, dict(one.facts)["line"]) for one in result.found] == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("for i in 1 2 3; do\n  KAFKA_TRANSACTIONAL_ID=w ./w --shard $i &\ndone\nwait\n", ["all 3 processes"]),
        ("for i in {1..4}\ndo KAFKA_TRANSACTIONAL_ID=w ./w &\ndone\n", ["all 4 processes"]),
        ("for i in $(seq 2 3); do java -Dkafka.transactional.id=w -jar w.jar & done\n", ["all 2 processes"]),
        (
            "export KAFKA_TRANSACTIONAL_ID=w\nfor ((i=0; i<5; i++)); do nohup ./w >$i.log 2>&1 & done",
            ["all 5 processes"],
        ),
        ("export KAFKA_TRANSACTIONAL_ID=w\nfor i in $SHARDS; do\n  ./w $i &\ndone\n", ["all processes of the loop"]),
        ("for n in 1 2; do docker run -d -e KAFKA_TRANSACTIONAL_ID=w --name w-$n w:1; done", ["all 2 processes"]),
        ("export KAFKA_TRANSACTIONAL_ID=w\n./w --port 1 &\n./w --port 2 &\nwait\n", ["all 2 processes"]),
        ("export KAFKA_TRANSACTIONAL_ID=w\n./w --port 1 &\n./other &\nwait\n", []),
        ("for i in 1 2 3; do\n  KAFKA_TRANSACTIONAL_ID=w-$i ./w &\ndone\n", []),
        ("for i in 1 2 3; do\n  export KAFKA_TRANSACTIONAL_ID=w-$i\n  ./w &\ndone\n", []),
        ("while true; do\n  KAFKA_TRANSACTIONAL_ID=w ./w &\n  wait $!\ndone\n", []),
        ("for i in 1 2 3; do\n  KAFKA_TRANSACTIONAL_ID=w ./w 2>&1\ndone\n", []),
        ("for i in 1; do KAFKA_TRANSACTIONAL_ID=w ./w & done\n", []),
    ],
)
def test_a_script_starts_processes_in_the_background(script: str, expected: list[str], tmp_path: Path) -> None:
    found = [one for one in lint(tmp_path, {"run.sh": script}).found if one.check_id == "EOS-CFG-147"]
    assert [one.message.partition("is the id of ")[2].rstrip(".") for one in found] == expected


PROGRAM = 'module.exports = { apps: [{ name: "cart", script: "main.js", instances: %s }] };\n'
CART = (
    '{"kafka": {"clientId": "cart", "producer": {"transactionalId": %s, "idempotent": true, "maxInFlightRequests": 1}}}'
)


@pytest.mark.parametrize(
    ("count", "identity", "expected"),
    [("4", '"cart"', ["EOS-CFG-147"]), ('"max"', '"cart"', ["EOS-CFG-147"]), ("1", '"cart"', []), ("4", '"${ID}"', [])],
)
def test_programs_of_pm2_share_the_file_next_to_them(
    count: str, identity: str, expected: list[str], tmp_path: Path
) -> None:
    files = {"ecosystem.config.js": PROGRAM % count, "config/default.json": CART % identity}
    assert [one.check_id for one in lint(tmp_path, files).found] == expected


@pytest.mark.parametrize(
    ("name", "is_found"),
    [("KAFKA_TX_ID", True), ("PRODUCER_TRANSACTION_ID", True), ("KAFKA_TXN_ID", True), ("ORDER_TX_ID", False)],
)
def test_short_names_of_transactional_ids_count_next_to_kafka(name: str, is_found: bool, tmp_path: Path) -> None:
    service = "services:\n  pay:\n    image: o/pay:1\n    deploy: {replicas: 3}\n    environment:\n"
    result = lint(tmp_path, {"compose.yaml": f"{service}      KAFKA_BROKERS: k:1\n      {name}: pay\n"})
    assert ["EOS-CFG-147"] * is_found == [one.check_id for one in result.found]
