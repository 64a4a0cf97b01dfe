"""Archives of classes: one for each Java and release, read where it exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.lab.apache.java import MIB, Runtime
from eosctl.lab.apache.releases import resolve_release


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    java = tmp_path / "java"
    java.write_text("one build")
    return Runtime(java, tmp_path / "kafka" / "4.3.1", resolve_release("4.3.1"))


def test_an_archive_is_read_where_it_exists(runtime: Runtime) -> None:
    runtime.jars.mkdir(parents=True)
    assert not any("Shared" in word for word in runtime.command("kafka.Kafka", heap_bytes=MIB))
    archive = runtime.class_archive
    archive.touch()
    command = runtime.command("kafka.Kafka", heap_bytes=MIB)
    assert f"-XX:SharedArchiveFile={archive}" in command[: command.index("-cp")]


def test_another_build_of_java_has_an_archive_of_its_own(runtime: Runtime) -> None:
    before = runtime.class_archive
    runtime.java.write_text("another build")
    after = runtime.class_archive
    assert before != after
    assert before.parent == after.parent == runtime.jars.parent


def test_the_jvm_logs_nothing_about_an_archive_to_stdout(runtime: Runtime) -> None:
    archive = runtime.class_archive
    runtime.jars.mkdir(parents=True)
    archive.touch()
    assert "-Xlog:disable" in runtime.command("kafka.Kafka", heap_bytes=MIB)
