"""Files of the user go to a home directory, also where the environment does not name one."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.collect.audit_file import audit_file
from eosctl.errors import EosctlError
from eosctl.lab.apache.jars import default_cache_dir
from eosctl.lab.verify.runs import runs_folder
from eosctl.runbooks.journal import runbook_state
from eosctl.sandbox.process.paths import state_root
from eosctl.services.protection import protected_clusters_file
from eosctl.settings.clusters.profiles import profiles_path

PLACES: dict[str, Callable[[], Path]] = {
    "audit file": audit_file,
    "jars": lambda: default_cache_dir(os.environ),
    "runs": runs_folder,
    "runbooks": runbook_state,
    "sandboxes": state_root,
    "protected clusters": protected_clusters_file,
    "profiles": lambda: profiles_path(os.environ),
}


@pytest.fixture(autouse=True)
def no_folders_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "EOSCTL_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("place", PLACES)
def test_files_lie_below_the_home_of_the_environment(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert PLACES[place]().is_relative_to("/home/someone")


@pytest.mark.parametrize("home", [None, "", ".", "somewhere", "~"])
@pytest.mark.parametrize("place", PLACES)
def test_without_a_home_that_of_the_user_counts(place: str, home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    if home is not None:
        monkeypatch.setenv("HOME", home)
    own = pwd.struct_passwd(("someone", "x", os.getuid(), 0, "", "/home/own", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: own)
    assert PLACES[place]().is_relative_to("/home/own")


@pytest.mark.parametrize("place", PLACES)
def test_relative_folders_are_ignored_as_specified(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "relative")
    assert PLACES[place]().is_relative_to("/home/someone")


@pytest.mark.parametrize("place", PLACES)
def test_a_user_without_any_home_has_to_name_one(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(user: int) -> pwd.struct_passwd:
        raise KeyError(user)

    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(EosctlError, match="The home directory is unknown") as refused:
        PLACES[place]()
    assert "Set HOME, or XDG_" in refused.value.next_step
