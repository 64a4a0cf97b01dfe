"""Render the Helm chart with helm itself, and keep the result for the tests, which need no helm.

    python -m scripts.release.chart [HELM]

Run it after a change of deploy/helm. HELM is the program, by default the one on PATH; `go install
helm.sh/helm/v3/cmd/helm@v3.18.4` builds it. The record has the digest of the chart, so a test notices a chart that
was changed and not rendered again.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
CHART = ROOT / "deploy" / "helm" / "eosctl"
RECORD = ROOT / "tests" / "fixtures" / "deploy" / "chart.json"
#: A helm from source takes itself for one of an old Kubernetes.
RELEASE: Final = ("--kube-version", "1.30.0")
#: The options of each rendering, by its name.
VARIANTS: Final[Mapping[str, tuple[str, ...]]] = {
    "defaults": (),
    "everything": (
        *("--set", "exporter.transactionLog=true", "--set", "serviceMonitor.labels.release=prometheus"),
        *("--set", "doctor.arguments={--fail-on,warning}", "--set", "client.caSecret=", "--set", "image.tag=0.1.0"),
    ),
    "exporter-alone": (
        *("--set", "doctor.enabled=false", "--set", "serviceMonitor.enabled=false", "--set", "strimzi.enabled=false"),
        *(
            "--set",
            "client.userSecret=",
            "--set",
            "client.caSecret=",
            "--set",
            "client.properties=bootstrap.servers=k:9092",
        ),
    ),
    "doctor-alone": ("--set", "exporter.enabled=false"),
}
#: What the schema of the values refuses.
REFUSED: Final[Mapping[str, tuple[str, ...]]] = {
    "unknown value": ("--set", "exporter.intervall=30s"),
    "not an interval": ("--set", "exporter.interval=often"),
    "no brokers": ("--set", "client.properties=security.protocol=SSL"),
}


def digest_of(chart: Path) -> str:
    """Return the digest of all files of a chart with their names."""
    found = hashlib.sha256()
    for path in sorted(path for path in chart.rglob("*") if path.is_file()):
        found.update(f"{path.relative_to(chart).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def _run(helm: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([helm, *words], capture_output=True, text=True, check=False)


def _rendered(helm: str, options: tuple[str, ...]) -> list[Any]:
    done = _run(helm, "template", "eosctl", str(CHART), "--namespace", "kafka", *RELEASE, *options)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def main() -> int:
    """Render every variant, and write the record."""
    helm = sys.argv[1] if len(sys.argv) > 1 else "helm"
    linted = _run(helm, "lint", "--strict", str(CHART))
    sys.stdout.write(linted.stdout)
    accepted = [
        name
        for name, options in REFUSED.items()
        if not _run(helm, "template", str(CHART), *RELEASE, *options).returncode
    ]
    if linted.returncode or accepted:
        sys.stderr.write(f"{linted.stderr}helm accepts what it must refuse: {accepted}\n")
        return 1
    record = {
        "helm": _run(helm, "version", "--short").stdout.strip(),
        "digest": digest_of(CHART),
        "rendered": {name: _rendered(helm, options) for name, options in VARIANTS.items()},
    }
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
