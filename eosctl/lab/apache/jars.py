"""The class path of one Kafka release: resolved by Maven once, held to a committed list of checksums."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

from eosctl.lab.apache.releases import KafkaRelease
from eosctl.lab.engine import EngineError, MissingTool

COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
RESOLVE_TIMEOUT_S = 600


def default_cache_dir(environment: Mapping[str, str]) -> Path:
    """Return where jars are kept between runs, after the XDG base directory specification."""
    cache_home = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".cache"
    return Path(cache_home) / "eosctl" / "kafka"


def resolve_jars(release: KafkaRelease, cache_dir: Path | None = None) -> Path:
    """Return the directory with every jar of a release, asking Maven when the cache does not hold it.

    The jars must be those of the committed lock file, to the byte: on the first resolution and on every later use.

    Args:
        release: The release to run.
        cache_dir: Where resolved releases are kept; the user's cache directory when left out.

    Raises:
        EngineError: Maven is missing or fails, or a jar is not the one that was tested.
    """
    cache_dir = cache_dir or default_cache_dir(os.environ)
    target = cache_dir / release.version
    locked = read_lock(release)
    with _exclusive(cache_dir / f"{release.version}.guard"):
        if not target.is_dir():
            _resolve(release, target, locked)
        elif differences(target, locked):
            shutil.rmtree(target)
            _resolve(release, target, locked)
    return target


def is_cached(release: KafkaRelease, cache_dir: Path | None = None) -> bool:
    """Whether the jars of a release have been fetched."""
    return ((cache_dir or default_cache_dir(os.environ)) / release.version).is_dir()


def read_lock(release: KafkaRelease) -> dict[str, str]:
    """Return the SHA-256 (hex) of each jar file that the lab was tested with."""
    return {name: digest for digest, name in (line.split() for line in release.lock.read_text("utf-8").splitlines())}


def differences(directory: Path, locked: Mapping[str, str]) -> list[str]:
    """Name what sets the jars of a directory apart from the locked list; empty when nothing does."""
    found = {path.name for path in directory.glob("*.jar")}
    missing = [f"{name} is missing" for name in sorted(locked.keys() - found)]
    unknown = [f"{name} is not on the list" for name in sorted(found - locked.keys())]
    changed = [
        f"{name} differs from the tested one"
        for name in sorted(locked.keys() & found)
        if _sha256(directory / name) != locked[name]
    ]
    return missing + unknown + changed


def render_pom(release: KafkaRelease) -> str:
    """Return the smallest Maven project whose run-time class path is that of the release."""
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


def _resolve(release: KafkaRelease, target: Path, locked: Mapping[str, str]) -> None:
    """Let Maven fill a temporary directory and move it into place only when it holds the locked jars."""
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingTool(
            "mvn",
            f"The jars of Apache Kafka {release.version} are not in {target.parent}.",
            "Maven (mvn) fetches them and is not on the PATH.",
            "Install Maven, e.g. apt-get install maven.",
        )
    with tempfile.TemporaryDirectory(prefix=f"{release.version}-", dir=target.parent) as scratch:
        (Path(scratch) / "pom.xml").write_text(render_pom(release), "utf-8")
        jars = Path(scratch) / "jars"
        _run_maven(
            [maven, "-B", "-q", "-C", COPY_GOAL, "-DincludeScope=runtime", f"-DoutputDirectory={jars}"],
            Path(scratch),
            release,
        )
        if unexpected := differences(jars, locked):
            raise EngineError(
                f"Maven resolved other jars for Apache Kafka {release.version} than the lab was tested with.",
                "; ".join(unexpected[:5]) + ("; ..." if len(unexpected) > 5 else ""),
                "Check the Maven repository or mirror that the jars come from.",
            )
        jars.rename(target)


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


@contextmanager
def _exclusive(guard: Path) -> Iterator[None]:
    """Let one process at a time fill or check a cache entry."""
    try:
        guard.parent.mkdir(parents=True, exist_ok=True)
        handle = guard.open("w")
    except OSError as error:
        raise EngineError(
            f"The cache directory {guard.parent} cannot be used.",
            str(error),
            "Set XDG_CACHE_HOME to a directory that can be written.",
        ) from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
