from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import ConfigFileError, UsageError
from eosctl.settings.clusters.client_resolution import resolve_client
from eosctl.settings.clusters.profile_editing import add_profile
from eosctl.settings.clusters.profiles import is_plain_secret, profiles_path, read_profiles


def test_a_profile_may_refer_to_a_secret_but_not_hold_it(tmp_path: Path) -> None:
    path = tmp_path / "profiles.yaml"
    path.write_text("profiles:\n  a:\n    properties:\n      sasl.password: hunter2\n")
    with pytest.raises(ConfigFileError) as caught:
        read_profiles(path)
    assert "hunter2" not in str(caught.value)
    path.write_text("profiles:\n  a:\n    properties:\n      sasl.password: ${P}\n")
    assert read_profiles(path)["a"].properties["sasl.password"].text == "${P}"


@pytest.mark.parametrize(
    ("key", "value", "is_refused"),
    [
        ("bootstrap.servers", "me:hunter2@b:9092", True),
        ("schema.registry.url", "https://me:hunter2@registry", True),
        ("schema.registry.basic.auth.user.info", "me:hunter2", True),
        ("ssl.key.pem", "hunter2", True),
        ("schema.registry.url", "https://me:${PASSWORD}@registry", False),
        ("ssl.ca.pem", "-----BEGIN CERTIFICATE-----", False),
        ("sasl.jaas.config", 'a.b.Krb5LoginModule required useKeyTab=true keyTab="/k" principal="ops@R";', False),
        ("sasl.jaas.config", 'a.b.ScramLoginModule required username="u" password="p";', True),
        ("sasl.jaas.config", 'a.b.OAuthBearerLoginModule required clientSecret="p";', True),
        ("sasl.jaas.config", "hunter2", True),
        ("sasl.oauthbearer.client.credentials.client.id", "me", False),
    ],
)
def test_no_form_of_a_secret_enters_a_profile(key: str, value: str, is_refused: bool, tmp_path: Path) -> None:
    assert is_plain_secret(key, value) is is_refused
    path = tmp_path / "profiles.yaml"
    if is_refused:
        with pytest.raises(UsageError, match="secret"):
            add_profile(path, "a", {key: value}, protected=False)
        path.write_text(f"profiles:\n  a:\n    properties:\n      {key}: {value}\n")
        with pytest.raises(ConfigFileError, match="secret"):
            read_profiles(path)
    else:
        add_profile(path, "a", {key: value}, protected=False)
        assert read_profiles(path)["a"].properties[key].text == value


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "[]",
        "profiles: 3",
        "profiles:\n  a: 1",
        "profiles:\n  a:\n    properties: {}\n    password: x",
        "profiles:\n  a:\n    protected: true",
        "\0",
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "profiles.yaml"
    path.write_text(text)
    with pytest.raises(ConfigFileError):
        read_profiles(path)


def test_a_missing_file_has_no_profiles(tmp_path: Path) -> None:
    assert read_profiles(tmp_path / "absent.yaml") == {}
    with pytest.raises(ConfigFileError, match="Unknown profile 'prod'"):
        resolve_client({"EOSCTL_CONFIG_DIR": str(tmp_path)}, profile="prod")


def test_no_profile_is_chosen_unasked(tmp_path: Path) -> None:
    (tmp_path / "profiles.yaml").write_text("profiles:\n  only:\n    properties:\n      bootstrap.servers: b:1\n")
    with pytest.raises(ConfigFileError, match="No bootstrap address"):
        resolve_client({"EOSCTL_CONFIG_DIR": str(tmp_path)})


def test_the_file_lies_in_the_users_configuration_directory() -> None:
    assert profiles_path({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}) == Path("/x/eosctl/profiles.yaml")
    assert profiles_path({"HOME": "/h"}) == Path("/h/.config/eosctl/profiles.yaml")
    assert profiles_path({"EOSCTL_CONFIG_DIR": "/c", "HOME": "/h"}) == Path("/c/profiles.yaml")
