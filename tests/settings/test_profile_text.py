"""Profiles are added and removed without the loss of comments, order, or a link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eosctl.errors import ConfigFileError
from eosctl.settings.clusters.profile_editing import add_profile, remove_profile
from eosctl.settings.clusters.profiles import read_profiles

COMMENTED = """\
# Clusters of the payments team
profiles:  # one each
  # the old one
  a:
    properties:
      bootstrap.servers: h:1  # moves in May
      client.id: >-
        some
        words
  # the new one
  b:
    protected: true
    properties: {bootstrap.servers: 'h:2'}
# end
"""
TEXTS = {
    "comments": COMMENTED,
    "no line end": COMMENTED.removesuffix("\n# end\n"),
    "CR LF": COMMENTED.replace("\n", "\r\n"),
    "deeper": "profiles:\n    a: {properties: {bootstrap.servers: 'h:1'}}\n    # b\n",
    "none yet": "# mine\nprofiles: {}\n# end\n",
    "flow": "profiles: {a: {properties: {bootstrap.servers: 'h:1'}}}\n",
    "no file": "",
}


def comments(text: str) -> list[str]:
    return re.findall(r"# *([\w ]+)", text)


@pytest.mark.parametrize("kind", TEXTS)
def test_comments_and_other_profiles_stay(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "profiles.yaml"
    if TEXTS[kind]:
        path.write_bytes(TEXTS[kind].encode())
    before = read_profiles(path)
    add_profile(path, "new", {"bootstrap.servers": "h:9"}, protected=True)
    added = read_profiles(path)
    assert {name: added[name] for name in before} == before
    assert added["new"].protected
    assert comments(path.read_text("utf-8")) == comments(TEXTS[kind])
    add_profile(path, "new", {"bootstrap.servers": "h:8"}, protected=False, replace=True)
    assert not read_profiles(path)["new"].protected
    assert comments(path.read_text("utf-8")) == comments(TEXTS[kind])
    for name in [*before, "new"]:
        remove_profile(path, name)
    assert read_profiles(path) == {}
    assert {"Clusters of the payments team", "end"} & {*comments(TEXTS[kind])} <= {*comments(path.read_text("utf-8"))}
    add_profile(path, "again", {"bootstrap.servers": "h:7"}, protected=False)
    assert [*read_profiles(path)] == ["again"]


def test_what_would_lose_comments_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "profiles.yaml"
    path.write_text(text := "# mine\nprofiles: {a: {properties: {bootstrap.servers: 'h:1'}}}\n", "utf-8")
    with pytest.raises(ConfigFileError, match="comments"):
        add_profile(path, "b", {"bootstrap.servers": "h:2"}, protected=False)
    assert path.read_text("utf-8") == text


def test_a_link_stays_and_leads_to_the_new_text(tmp_path: Path) -> None:
    target, link = tmp_path / "dotfiles" / "profiles.yaml", tmp_path / "profiles.yaml"
    target.parent.mkdir()
    target.write_text(COMMENTED, "utf-8")
    link.symlink_to(target)
    add_profile(link, "new", {"bootstrap.servers": "h:9"}, protected=False)
    assert link.is_symlink()
    assert [*read_profiles(target)] == ["a", "b", "new"]


@pytest.mark.parametrize("value", ["'true'", "on please", "1", "[]", ""])
def test_an_unclear_protection_is_refused(value: str, tmp_path: Path) -> None:
    path = tmp_path / "profiles.yaml"
    path.write_text(f"profiles:\n  a:\n    protected: {value}\n    properties: {{bootstrap.servers: 'h:1'}}\n", "utf-8")
    with pytest.raises(ConfigFileError, match="neither true nor false"):
        read_profiles(path)
