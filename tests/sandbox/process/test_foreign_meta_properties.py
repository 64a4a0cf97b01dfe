"""A data directory with a broker's files that Kafka could not have written is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import UsageError
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.sandbox.ticks import Ticks
from eosctl.storage.errors import DamagedFile
from tests.sandbox.harness import VirtualLoop

META = "version=1\nnode.id=1\ncluster.id=abc\n"
MALFORMED = ["directory.id=foo\n", "directory.id=ä\n", "directory.id=\n", "", "directory.id=AAAAAAAAAAAAAAAAAAAAAB\n"]


@pytest.mark.parametrize("line", MALFORMED)
def test_a_malformed_directory_id_is_named_with_its_file(line: str, tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text(META + line, "utf-8")
    with pytest.raises(DamagedFile, match=r"meta\.properties: directory\.id '.*' is not a Kafka UUID"):
        LogDirectory(tmp_path, Ticks(VirtualLoop())).open_directory(1, "abc", bytes(16))


def test_a_sandbox_on_such_files_ends_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "data" / "broker-1").mkdir(parents=True)
    (tmp_path / "data" / "broker-1" / "meta.properties").write_text(META + MALFORMED[0], "utf-8")
    with pytest.raises(UsageError, match="cannot be used") as refused:
        manage.start(SandboxSpec("test", str(tmp_path / "data"), fast=True))
    assert refused.value.exit_code == 2
    assert "directory.id 'foo' is not a Kafka UUID" in refused.value.why
    assert not manage.find_all()
