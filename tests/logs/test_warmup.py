"""``eosctl logs warmup``: the archive of classes is kept whole or not at all, and found again."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.cli import main
from eosctl.services import warm_up
from spark_log_analytics.session import LOCAL_JAVA, fits_sockets, local_java
from spark_log_analytics.warm import class_archive

SUBMIT = """#!/bin/sh
for word in "$@"; do
    case "$word" in *ArchiveClassesAtExit=*) archive="${word#*ArchiveClassesAtExit=}"; archive="${archive%% *}";; esac
done
STATUS
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a Java of its own and a Spark whose submissions end with what ``status`` says."""
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    java.chmod(0o755)
    (tmp_path / "spark" / "bin").mkdir(parents=True)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(warm_up, "spark_obstacle", lambda: None)
    return tmp_path


def submits(home: Path, ending: str) -> None:
    program = home / "spark" / "bin" / "spark-submit"
    program.write_text(SUBMIT.replace("STATUS", ending))
    program.chmod(0o755)


def environment(home: Path) -> dict[str, str]:
    return {"JAVA_HOME": str(home / "java"), "XDG_CACHE_HOME": str(home / "cache")}


def test_the_archive_is_kept_for_the_local_session(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submits(home, 'echo classes > "$archive"')
    assert local_java(environment(home)) == LOCAL_JAVA
    assert main(["logs", "warmup"]) == 0
    archive = class_archive(environment(home))
    assert archive is not None
    assert archive.read_text() == "classes\n"
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]
    assert str(archive) in capsys.readouterr().out
    assert f"-XX:SharedArchiveFile={archive}" in local_java(environment(home))
    # Another Java reads other archives.
    (home / "java" / "bin" / "java").write_text("#!/bin/sh\n# another\n")
    assert local_java(environment(home)) == LOCAL_JAVA


@pytest.mark.parametrize("ending", ["exit 0", 'echo half > "$archive"; echo no space left >&2; exit 3'])
def test_half_an_archive_is_none(home: Path, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    submits(home, ending)
    assert main(["logs", "warmup"]) == 1
    assert "wrote no archive" in capsys.readouterr().err
    assert local_java(environment(home)) == LOCAL_JAVA
    assert list((home / "cache" / "eosctl" / "spark").iterdir()) == []


def test_sockets_are_used_where_their_paths_are_short_enough() -> None:
    assert fits_sockets(Path("/" + "d" * 63))
    assert not fits_sockets(Path("/" + "d" * 64))
