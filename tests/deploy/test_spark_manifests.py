"""The manifests of the log analysis on Spark are valid and fit together; its image runs what the pods ask for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.deploy.manifests import ROOT, Resource, one_of, pods, problems, resources

SPARK = ROOT / "deploy" / "spark"


@pytest.fixture
def found() -> list[Resource]:
    return resources(SPARK / "kubernetes")


def test_kubernetes_accepts_the_resources_of_the_job(found: list[Resource]) -> None:
    assert sorted(one["kind"] for one in found) == ["CronJob", "Role", "RoleBinding", "ServiceAccount"]
    assert {one["kind"]: problems(one) for one in found if problems(one)} == {}


def test_the_driver_has_the_account_with_the_rights_and_no_root(found: list[Resource]) -> None:
    account = one_of(found, "ServiceAccount")["metadata"]["name"]
    binding = one_of(found, "RoleBinding")
    assert [(one["kind"], one["name"]) for one in binding["subjects"]] == [("ServiceAccount", account)]
    assert binding["roleRef"]["name"] == one_of(found, "Role")["metadata"]["name"]
    ((_, spec),) = pods(found)
    assert spec["serviceAccountName"] == account
    assert spec["securityContext"]["runAsNonRoot"] is True
    (container,) = spec["containers"]
    own = container["securityContext"]
    assert (own["readOnlyRootFilesystem"], own["allowPrivilegeEscalation"]) == (True, False)
    ports = {str(port["containerPort"]) for port in container["ports"]}
    assert ports == set(re.findall(r"spark\.driver\.(?:blockManager\.)?port=(\d+)", " ".join(container["args"])))
    images = re.findall(r"spark\.kubernetes\.container\.image=(\S+)", " ".join(container["args"]))
    assert images == [container["image"]]


def test_the_entrypoint_starts_an_executor_with_its_options(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "SPARK_JAVA_OPT_0": "-Dwith blank=a b",
        "SPARK_JAVA_OPT_1": "-Dother=*",
        "SPARK_EXECUTOR_MEMORY": "512m",
        "SPARK_EXECUTOR_ID": "7",
        "SPARK_DRIVER_URL": "spark://driver:7078",
    }
    done = _entrypoint(["executor"], environment)
    words = done.stdout.splitlines()
    assert words[:4] == ["-Dwith blank=a b", "-Dother=*", "-Xms512m", "-Xmx512m"]
    assert words[words.index("--executor-id") + 1] == "7"
    assert words[words.index("--driver-url") + 1] == "spark://driver:7078"


def test_the_entrypoint_runs_other_words_as_a_command() -> None:
    assert _entrypoint(["printf", "%s|", "a b", "c"], {"PATH": "/usr/bin:/bin"}).stdout == "a b|c|"


def _entrypoint(words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(SPARK / "entrypoint"), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
