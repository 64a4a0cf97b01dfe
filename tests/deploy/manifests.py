"""The resources of manifests, and their check against the schemas of Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
#: The resources of other projects: no schema of Kubernetes describes them.
EXTENSIONS = ("monitoring.coreos.com/v1", "kafka.strimzi.io/v1beta2")
RELEASES = ("1.30", "1.37")
OWN = {"kustomization.yaml"}

Resource = dict[str, Any]


def resources(folder: Path = FOLDER) -> list[Resource]:
    """Return every resource of the manifests in a folder."""
    files = (path for path in sorted(folder.glob("*.yaml")) if path.name not in OWN)
    return [one for path in files for one in yaml.safe_load_all(path.read_text("utf-8"))]


def one_of(found: list[Resource], kind: str) -> Resource:
    (resource,) = [one for one in found if one["kind"] == kind]
    return resource


def problems(resource: Resource) -> list[str]:
    """Return what the oldest and the newest release refuse; unknown fields are refused, too."""
    return [text for release in RELEASES for text in _problems(resource, release)]


def _problems(resource: Resource, release: str) -> Iterator[str]:
    try:
        kubernetes_validate.validate(resource, release, strict=True)
    except kubernetes_validate.ValidationError as error:
        yield f"{release}: {error.message}"


def pods(found: list[Resource]) -> Iterator[tuple[dict[str, str], Resource]]:
    """Yield the labels and the specification of each pod."""
    for resource in found:
        spec = resource.get("spec", {})
        template = spec.get("template") or spec.get("jobTemplate", {}).get("spec", {}).get("template")
        if template:
            yield template["metadata"]["labels"], template["spec"]
