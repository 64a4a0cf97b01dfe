"""Files of applications and the workloads that run them: by folders, names, and what an image is built from."""

from __future__ import annotations

import pytest

from eosctl.model.deployment import Component, Role
from eosctl.settings.deployment.deployment_files import read_texts

CLIENT = "bootstrap.servers=k:9092\ntransactional.id=rides\n"
POD = """
apiVersion: apps/v1
kind: {kind}
metadata: {{name: {name}}}
spec:
  replicas: {count}
  selector: {{matchLabels: {{app: a}}}}
  template:
    metadata: {{labels: {{app: a}}}}
    spec:
      containers:
      - {{name: a, image: "acme/{name}:1"}}
"""


def pod(name: str, count: int = 3, kind: str = "StatefulSet") -> str:
    return POD.format(name=name, count=count, kind=kind)


def processes(files: dict[str, str]) -> list[str | None]:
    found: list[Component] = [one for one in read_texts(files) if one.role is Role.PRODUCER]
    return [one.instances.text if one.instances else None for one in found]


@pytest.mark.parametrize(
    ("client", "manifest"),
    [
        ("producer.properties", "deploy.yaml"),
        ("src/main/resources/producer.properties", "k8s/base/app.yaml"),
        ("rides/config/producer.properties", "rides/deploy/overlays/prod/app.yaml"),
        ("charts/rides/files/producer.properties", "charts/rides/templates/app.yaml"),
    ],
)
def test_a_file_belongs_to_the_workload_of_its_project(client: str, manifest: str) -> None:
    assert processes({client: CLIENT, manifest: pod("rides")}) == ["3"]


DOTNET = '{"Kafka": {"Producer": {"TransactionalId": "rides", "EnableIdempotence": true}}}'


@pytest.mark.parametrize(
    ("file", "name", "expected"),
    [
        ("Worker/appsettings.json", "rides", ["3"]),
        ("src/Rides.Worker/appsettings.json", "rides", ["3"]),
        ("Worker/appsettings.json", "rides-frontend", [None]),
        ("Worker/appsettings.json", "trips", [None]),
    ],
)
def test_a_workload_of_exactly_its_name_runs_it(file: str, name: str, expected: list[str | None]) -> None:
    assert processes({file: DOTNET, "kubernetes/prod/app.yaml": pod(name)}) == expected


def test_variables_of_dotnet_are_over_the_file() -> None:
    variable = '{name: Kafka__Producer__TransactionalId, value: "rides-$(POD_NAME)"}'
    app = pod("rides").replace('"acme/rides:1"}', f'"acme/rides:1", env: [{variable}]}}')
    (producer,) = (one for one in read_texts({"Worker/appsettings.json": DOTNET, "app.yaml": app}) if one.given)
    assert producer.value("transactional.id").text == "rides-$(POD_NAME)"
    assert (producer.flag("enable.idempotence"), producer.instances and producer.instances.text) == (True, "3")


def test_a_file_of_another_project_has_no_count() -> None:
    assert processes({"a/producer.properties": CLIENT, "b/app.yaml": pod("rides")}) == [None]


def test_of_several_workloads_the_one_of_the_same_name_counts() -> None:
    both = f"{pod('rides', 4)}---{pod('billing', 2)}"
    assert processes({"producer.properties": CLIENT, "all.yaml": both}) == ["4"]


def test_several_workloads_of_other_names_give_no_count() -> None:
    both = f"{pod('trips', 4)}---{pod('billing', 2)}"
    assert processes({"producer.properties": CLIENT, "all.yaml": both}) == [None]


def test_an_autoscaler_gives_the_count_of_its_workload() -> None:
    scaler = (
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: rides}\n"
        "spec: {scaleTargetRef: {kind: Deployment, name: rides}, maxReplicas: 8}\n"
    )
    files = {"producer.properties": CLIENT, "a.yaml": pod("rides", 1, "Deployment"), "hpa.yaml": scaler}
    assert processes(files) == ["8"]


def test_the_values_of_a_chart_count_without_its_templates() -> None:
    values = "replicaCount: 5\nimage: {repository: acme/rides, tag: '1'}\n"
    assert processes({"files/producer.properties": CLIENT, "values.yaml": values}) == ["5"]


def test_a_service_of_compose_runs_the_project_it_is_built_from() -> None:
    compose = "services:\n  one: {build: ./rides, deploy: {replicas: 2}}\n  two: {image: 'redis:7'}\n"
    assert processes({"rides/config/producer.properties": CLIENT, "compose.yaml": compose}) == ["2"]
