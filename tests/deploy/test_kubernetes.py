"""The manifests are valid, fit together, and run: their programs with their user's rights, on a secured cluster."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from eosctl.sandbox.process.security_files import FOLDER as SECURITY
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.deploy.manifests import EXTENSIONS, Resource, one_of, pods, problems, resources
from tests.sandbox.security.conftest import password_of

pytestmark = pytest.mark.usefixtures("own_home")

SETTINGS = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:admin"}
TYPES = {
    "cluster": ResourceType.BROKER,  # librdkafka's name for the cluster
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactionalId": ResourceType.TRANSACTIONAL_ID,
}
OPERATIONS = {
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    "Read": AclOperation.READ,
}


@pytest.fixture
def found() -> list[Resource]:
    return resources()


def test_kubernetes_accepts_every_resource_of_its_own(found: list[Resource]) -> None:
    own = [one for one in found if one["apiVersion"] not in EXTENSIONS]
    assert sorted(one["kind"] for one in own) == ["ConfigMap", "CronJob", "Deployment", "Service", "ServiceAccount"]
    assert {one["metadata"]["name"]: problems(one) for one in own if problems(one)} == {}


@pytest.mark.parametrize(("key", "value"), [("replicas", "one"), ("replica", 1)])
def test_a_planted_mistake_is_refused(key: str, value: object, found: list[Resource]) -> None:
    planted = copy.deepcopy(one_of(found, "Deployment"))
    planted["spec"][key] = value
    assert problems(planted) != []


def test_pods_run_without_root_and_without_a_token(found: list[Resource]) -> None:
    specifications = [spec for _, spec in pods(found)]
    assert len(specifications) == 2
    for spec in specifications:
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        (container,) = spec["containers"]
        own = container["securityContext"]
        assert (own["readOnlyRootFilesystem"], own["allowPrivilegeEscalation"]) == (True, False)
        assert own["capabilities"] == {"drop": ["ALL"]}
        mounted = {one["name"] for one in container["volumeMounts"]}
        assert mounted == {one["name"] for one in spec["volumes"]}
    assert not [one for one in found if one["kind"] in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")]


def test_the_monitor_finds_the_pods_of_the_exporter(found: list[Resource]) -> None:
    monitor, service = one_of(found, "ServiceMonitor")["spec"], one_of(found, "Service")
    deployment = one_of(found, "Deployment")["spec"]
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    labels, spec = next(iter(pods([one_of(found, "Deployment")])))
    assert service["spec"]["selector"].items() <= labels.items()
    assert deployment["selector"]["matchLabels"].items() <= labels.items()
    assert monitor["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]
    (port,) = spec["containers"][0]["ports"]
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]
    assert f":{port['containerPort']}" in " ".join(spec["containers"][0]["args"])


def test_the_user_has_the_rights_that_check_acl_prints(found: list[Resource]) -> None:
    printed = eosctl("check", "acl", "doctor", "--principal", "User:eosctl").out
    block = printed.partition("STRIMZI\n")[2].partition("\n\n")[0]
    wanted, user = yaml.safe_load(block), one_of(found, "KafkaUser")
    assert user["spec"]["authorization"] == wanted["spec"]["authorization"]
    assert user["apiVersion"] == wanted["apiVersion"]


@pytest.fixture(scope="module")
def guarded() -> Iterator[SandboxThread]:
    users, sasl = ("admin", "eosctl"), ("SCRAM-SHA-512",)
    with SandboxThread(fast=False, sasl=sasl, tls=True, users=users, config=SETTINGS) as running:
        yield running


def test_the_programs_run_with_these_rights(guarded: SandboxThread, found: list[Resource], tmp_path: Path) -> None:
    """The secrets are laid out as Strimzi lays them out, in a folder instead of /etc/eosctl."""
    allow(guarded, one_of(found, "KafkaUser"))
    jaas = "org.apache.kafka.common.security.scram.ScramLoginModule"
    login = f'{jaas} required username="eosctl" password="{password_of(guarded, "eosctl")}";'
    for folder, name, text in (
        ("user", "sasl.jaas.config", login),
        ("ca", "ca.crt", (guarded.data_dir / SECURITY / "ca.pem").read_text()),
        ("client", "client.properties", one_of(found, "ConfigMap")["data"]["client.properties"]),
    ):
        (tmp_path / folder).mkdir()
        text = text.replace("/etc/eosctl", str(tmp_path))
        (tmp_path / folder / name).write_text(text.replace("my-cluster-kafka-bootstrap:9093", guarded.bootstrap))
    doctor, exporter = arguments(found, "CronJob"), arguments(found, "Deployment")
    config = ("--command-config", tmp_path / "client" / "client.properties")
    done = eosctl(*doctor, *config, "-o", "json")
    assert done.json["evidence"]["complete"], done.err
    assert done.code in (0, 3), done.err
    page = eosctl(*exporter, *config, "--once")
    assert "\neosctl_up 1\n" in page.out, page.err
    assert "\neosctl_evidence_gaps 0\n" in page.out


def arguments(found: list[Resource], kind: str) -> list[str]:
    ((_, spec),) = pods([one_of(found, kind)])
    return [str(word) for word in spec["containers"][0]["args"]]


def allow(cluster: SandboxThread, user: Any) -> None:
    """Give the rights of a KafkaUser, and wait until the broker decides by them."""
    settings = {
        "bootstrap.servers": cluster.bootstrap,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "admin",
        "sasl.password": password_of(cluster, "admin"),
        "ssl.ca.location": str(cluster.data_dir / SECURITY / "ca.pem"),
    }
    rules = [
        AclBinding(
            TYPES[acl["resource"]["type"]],
            acl["resource"].get("name", "kafka-cluster"),
            ResourcePatternType[acl["resource"].get("patternType", "literal").upper()],
            "User:eosctl",
            "*",
            OPERATIONS[operation],
            AclPermissionType.ALLOW,
        )
        for acl in user["spec"]["authorization"]["acls"]
        for operation in acl["operations"]
    ]
    admin = AdminClient(settings)
    for created in admin.create_acls(rules).values():
        created.result(60)
    anything = (ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY)
    while len(admin.describe_acls(AclBindingFilter(*anything)).result(60)) < len(rules):
        pass  # the broker follows the controller
