"""Kustomizations: bases are judged as overlays patch them, and findings have the place of the patch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eosctl.checks.judge import judge
from eosctl.findings.linted import findings_of
from eosctl.settings.deployment.deployment_files import read_deployment

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: pay
  labels: {tier: back}
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: pay
          image: acme/pay:1
          env:
            - name: KAFKA_BOOTSTRAP_SERVERS
              value: kafka:9092
            - name: KAFKA_TRANSACTIONAL_ID
              value: pay-tx
"""
STREAMS = DEPLOYMENT.replace("KAFKA_TRANSACTIONAL_ID", "KAFKA_STREAMS_COMMIT_INTERVAL_MS").replace("pay-tx", '"1000"')
BASE = {"base/kustomization.yaml": "resources: [deployment.yaml]\n", "base/deployment.yaml": DEPLOYMENT}
SHARED = {("EOS-CFG-147", "base/deployment.yaml", 17)}
SCALE = "- op: replace\n  path: /spec/replicas\n  value: 3\n"
OWN_ID = """- op: replace
  path: /spec/template/spec/containers/0/env/1
  value: {name: KAFKA_TRANSACTIONAL_ID, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
"""
MERGE = "kind: Deployment\nmetadata: {name: pay}\nspec:\n  replicas: 3\n"
OWN_ID_MERGE = """kind: Deployment
metadata: {name: pay}
spec:
  template:
    spec:
      containers:
        - name: pay
          env:
            - name: KAFKA_TRANSACTIONAL_ID
              value: pay-$(POD_NAME)
"""


def overlay(patches: str) -> dict[str, str]:
    return {"prod/kustomization.yaml": f"resources: [../base]\n{patches}"}


def inline(text: str, target: str = "{kind: Deployment, name: pay}") -> str:
    body = "".join(f"      {line}\n" for line in text.splitlines())
    return f"  - target: {target}\n    patch: |-\n{body}"


def found(folder: Path, files: Mapping[str, str]) -> set[tuple[str, str, int]]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    read = read_deployment([folder])
    assert read.not_understood == ()
    facts = ((one.check_id, dict(one.facts)) for one in findings_of(judge(read.deployment)))
    return {(check, str(Path(str(f["file"])).relative_to(folder)), int(str(f["line"]))) for check, f in facts}


@pytest.mark.parametrize(
    "files",
    [
        overlay("patches:\n" + inline(SCALE)),
        overlay("patches:\n" + inline(SCALE, "{kind: Deployment, name: p.*}")),
        overlay("patches:\n" + inline(SCALE, "{group: apps, version: v1, labelSelector: tier=back}")),
        overlay("patches:\n  - {path: scale.yaml, target: {kind: Deployment}}\n") | {"prod/scale.yaml": SCALE},
        overlay("patchesJson6902:\n  - {path: scale.yaml, target: {kind: Deployment, name: pay}}\n")
        | {"prod/scale.yaml": SCALE},
        overlay("patches:\n  - path: scale.yaml\n") | {"prod/scale.yaml": MERGE},
        overlay("patchesStrategicMerge: [scale.yaml]\n") | {"prod/scale.yaml": MERGE},
        overlay("replicas: [{name: pay, count: 3}]\n"),
        {"prod/Kustomization": "bases: [../base]\nreplicas: [{name: pay, count: 3}]\n"},
        overlay("patches:\n" + inline(SCALE, "{kind: Deployment, name: pay, namespace: money}")),
        overlay("components: [../wide]\n")
        | {
            "wide/kustomization.yaml": "kind: Component\npatches:\n  - {path: s.yaml, target: {kind: Deployment}}\n",
            "wide/s.yaml": SCALE,
        },
    ],
)
def test_an_overlay_scales_a_fixed_transactional_id(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert found(tmp_path, {**BASE, **files}) == SHARED


@pytest.mark.parametrize(
    "own", ["patches:\n" + inline(SCALE) + inline(OWN_ID), "patches: [{path: s.yaml}, {path: o.yaml}]"]
)
def test_an_overlay_that_gives_each_pod_its_id_is_clean(tmp_path: Path, own: str) -> None:
    patches = {"prod/s.yaml": MERGE, "prod/o.yaml": OWN_ID_MERGE} if "path: s.yaml" in own else {}
    assert found(tmp_path, BASE | overlay(own + "\n") | patches) == set()


def test_each_overlay_is_judged_with_its_own_count(tmp_path: Path) -> None:
    own = {"dev/kustomization.yaml": "resources: [../base]\n"}
    assert found(tmp_path, BASE | own | overlay("patches:\n" + inline(SCALE) + inline(OWN_ID))) == set()


def test_an_autoscaler_of_the_overlay_counts(tmp_path: Path) -> None:
    scaler = "kind: HorizontalPodAutoscaler\nspec:\n  scaleTargetRef: {kind: Deployment, name: pay}\n  maxReplicas: 5\n"
    files = {"prod/kustomization.yaml": "resources: [../base, h.yaml]\nreplicas: [{name: pay, count: 1}]\n"}
    assert found(tmp_path, BASE | files | {"prod/h.yaml": scaler}) == SHARED


def test_a_patched_value_has_the_line_of_the_patch(tmp_path: Path) -> None:
    env = "          env:\n            - {name: KAFKA_STREAMS_PROCESSING_GUARANTEE, value: exactly_once_v2}\n"
    base = BASE | {"base/deployment.yaml": STREAMS.replace("          env:\n", env)}
    slow = '- op: replace\n  path: /spec/template/spec/containers/0/env/2/value\n  value: "120000"\n'
    found_there = found(tmp_path, base | overlay("patches:\n" + inline(slow)))
    assert ("EOS-CFG-001", "prod/kustomization.yaml", 7) in found_there


@pytest.mark.parametrize(
    "patches",
    [
        "patches:\n" + inline(SCALE, "{kind: StatefulSet}"),
        "patches:\n" + inline(SCALE, "{kind: Deployment, name: '['}"),
        "patches:\n  - {path: absent.yaml, target: {kind: Deployment}}\n",
        "patches:\n" + inline("- op: replace\n  path: /spec/none\n  value: 3"),
    ],
)
def test_a_patch_for_something_else_changes_nothing(tmp_path: Path, patches: str) -> None:
    assert found(tmp_path, BASE | overlay(patches)) == set()


def test_kustomizations_that_use_each_other_end(tmp_path: Path) -> None:
    files = {"base/kustomization.yaml": "resources: [deployment.yaml, ../prod]\n"}
    assert found(tmp_path, BASE | overlay("patches:\n" + inline(SCALE)) | files) <= SHARED


BROKER = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  replicas: 3
  selector: {matchLabels: {app: kafka}}
  template:
    spec:
      containers:
        - name: kafka
          image: acme/kafka:1
          args: [kafka-server-start.sh, /etc/kafka/server.properties]
      volumes: [{name: c, configMap: {name: kafka}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kafka}
data:
  server.properties: |
    zookeeper.connect=z:2181
    log.dirs=/d
    default.replication.factor=3
    min.insync.replicas=2
    num.partitions=12
"""
ALONE = """- {op: replace, path: /spec/replicas, value: 1}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: "--override"}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: default.replication.factor=1}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: "--override"}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: min.insync.replicas=1}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: "--override"}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: offsets.topic.num.partitions=%s}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: "--override"}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: offsets.topic.replication.factor=1}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: "--override"}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: transaction.state.log.replication.factor=1}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: "--override"}
- {op: add, path: /spec/template/spec/containers/0/args/-, value: transaction.state.log.min.isr=1}
"""


def test_each_overlay_is_a_cluster_of_its_own(tmp_path: Path) -> None:
    base = {"base/kustomization.yaml": "resources: [kafka.yaml]\n", "base/kafka.yaml": BROKER}
    overlays = {
        f"{name}/kustomization.yaml": "resources: [../base]\npatches:\n" + inline(ALONE % count, "{name: kafka}")
        for name, count in (("dev", 1), ("test", 2))
    }
    assert found(tmp_path, base | overlays) == set()
    several = {name: text.replace("value: 1}", "value: 2}", 1) for name, text in overlays.items()}
    assert {check for check, _, _ in found(tmp_path, base | several)} >= {"EOS-CFG-032", "EOS-CFG-035"}


def unseen(folder: Path, files: Mapping[str, str]) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [one.reads for one in read_deployment([folder]).unseen]


@pytest.mark.parametrize(
    ("own", "missing"),
    [
        ("resources: [../base, ../gone]\n", ["../gone"]),
        ("resources: [../base, 'https://example.org/x?ref=1']\n", ["https://example.org/x?ref=1"]),
        ("resources: [../base]\ncomponents: [../gone]\n", ["../gone"]),
        ("resources: [../base]\npatches: [{path: scale.yaml}]\n", ["scale.yaml"]),
        ("resources: [../base]\npatchesStrategicMerge: [scale.yaml]\n", ["scale.yaml"]),
        (f"resources: [../base]\npatches:\n{inline(SCALE)}", []),
    ],
)
def test_what_an_overlay_names_and_the_files_lack_is_unseen(tmp_path: Path, own: str, missing: list[str]) -> None:
    assert unseen(tmp_path, {**BASE, "prod/kustomization.yaml": own}) == missing


def test_a_missing_part_of_something_else_is_not_named(tmp_path: Path) -> None:
    other = DEPLOYMENT.replace("KAFKA_BOOTSTRAP_SERVERS", "SHOP").replace("KAFKA_TRANSACTIONAL_ID", "KIND")
    files = {"base/deployment.yaml": other, "kustomization.yaml": "resources: [base/deployment.yaml, gone.yaml]\n"}
    assert unseen(tmp_path, files) == []
    named = {"kustomization.yaml": "resources: [kafka-cluster.yaml]\n"}
    assert unseen(tmp_path, files | named) == ["kafka-cluster.yaml"]


def test_kustomizations_that_use_each_other_twice_are_bounded(tmp_path: Path) -> None:
    levels = {
        f"k{level}/{side}/kustomization.yaml": f"resources: [../../k{level + 1}/a, ../../k{level + 1}/b]\n"
        for level in range(30)
        for side in "ab"
    }
    last = {f"k30/{side}/kustomization.yaml": "resources: [../../base]\n" for side in "ab"}
    assert "../../k1/b" in unseen(tmp_path, {**BASE, **levels, **last})


GUARANTEE = "application.id=pay\nbootstrap.servers=k:9092\nprocessing.guarantee=%s\n"
GENERATED = "resources: [%s]\nconfigMapGenerator:\n- {name: pay, %s files: [%s]}\n"


@pytest.mark.parametrize(
    ("behavior", "named", "is_replaced"),
    [
        ("behavior: replace,", "s.properties", True),
        ("behavior: merge,", "s.properties", True),
        ("behavior: merge,", "s.properties=other/t.properties", True),
        ("behavior: merge,", "t.properties", False),
        ("behavior: replace,", "t.properties", True),
    ],
)
def test_an_overlay_replaces_files_of_generated_maps(
    tmp_path: Path, behavior: str, named: str, *, is_replaced: bool
) -> None:
    files = {
        "base/kustomization.yaml": GENERATED % ("", "", "s.properties"),
        "base/s.properties": GUARANTEE % "at_least_once",
        "prod/kustomization.yaml": GENERATED % ("../base", behavior, named),
        f"prod/{named.rpartition('=')[2]}": GUARANTEE % "exactly_once_v2",
    }
    assert ("EOS-CFG-052" in {check for check, _, _ in found(tmp_path, files)}) != is_replaced


def test_a_replaced_file_counts_where_another_overlay_keeps_it(tmp_path: Path) -> None:
    files = {
        "base/kustomization.yaml": GENERATED % ("", "", "s.properties"),
        "base/s.properties": GUARANTEE.replace("k:9092", "k:9092\nreplication.factor=1") % "exactly_once_v2",
        "prod/kustomization.yaml": GENERATED % ("../base", "behavior: replace,", "s.properties"),
        "prod/s.properties": GUARANTEE % "exactly_once_v2",
    }
    assert found(tmp_path, files) == set()
    dev = {"dev/kustomization.yaml": "resources: [../base]\n"}
    assert {check for check, _, _ in found(tmp_path, files | dev)} == {"EOS-CFG-038"}


def test_a_long_chain_of_kustomizations_ends(tmp_path: Path) -> None:
    chain = {f"k{n}/kustomization.yaml": f"resources: [../k{n + 1}]\n" for n in range(400)}
    assert unseen(tmp_path, {**BASE, **chain, "k400/kustomization.yaml": "resources: [../base]\n"})


BASE_MAP = """configMapGenerator:
  - name: pay
    envs: [pay.env]
    literals: [SPRING_KAFKA_STREAMS_PROPERTIES_COMMIT_INTERVAL_MS=100]
"""
BASE_ENV = """SPRING_KAFKA_STREAMS_APPLICATION_ID=pay
SPRING_KAFKA_STREAMS_PROPERTIES_PROCESSING_GUARANTEE=exactly_once_v2
"""


@pytest.mark.parametrize(
    ("behavior", "interval", "expected"),
    [
        ("merge", 30000, {("EOS-CFG-001", "over/kustomization.yaml", 5)}),
        ("merge", 200, set()),
        ("replace", 30000, set()),
    ],
)
def test_an_overlay_merges_its_literals_into_the_base(
    behavior: str, interval: int, expected: set[tuple[str, str, int]], tmp_path: Path
) -> None:
    own = f"""resources: [../base]
configMapGenerator:
  - name: pay
    behavior: {behavior}
    literals: [SPRING_KAFKA_STREAMS_PROPERTIES_COMMIT_INTERVAL_MS={interval}]
"""
    files = {"base/kustomization.yaml": BASE_MAP, "base/pay.env": BASE_ENV, "over/kustomization.yaml": own}
    assert {one for one in found(tmp_path, files) if one[0] == "EOS-CFG-001"} == expected


def test_generators_that_merge_into_each_other_end(tmp_path: Path) -> None:
    own = """resources: [../%s, ../%s]
configMapGenerator:
  - name: pay
    behavior: merge
    literals: [KAFKA_GROUP_ID=%s]
"""
    files = {f"{one}/kustomization.yaml": own % (other, other, one) for one, other in (("a", "b"), ("b", "a"))}
    assert found(tmp_path, files) is not None


STRIMZI = """apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: k}
spec:
  kafka:
    replicas: 3
    listeners: []
    config: {transaction.state.log.replication.factor: 3, transaction.state.log.min.isr: 2}
"""
SMALL = """apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: k}
spec:
  kafka:
    replicas: 1
    config:
      offsets.topic.replication.factor: 1
      transaction.state.log.replication.factor: 1
      transaction.state.log.min.isr: 1
"""


def test_overlays_of_one_resource_are_different_clusters(tmp_path: Path) -> None:
    files = {
        "base/kafka.yaml": STRIMZI,
        "base/kustomization.yaml": "resources: [kafka.yaml]\n",
        "dev/kustomization.yaml": "resources: [../base]\npatches: [{path: small.yaml}]\n",
        "dev/small.yaml": SMALL,
        "prod/kustomization.yaml": "resources: [../base]\n",
    }
    assert found(tmp_path, files) == set()
