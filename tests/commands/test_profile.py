"""Profiles: added, shown without secrets, used, protected, removed."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import jsonschema
import pytest

from tests.commands.conftest import eosctl

ROOT = Path(__file__).parents[2]


def profiles_file(home: Path) -> Path:
    return home / "config" / "eosctl" / "profiles.yaml"


def test_from_adding_to_removing(own_home: Path) -> None:
    assert "No profiles" in eosctl("profile", "list").out
    assert eosctl("profile", "add", "dev", "-b", "127.0.0.1:1").code == 0
    added = eosctl(
        "profile", "add", "prod", "-b", "127.0.0.1:2", "--protected", "-X", "sasl.password=${file:/run/secret}"
    )
    assert added.code == 0
    assert [row[:3] for row in eosctl("profile", "list", "-o", "tsv").rows] == [
        ["dev", "no", "127.0.0.1:1"],
        ["prod", "yes", "127.0.0.1:2"],
    ]
    assert stat.S_IMODE(profiles_file(own_home).stat().st_mode) == 0o600
    assert eosctl("profile", "remove", "dev").code == 0
    (left,) = eosctl("profile", "list", "-o", "json").json["items"]
    assert (left["name"], left["protected"]) == ("prod", True)


def test_it_is_what_other_commands_use() -> None:
    eosctl("profile", "add", "dev", "-b", "127.0.0.1:1")
    done = eosctl("doctor", "--profile", "dev", "--timeout", "2s")
    assert done.code == 1
    assert "127.0.0.1:1 (profile dev)" in done.err


def test_no_secret_is_stored_or_shown(own_home: Path, tmp_path: Path) -> None:
    refused = eosctl("profile", "add", "p", "-b", "h:1", "-X", "sasl.password=hunter2")
    assert refused.code == 2
    assert not profiles_file(own_home).exists()
    client = tmp_path / "client.properties"
    client.write_text("bootstrap.servers=h:1\nsasl.jaas.config=x required password='hunter2';\n", "utf-8")
    both = refused.out + refused.err + eosctl("profile", "add", "p", "--command-config", client).err
    assert "hunter2" not in both
    eosctl("profile", "add", "p", "-b", "h:1", "-X", "sasl.password=${env:WORD}")
    for output in ("table", "wide", "json", "yaml", "tsv"):
        assert "WORD" not in eosctl("profile", "show", "p", "-o", output).out


def test_an_existing_one_is_replaced_only_when_asked() -> None:
    eosctl("profile", "add", "p", "-b", "h:1")
    refused = eosctl("profile", "add", "p", "-b", "h:2")
    assert (refused.code, "--replace" in refused.err) == (2, True)
    assert eosctl("profile", "add", "p", "-b", "h:2", "--replace").code == 0
    assert eosctl("profile", "list", "-o", "json").json["items"][0]["bootstrap_servers"] == "h:2"


def test_json_follows_its_schema() -> None:
    eosctl("profile", "add", "p", "-b", "h:1")
    schema = json.loads((ROOT / "docs" / "schemas" / "profiles.json").read_text("utf-8"))
    for arguments in (("list",), ("show", "p")):
        jsonschema.validate(eosctl("profile", *arguments, "-o", "json").json, schema)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("add", "p"), "bootstrap.servers"),
        (("add", "a b", "-b", "h:1"), "is not a profile name"),
        (("add", "p", "-b", "h:1", "-X", "x"), "KEY=VALUE"),
        (("show", "p"), "Unknown profile"),
        (("remove", "p"), "Unknown profile"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], told: str, own_home: Path) -> None:
    done = eosctl("profile", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert not profiles_file(own_home).exists()


def test_a_damaged_file_is_left_as_it_is(own_home: Path) -> None:
    path = profiles_file(own_home)
    path.parent.mkdir(parents=True)
    path.write_text("profiles: 7\n", "utf-8")
    assert eosctl("profile", "add", "p", "-b", "h:1").code == 2
    assert path.read_text("utf-8") == "profiles: 7\n"
