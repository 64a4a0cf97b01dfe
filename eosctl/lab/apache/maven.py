"""Resolve the jars of a release with Maven, which determines the dependencies itself."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from eosctl.lab.apache.releases import KafkaRelease
from eosctl.lab.engine import EngineError

COPY_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
RESOLVE_TIMEOUT_S: Final = 600


def resolve_by_maven(maven: str, release: KafkaRelease, scratch: Path) -> Path:
    """Copy every jar of a release into a new directory in `scratch` with Maven, and return it.

    Raises:
        EngineError: Maven fails, or takes too long.
    """
    (scratch / "pom.xml").write_text(render_pom(release), "utf-8")
    jars = scratch / "jars"
    _run_maven(
        [maven, "-B", "-q", "-C", COPY_GOAL, "-DincludeScope=runtime", f"-DoutputDirectory={jars}"], scratch, release
    )
    return jars


def render_pom(release: KafkaRelease) -> str:
    """Return a minimal Maven project with the run-time class path of a release."""
    dependencies = "".join(
        f"<dependency><groupId>{escape(group)}</groupId><artifactId>{escape(artifact)}</artifactId>"
        f"<version>{escape(version)}</version></dependency>"
        for group, artifact, version in (coordinates.split(":") for coordinates in release.artifacts)
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>eosctl</groupId><artifactId>kafka-class-path</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>\n"
    )


def _run_maven(command: list[str], directory: Path, release: KafkaRelease) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=RESOLVE_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EngineError(
            f"Maven did not deliver Apache Kafka {release.version} within {RESOLVE_TIMEOUT_S // 60} minutes.",
            "The first use of a release fetches all of its jars over the network.",
            "Check the network and Maven's settings, then try again.",
        ) from None
    if done.returncode:
        errors = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        raise EngineError(
            f"Maven could not deliver Apache Kafka {release.version}.",
            errors[0] if errors else f"It ended with exit status {done.returncode} and no error line.",
            "Check the network and Maven's settings, then try again.",
        )
