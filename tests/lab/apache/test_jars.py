"""Only tested jars are run, and missing tools are reported."""

from __future__ import annotations

import hashlib
import stat
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from eosctl.errors import UsageError
from eosctl.lab.apache.jars import default_cache_dir, differences, read_lock, resolve_jars
from eosctl.lab.apache.java import ToolResult, find_java, java_major
from eosctl.lab.apache.maven import render_pom
from eosctl.lab.apache.releases import RELEASES, resolve_release
from eosctl.lab.apache.repository import SETTING
from eosctl.lab.engine import EngineError, MissingTool

RELEASE = RELEASES["4.3.1"]


def executable(path: Path, script: str) -> Path:
    path.write_text(script, "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An otherwise empty PATH on which a test may put programs of its own."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv(SETTING, raising=False)
    return directory


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.version)
def test_the_lock_holds_the_release_and_a_logging_backend(release) -> None:
    locked = read_lock(release)
    assert {f"kafka_2.13-{release.version}.jar", f"kafka-tools-{release.version}.jar"} <= locked.keys()
    assert any(name.startswith(("slf4j-reload4j", "log4j-slf4j-impl")) for name in locked)
    assert all(len(digest) == 64 for digest in locked.values())


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.version)
def test_the_project_for_maven_names_each_artifact(release) -> None:
    namespace = {"m": "http://maven.apache.org/POM/4.0.0"}
    project = ET.fromstring(render_pom(release))
    named = {
        ":".join(dependency.findtext(f"m:{part}", "", namespace) for part in ("groupId", "artifactId", "version"))
        for dependency in project.iterfind("m:dependencies/m:dependency", namespace)
    }
    assert named == set(release.artifacts)


def test_differences_name_missing_foreign_and_changed_jars(tmp_path: Path) -> None:
    for name in ("good.jar", "changed.jar", "foreign.jar"):
        (tmp_path / name).write_bytes(name.encode())
    locked = {
        "good.jar": hashlib.sha256(b"good.jar").hexdigest(),
        "changed.jar": hashlib.sha256(b"what it was").hexdigest(),
        "absent.jar": "0" * 64,
    }
    assert differences(tmp_path, locked) == [
        "absent.jar is missing",
        "foreign.jar is not on the list",
        "changed.jar differs from the tested one",
    ]
    assert differences(tmp_path, {}) != []


def test_without_maven_the_message_says_what_to_install(tmp_path: Path, programs: Path) -> None:
    words = r"(?s)4\.3\.1 are not in .*mvn.*apt-get install maven.*EOSCTL_MAVEN_REPOSITORY=https://"
    with pytest.raises(MissingTool, match=words) as missing:
        resolve_jars(RELEASE, tmp_path / "cache")
    assert missing.value.tool == "mvn"


def test_a_failing_maven_is_quoted_and_leaves_no_partial_cache(tmp_path: Path, programs: Path) -> None:
    executable(programs / "mvn", "#!/bin/sh\necho '[ERROR] Unknown host' >&2\nexit 1\n")
    with pytest.raises(EngineError, match=r"(?s)could not deliver Apache Kafka 4\.3\.1.*Unknown host"):
        resolve_jars(RELEASE, tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["4.3.1.guard"]


def test_jars_that_were_never_tested_are_refused(tmp_path: Path, programs: Path) -> None:
    executable(
        programs / "mvn",
        '#!/bin/sh\nfor last; do :; done\n/bin/mkdir "${last#*=}"\n'
        'echo surprise > "${last#*=}/kafka-clients-4.3.1.jar"\n',
    )
    with pytest.raises(EngineError, match="resolved other jars"):
        resolve_jars(RELEASE, tmp_path / "cache")
    assert not (tmp_path / "cache" / "4.3.1").exists()


def test_a_damaged_cache_is_resolved_anew(tmp_path: Path, programs: Path) -> None:
    damaged = tmp_path / "cache" / "4.3.1"
    damaged.mkdir(parents=True)
    (damaged / "kafka-clients-4.3.1.jar").write_bytes(b"cut short")
    with pytest.raises(MissingTool):  # which shows that the damaged jars are not taken
        resolve_jars(RELEASE, tmp_path / "cache")
    assert not damaged.exists()


def test_an_unusable_cache_directory_is_named(tmp_path: Path, programs: Path) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    with pytest.raises(EngineError, match=r"(?s)cannot be used.*XDG_CACHE_HOME"):
        resolve_jars(RELEASE, tmp_path / "file" / "cache")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_CACHE_HOME": "/fast", "HOME": "/home/kim"}, "/fast/eosctl/kafka"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/kim"}, "/home/kim/.cache/eosctl/kafka"),
    ],
)
def test_the_cache_follows_the_base_directory_specification(environment: dict[str, str], expected: str) -> None:
    assert default_cache_dir(environment) == Path(expected)


def test_an_unknown_release_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"(?s)2\.8\.0 is not.*4\.3\.1, 4\.4\.0"):
        resolve_release("2.8.0")


@pytest.mark.parametrize(
    ("banner", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("no version here", None),
    ],
)
def test_the_java_banner_has_the_feature_release(banner: str, major: int | None) -> None:
    assert java_major(banner) == major


def test_without_java_the_message_says_what_to_install(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingTool, match=r"(?s)not found on the PATH.*apt-get install openjdk") as missing:
        find_java(RELEASE)
    assert missing.value.tool == "java"
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(MissingTool, match=r"/nowhere \(JAVA_HOME\)"):
        find_java(RELEASE)


def test_java_home_wins_and_an_old_java_is_refused(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jdk" / "bin").mkdir(parents=True)
    executable(programs / "java", "#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    old = executable(tmp_path / "jdk" / "bin" / "java", "#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    assert find_java(RELEASE) == programs / "java"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    with pytest.raises(EngineError, match=r"needs Java 17 or later.\n.* is Java 11"):
        find_java(RELEASE)
    assert find_java(RELEASES["3.9.2"]) == old


@pytest.mark.parametrize(
    ("stderr", "complaint"),
    [
        ('Exception in thread "main" java.lang.IllegalArgumentException: No such level\n\tat a.B.c\n', "No such level"),
        ("\nUsage: tool --files\n", "Usage: tool --files"),
        ("", "It ended with exit status 1 and said nothing."),
    ],
)
def test_a_tools_complaint_is_its_message_without_the_stack(stderr: str, complaint: str) -> None:
    assert ToolResult(1, "", stderr).complaint == complaint
