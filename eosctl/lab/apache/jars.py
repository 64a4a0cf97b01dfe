"""The class path of a Kafka release, fetched once and verified by committed checksums."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from eosctl.lab.apache.maven import resolve_by_maven
from eosctl.lab.apache.releases import KafkaRelease
from eosctl.lab.apache.repository import SETTING, Repository, download, parse_repository
from eosctl.lab.engine import EngineError, MissingTool
from eosctl.user_folders import cache_home

Progress = Callable[[str], None]


def ignore_progress(_: str) -> None:
    """Ignore progress."""


def default_cache_dir(environment: Mapping[str, str]) -> Path:
    """Return the cache directory of jars, after the XDG base directory specification."""
    return cache_home(environment) / "eosctl" / "kafka"


def resolve_jars(release: KafkaRelease, cache_dir: Path | None = None, progress: Progress = ignore_progress) -> Path:
    """Return the directory with every jar of a release; fetch missing ones.

    They come from the user's repository (`EOSCTL_MAVEN_REPOSITORY`), else from Maven. They must match the committed
    lock file exactly, on the first resolution and on every later use.

    Args:
        release: The release to run.
        cache_dir: Where resolved releases are kept; by default the user's cache directory.
        progress: Receives the progress.

    Raises:
        UsageError: The setting is not an address.
        EngineError: There is neither a repository nor Maven, fetching fails, or a jar does not match its checksum.
    """
    cache_dir = cache_dir or default_cache_dir(os.environ)
    target = cache_dir / release.version
    locked = read_lock(release)
    with _exclusive(cache_dir / f"{release.version}.guard"):
        if not target.is_dir():
            _resolve(release, target, locked, progress)
        elif differences(target, locked):
            shutil.rmtree(target)
            _resolve(release, target, locked, progress)
    return target


def is_cached(release: KafkaRelease, cache_dir: Path | None = None) -> bool:
    """Return whether the jars of a release are cached."""
    return ((cache_dir or default_cache_dir(os.environ)) / release.version).is_dir()


def source_of_jars(environment: Mapping[str, str]) -> str:
    """Return the source of missing jars for display, without credentials; empty without one."""
    repository = _repository(environment)
    if repository is not None:
        return f"from {repository.url}"
    return "with Maven" if shutil.which("mvn", path=environment.get("PATH")) else ""


def read_lock(release: KafkaRelease) -> dict[str, str]:
    """Return the SHA-256 (hex) of each jar with which the lab was tested."""
    return {PurePosixPath(place).name: digest for place, digest in _read_places(release).items()}


def _read_places(release: KafkaRelease) -> dict[str, str]:
    """Return the SHA-256 (hex) of each jar by its path in a Maven repository; a lock file may omit the folders."""
    return {place: digest for digest, place in (line.split() for line in release.lock.read_text("utf-8").splitlines())}


def differences(directory: Path, locked: Mapping[str, str]) -> list[str]:
    """Return the differences between the jars of a directory and the lock file; empty without any."""
    found = {path.name for path in directory.glob("*.jar")}
    missing = [f"{name} is missing" for name in sorted(locked.keys() - found)]
    unknown = [f"{name} is not on the list" for name in sorted(found - locked.keys())]
    changed = [
        f"{name} differs from the tested one"
        for name in sorted(locked.keys() & found)
        if _sha256(directory / name) != locked[name]
    ]
    return missing + unknown + changed


def _repository(environment: Mapping[str, str]) -> Repository | None:
    setting = environment.get(SETTING, "")
    return parse_repository(setting) if setting.strip() else None


def _resolve(release: KafkaRelease, target: Path, locked: Mapping[str, str], progress: Progress) -> None:
    """Fill a temporary directory, and move it into place only if it contains the locked jars."""
    repository, maven = _repository(os.environ), shutil.which("mvn")
    with tempfile.TemporaryDirectory(prefix=f"{release.version}-", dir=target.parent) as scratch:
        if repository is not None:
            jars = Path(scratch) / "jars"
            jars.mkdir()
            download(repository, _read_places(release), jars, progress)
        elif maven is not None:
            jars = resolve_by_maven(maven, release, Path(scratch))
        else:
            raise MissingTool(
                "mvn",
                f"The jars of Apache Kafka {release.version} are not in {target.parent}.",
                f"Maven (mvn) fetches them and is not on the PATH, nor is {SETTING} set.",
                f"Install Maven, e.g. apt-get install maven, or name a Maven repository: {SETTING}=https://HOST/PATH",
            )
        if unexpected := differences(jars, locked):
            raise EngineError(
                f"Maven resolved other jars for Apache Kafka {release.version} than the lab was tested with.",
                "; ".join(unexpected[:5]) + ("; ..." if len(unexpected) > 5 else ""),
                "Check the Maven repository or mirror that the jars come from.",
            )
        jars.rename(target)


@contextmanager
def _exclusive(guard: Path) -> Iterator[None]:
    """Lock a cache entry, so that one process at a time fills or checks it."""
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
