"""The jars of a release: fetched by Maven once, kept in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from eosctl.lab.apache.jars import default_cache_dir
from eosctl.lab.apache.maven import COPY_GOAL

ARTIFACTS: Final = ("kafka_2.13", "kafka-tools", "kafka-streams", "connect-runtime", "connect-mirror")
"""What declares settings; everything else comes with them."""
_NAMESPACE: Final = "http://maven.apache.org/POM/4.0.0"


class AbsorbError(Exception):
    """A release cannot be absorbed; the text is for people."""


def fetch(release: str) -> Path:
    """Return the directory with the jars of a release, fetched if the cache does not have it.

    An artifact that the repository lacks in this release is taken from the patch before, and left out if there is no
    such patch: the tables that are made from it keep their last release. Both are reported on stderr.

    Raises:
        AbsorbError: Maven is missing, or fails.
    """
    target = default_cache_dir(os.environ) / "absorb" / release
    if target.is_dir():
        return target
    maven = shutil.which("mvn")
    if maven is None:
        raise AbsorbError("Maven (mvn) is not on the PATH. It fetches the jars: apt-get install maven")
    target.parent.mkdir(parents=True, exist_ok=True)
    artifacts = dict.fromkeys(ARTIFACTS, release)
    while True:
        with tempfile.TemporaryDirectory(prefix=f"{release}-", dir=target.parent) as scratch:
            reason = _copy(maven, artifacts, Path(scratch))
            if not reason:
                (Path(scratch) / "jars").rename(target)
                return target
        missing = [name for name in artifacts if f" org.apache.kafka:{name}" in reason]
        if not missing or missing[0] == ARTIFACTS[0]:
            raise AbsorbError(f"Maven cannot fetch Apache Kafka {release}: {reason}")
        print(f"note: the repository has no {missing[0]} {artifacts[missing[0]]}.", file=sys.stderr)
        branch, _, patch = artifacts[missing[0]].rpartition(".")
        if int(patch):
            artifacts[missing[0]] = f"{branch}.{int(patch) - 1}"
        else:
            del artifacts[missing[0]]


def _copy(maven: str, artifacts: Mapping[str, str], scratch: Path) -> str:
    """Copy every jar of the artifacts into `scratch/jars`; return what Maven reports if it fails."""
    dependencies = "".join(
        f"<dependency><groupId>org.apache.kafka</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version></dependency>"
        for name, version in artifacts.items()
    )
    (scratch / "pom.xml").write_text(
        f'<project xmlns="{_NAMESPACE}"><modelVersion>4.0.0</modelVersion><groupId>eosctl</groupId>'
        f"<artifactId>absorb</artifactId><version>1</version><dependencies>{dependencies}</dependencies></project>\n",
        encoding="utf-8",
    )
    command = [maven, "-B", "-q", "-C", COPY_GOAL, "-DincludeScope=runtime", f"-DoutputDirectory={scratch / 'jars'}"]
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
    if not done.returncode:
        return ""
    lines = [line for line in done.stdout.splitlines() if "ERROR" in line]
    return lines[0] if lines else f"exit status {done.returncode}"
