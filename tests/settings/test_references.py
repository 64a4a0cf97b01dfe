from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import ConfigFileError
from eosctl.model.client_config import Given
from eosctl.settings.values.references import has_reference, resolve_references


def resolve(text: str, **environment: str) -> str:
    return resolve_references(Given(text, "client.properties:3"), environment)


def test_environment_variables_are_put_in_place() -> None:
    assert resolve("${USER_NAME}:${env:WORD}!", USER_NAME="me", WORD="w") == "me:w!"


def test_a_text_without_reference_stays_as_it_is() -> None:
    assert resolve("a$b{c}") == "a$b{c}"
    assert not has_reference("a$b{c}")


def test_a_resolved_value_is_not_resolved_again() -> None:
    assert resolve("${A}", A="${B}", B="x") == "${B}"


def test_files_give_a_whole_text_or_one_key(tmp_path: Path) -> None:
    whole = tmp_path / "password"
    whole.write_text("p w\n")
    keys = tmp_path / "secrets.properties"
    keys.write_text("kafka.password=k:v\n")
    assert resolve(f"${{file:{whole}}}") == "p w"
    assert resolve(f"${{file:{keys}:kafka.password}}") == "k:v"
    assert resolve(f"${{directory:{tmp_path}:password}}") == "p w"


@pytest.mark.parametrize(
    "text", ["${ABSENT}", "${file:/nowhere/at/all}", "${vault:secret/kafka}", "${file:/nowhere:k}"]
)
def test_what_is_not_there_names_the_place_of_the_reference(text: str) -> None:
    with pytest.raises(ConfigFileError) as caught:
        resolve(text)
    assert "cannot be read" in caught.value.what or "client.properties:3" in caught.value.what


def test_a_missing_key_of_a_file_is_named(tmp_path: Path) -> None:
    keys = tmp_path / "secrets.properties"
    keys.write_text("other=hunter2\n")
    with pytest.raises(ConfigFileError, match="no key password") as caught:
        resolve(f"${{file:{keys}:password}}")
    assert "hunter2" not in str(caught.value)
