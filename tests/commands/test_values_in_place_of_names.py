"""What stands in the place of a setting's name may be a part of a value: no message repeats it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import trustme

from eosctl.model.setting_names import is_setting_name, shown_key
from tests.commands.conftest import eosctl

_BEGIN: Final = "bootstrap.servers=127.0.0.1:1\n"


def _key_lines() -> list[str]:
    pem = trustme.CA().issue_cert("localhost").private_key_pem.bytes().decode()
    return [line for line in pem.splitlines() if line and not line.startswith("-----")]


_LINES: Final = _key_lines()
_BLOCK: Final = "-----BEGIN PRIVATE KEY-----\n" + "\n".join(_LINES) + "\n-----END PRIVATE KEY-----\n"
_SECRET: Final = "q7Hunter2tokenXyz99"
#: Files whose secrets are read as names, and what must not be seen of them.
FILES: Final = {
    "pem": (f"{_BEGIN}ssl.keystore.key={_BLOCK}", _LINES),
    "yaml": (f"{_BEGIN}ssl.keystore.key: |\n  " + _BLOCK.replace("\n", "\n  "), _LINES),
    "jaas": (f'{_BEGIN}sasl.jaas.config=L required\n  password\\="{_SECRET}";\n', [_SECRET]),
    "alone": (f"{_SECRET}\n", [_SECRET]),
    "words": ("correct horse battery\n", ["correct", "horse"]),
    "base64": ("c2VjcmV0c2VjcmV0c2Vj\n", ["c2VjcmV0"]),
}
COMMANDS: Final = (
    ("group", "list", "-b", "127.0.0.1:1", "--timeout", "1s", "--command-config", "FILE"),
    ("profile", "add", "mine", "-b", "127.0.0.1:1", "--command-config", "FILE"),
    ("metrics", "show", "http://127.0.0.1:1/metrics", "--credentials", "FILE"),
)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_lines_of_values_are_not_shown(name: str, command: tuple[str, ...], tmp_path: Path) -> None:
    content, secrets = FILES[name]
    file = tmp_path / "client.properties"
    file.write_text(content)
    done = eosctl(*(file if word == "FILE" else word for word in command))
    assert done.code in (1, 2, 4)
    assert done.err
    assert [secret for secret in secrets if secret in done.out + done.err] == []


def test_a_difference_shows_no_line_of_a_key(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_text(f"{_BEGIN}transactional.id=a\n")
    (tmp_path / "b.properties").write_text(f"{_BEGIN}transactional.id=a\nssl.keystore.key={_BLOCK}")
    done = eosctl("config", "diff", tmp_path / "a.properties", tmp_path / "b.properties")
    assert "ssl.keystore.key" in done.out
    assert [line for line in _LINES if line.rstrip("=") in done.out] == []


@pytest.mark.parametrize(
    "name", ["linger.ms", "schema.registry.url", "KAFKA_HEAP_OPTS", "acks", "sasl.login.callback.handler.class"]
)
def test_names_of_settings_are_shown(name: str) -> None:
    assert is_setting_name(name)
    assert shown_key(name) == name
