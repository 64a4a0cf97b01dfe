"""A secret that is not where a file's format wants it appears in no error and no result, by any option with a path.

Each line of such a file is a name, a value, or a syntax error to some reader, and readers name what they do not know.
"""

from __future__ import annotations

import random
from base64 import b64encode
from pathlib import Path
from typing import Final

import pytest

from tests.commands.conftest import eosctl
from tests.commands.every_command import RUNNING, Leaf, leaves, reads_files

BASE: Final = (
    "bootstrap.servers=127.0.0.1:1\ntransactional.id=a\nsocket.connection.setup.timeout.ms=10\n"
    "request.timeout.ms=10\ndefault.api.timeout.ms=20\nretry.backoff.ms=1\n"
)
RANDOM: Final = random.Random(45)
KEY: Final = [b64encode(RANDOM.randbytes(length)).decode() for length in (48, 48, 48, 48, 22, 19)]
TOKEN: Final = "q7" + b64encode(RANDOM.randbytes(24), b"Xy").decode()
HEX: Final = RANDOM.randbytes(20).hex()
CANARIES: Final = (*(line.rstrip("=") for line in KEY), TOKEN, HEX)
PEM: Final = "\n".join(["-----BEGIN PRIVATE KEY-----", *KEY, "-----END PRIVATE KEY-----"])
CONTENTS: Final = {
    "pem.properties": f"{BASE}ssl.keystore.type=PEM\nssl.keystore.key={PEM}\n",
    "first.properties": f"ssl.keystore.key={PEM}\n{BASE}",
    "login.properties": f'{BASE}sasl.jaas.config=x.PlainLoginModule required username="a"\n  password\\="{TOKEN}";\n',
    "words.properties": f"{BASE}{TOKEN}\nsasl.password{HEX}\nBearer {TOKEN}\nhttps\\://u\\:{TOKEN}@host=1\n",
    "block.yaml": f"bootstrap.servers: b:1\nssl.keystore.key: |\n  {PEM.replace(chr(10), chr(10) + '  ')}\n",
    "flat.yaml": f"bootstrap.servers: b:1\nssl.keystore.key: {PEM}\n",
    "open.json": f'{{"bootstrap.servers": "b:1", "ssl.keystore.key": "{PEM}"}}\n',
    "open.toml": f'[kafka]\nkey = "{PEM}"\n',
    "key.pem": f"{PEM}\n",
    "token": f"{TOKEN}\n",
}
READING: Final = [leaf for leaf in leaves() if leaf.name not in RUNNING and reads_files(leaf)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and a working directory with the malformed files."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    files = tmp_path / "files"
    files.mkdir()
    for name, content in CONTENTS.items():
        (files / name).write_text(content)
    monkeypatch.chdir(files)
    return tmp_path / "home"


def left_in(text: str) -> list[str]:
    return [canary for canary in CANARIES if canary in text]


@pytest.mark.parametrize("leaf", READING, ids=lambda leaf: leaf.name)
@pytest.mark.usefixtures("home")
def test_a_malformed_file_keeps_its_secret(leaf: Leaf) -> None:
    found = {}
    for name in CONTENTS:
        for words in reads_files(leaf, name):
            done = eosctl(*leaf.words, *words)
            if left := left_in(done.out + done.err):
                found[" ".join([*leaf.words, *words])] = (left, done.err[:200])
    assert found == {}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_client_file_is_named_by_its_lines(home: Path, name: str) -> None:
    listed = eosctl("group", "list", "-b", "127.0.0.1:1", "--timeout", "20ms", "--command-config", name)
    assert listed.code == 1, listed.err
    assert left_in(listed.out + listed.err) == []
    added = eosctl("profile", "add", "prod", "-b", "127.0.0.1:1", "--command-config", name)
    assert added.code == 2, added.err
    assert f"{name}:" in added.err or "ssl.keystore.key is or contains a secret" in added.err
    assert left_in(added.err + "".join(file.read_text() for file in home.rglob("*.yaml"))) == []


@pytest.mark.usefixtures("home")
def test_a_credentials_file_is_named_by_its_line() -> None:
    for name in CONTENTS:
        done = eosctl("metrics", "show", "http://127.0.0.1:1/metrics", "--credentials", name)
        assert (done.code, left_in(done.err)) == (2, []), done.err
        assert f"{name}:" in done.err


@pytest.mark.usefixtures("home")
def test_the_difference_masks_lines_of_a_key() -> None:
    Path("good.properties").write_text(BASE)
    done = eosctl("config", "diff", "good.properties", "pem.properties")
    assert (done.code, left_in(done.out)) == (0, [])
    assert done.out.count("pem.properties:") >= len(KEY)
