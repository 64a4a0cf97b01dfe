"""Framework applications with a vetted configuration: Spring Boot, and a Flink job in its own process.

Each copies one topic to another. The framework reads the profile's file, as in production.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import Template
from typing import Final, NamedTuple

from eosctl.lab.apache.jars import resolve_jars
from eosctl.lab.apache.java import find_java
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.settings.clusters.vetted_profiles import load_vetted_profiles
from tests.apache.libraries import library

SOURCES: Final = Path(__file__).with_name("java")
KAFKA: Final = "4.3.1"
SPRING: Final = "spring-kafka-eos"
FLINK: Final = "flink-exactly-once-sink"
# Required by Flink's and Spark's serializers, since Java 17 encapsulates its own classes.
_OPENED: Final = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.util", "java.time", "java.nio")
)
_FLINK_VERSION: Final = "2.2.1"
_FLINK_PARTS: Final = ("clients", "table-api-java-bridge", "table-planner_2.12", "table-runtime", "connector-base")


class Application(NamedTuple):
    """A compiled application.

    Attributes:
        profile: The name of the vetted configuration that it runs with.
        command: The command line without the program's arguments.
    """

    profile: str
    command: tuple[str, ...]


_RELEASES: Final = {
    SPRING: (
        library("spring-4.1.2", "org.springframework.boot:spring-boot-starter-kafka:4.1.2"),
        "SpringCopy",
    ),
    FLINK: (
        library(
            f"flink-{_FLINK_VERSION}",
            *(f"org.apache.flink:flink-{part}:{_FLINK_VERSION}" for part in _FLINK_PARTS),
            "org.apache.flink:flink-connector-kafka:5.0.0-2.2",
        ),
        "FlinkCopy",
    ),
}


def compile_application(profile: str, folder: Path) -> Application:
    """Compile the application of a profile into a folder.

    Raises:
        MissingTool: There is no Java, compiler or Maven.
    """
    javac = shutil.which("javac")
    if javac is None:
        raise MissingTool("javac", "The program that runs the clients must be compiled.", "", "Install a JDK.")
    release, name = _RELEASES[profile]
    path = f"{resolve_jars(release)}/*"
    source = SOURCES / f"{name}.java"
    subprocess.run([javac, "-nowarn", "-proc:none", "-d", str(folder), "-cp", path, str(source)], check=True)
    java = str(find_java(resolve_release(KAFKA)))
    return Application(profile, (java, "-Xmx768m", *_OPENED, "-cp", f"{folder}:{path}", name))


@contextmanager
def copying(
    application: Application, bootstrap: str, topics: tuple[str, str], folder: Path, overrides: Sequence[str] = ()
) -> Iterator[None]:
    """Run an application that copies the first topic to the second; kill it at the end.

    Args:
        application: The application.
        bootstrap: The cluster.
        topics: Input and output topic.
        folder: Its files; a later run with the same folder continues.
        overrides: `name=value` to replace settings of the profile.

    Raises:
        RuntimeError: It ended by itself.
    """
    start = _start_spring if application.profile == SPRING else _start_flink
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    with log.open("w") as output:
        command, environment = start(application, bootstrap, topics, folder, overrides)
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=output, text=True, env={**os.environ, **environment}
        )
    try:
        assert running.stdout is not None
        lines = []
        for line in running.stdout:
            lines.append(line)
            if line.strip() == "running":
                break
        else:
            raise RuntimeError(f"{application.profile} ended: {''.join(lines)[-2000:]}{log.read_text()[-2000:]}")
        yield
        if running.poll() is not None:
            raise RuntimeError(f"{application.profile} ended: {running.stdout.read()[-4000:]}{log.read_text()[-2000:]}")
    finally:
        running.kill()
        running.communicate()


def _text_of(profile: str) -> str:
    return next(known.text for known in load_vetted_profiles() if known.name == profile)


def _start_spring(
    application: Application, bootstrap: str, topics: tuple[str, str], folder: Path, overrides: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Return the command line; Spring fills the placeholders of the file from its environment."""
    file = folder / "application.yml"
    file.write_text(_text_of(application.profile), "utf-8")
    given = [
        f"spring.config.location=file:{file}",
        f"spring.application.name={topics[1]}",
        f"spring.kafka.bootstrap-servers={bootstrap}",
        f"spring.kafka.consumer.group-id={topics[1]}",
        "logging.level.root=ERROR",
        "spring.main.banner-mode=off",
        f"in={topics[0]}",
        f"out={topics[1]}",
        *overrides,
    ]
    return [*application.command, *(f"--{setting}" for setting in given)], {"POD_ORDINAL": "0"}


def _start_flink(
    application: Application, bootstrap: str, topics: tuple[str, str], folder: Path, overrides: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    text = Template(_text_of(application.profile)).substitute(JOB_NAME=topics[1])
    changed = {name: value for name, _, value in (setting.partition("=") for setting in overrides)}
    lines = [line for line in text.splitlines() if line.partition(":")[0] not in changed]
    lines += [f"{name}: {value}" for name, value in changed.items()]
    (folder / "config.yaml").write_text("\n".join(lines) + "\n", "utf-8")
    return [*application.command, str(folder), str(folder / "checkpoints"), bootstrap, *topics], {}
