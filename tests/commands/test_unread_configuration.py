"""A configuration file that was not read, or whose content is elsewhere, is never a clean result."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from tests.commands.conftest import eosctl

BAD = "bootstrap.servers=b:9092\ntransactional.id=payments-1\nenable.idempotence=false\nacks=1\n"
GOOD = "bootstrap.servers=b:9092\ntransactional.id=orders-1\n"
#: Not read: the bytes are not a text of settings.
UNREADABLE = {
    "ebcdic": BAD.encode("cp037"), "ebcdic-500": BAD.encode("cp500"), "nuls": b"\0" * 4096,
    "all-bits": b"\xff" * 5000, "utf-16-without-a-mark": BAD.encode("utf-16-le"), "empty": b"",
    "blank": b" \n\t\r\n", "mark-alone": b"\xef\xbb\xbf",
    "mark-and-blanks": b"\xef\xbb\xbf \r\n", "utf-16-mark-alone": b"\xff\xfe", "gzip": gzip.compress(BAD.encode()),
}  # fmt: skip
#: The content stands elsewhere, or only its owner can read it.
SEALED = {
    "git-lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 1234\n",
    "git-annex": b"/annex/objects/SHA256E-s12--abc.properties\n",
    "git-annex-link": b"../.git/annex/objects/x/y/SHA256E-s12--abc.properties\n",
    "ansible-vault": b"$ANSIBLE_VAULT;1.1;AES256\n663864396532363364626265666530633361646639663032313639\n",
    "pgp": b"-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n",
    "age": b"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n",
}
NAMES = ("producer.properties", "kafka.conf", "application-prod.yml", "connect-worker.env")


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("name", ["producer.properties", "producer.yml"])
def test_what_is_not_text_is_named(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(UNREADABLE[kind])
    (tmp_path / "good.properties").write_text(GOOD)
    for words in (("config", "lint", path), ("config", "lint", tmp_path / "good.properties", path), ("doctor", path)):
        done = eosctl(*words)
        assert done.code == 2, (words, done.out)
        assert name in done.err


@pytest.mark.parametrize(
    "kind", [kind for kind, raw in UNREADABLE.items() if raw.strip(b" \t\r\n\xef\xbb\xbf\xff\xfe")]
)
@pytest.mark.parametrize("name", ["producer.properties", "kafka.yml"])
def test_it_is_named_in_a_folder(kind: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(UNREADABLE[kind])
    (tmp_path / "good.properties").write_text(GOOD)
    for command in (("config", "lint"), ("doctor",)):
        done = eosctl(*command, tmp_path)
        assert done.code == 2, done.out
        assert name in done.out + done.err


@pytest.mark.parametrize("kind", SEALED)
@pytest.mark.parametrize("name", NAMES)
def test_a_sealed_file_is_not_understood(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(SEALED[kind])
    assert eosctl("config", "lint", path).code == 2
    assert eosctl("doctor", path).code == 2
    (tmp_path / "good.properties").write_text(GOOD)
    for command in (("config", "lint"), ("doctor",)):
        for places in ((tmp_path,), (tmp_path / "good.properties", path)):
            done = eosctl(*command, *places, "--require-complete")
            assert done.code in (2, 4), done.out
            assert name in done.out + done.err


@pytest.mark.parametrize("text", ["x: 1\n", "<html>404</html>\n", "{}", "- 1\n", "The quick fox.\n", "null\n"])
def test_nothing_judged_is_not_complete(text: str, tmp_path: Path) -> None:
    path = tmp_path / "values.yml"
    path.write_text(text)
    done = eosctl("config", "lint", path)
    assert "Nothing was judged" in done.out + done.err
    assert eosctl("config", "lint", path, "--require-complete").code in (2, 4)


def test_a_vault_of_other_tools_passes_the_hook(tmp_path: Path) -> None:
    path = tmp_path / "vault.yml"
    path.write_bytes(SEALED["ansible-vault"])
    assert eosctl("config", "lint", path).code == 0


def test_a_text_in_a_string_of_json_is_not_edited(tmp_path: Path) -> None:
    path = tmp_path / "app.properties"
    path.write_text('"' + BAD.replace("\n", "\\n") + '"')
    before = path.read_bytes()
    done = eosctl("config", "fix", path, "--yes")
    assert done.code in (0, 2, 3)
    assert "failed" not in done.err
    assert path.read_bytes() == before


@pytest.mark.parametrize("output", ["table", "json", "html", "markdown", "sarif", "github", "junit", "prometheus"])
@pytest.mark.parametrize("kind", ["ebcdic", "nuls", "gzip"])
def test_no_grade_covers_a_file_that_was_not_read(kind: str, output: str, tmp_path: Path) -> None:
    (tmp_path / "kafka.properties").write_bytes(UNREADABLE[kind])
    (tmp_path / "good.properties").write_text(GOOD)
    done = eosctl("doctor", tmp_path, "-o", output)
    assert done.code == 2
    assert not re.search("[Gg]rade A|A \\(100", done.out)
    if output == "json":
        assert (done.json["grade"]["letter"], done.json["evidence"]["complete"]) == ("-", False)
    if output in ("json", "html", "sarif", "github", "junit"):
        assert "kafka.properties" in done.out


def test_a_file_not_understood_limits_the_grade(tmp_path: Path) -> None:
    (tmp_path / "good.properties").write_text(GOOD)
    assert eosctl("doctor", tmp_path, "-o", "json").json["grade"]["letter"] == "A"
    (tmp_path / "kafka.json").write_text('{"brokers": "kafka:9092", "x": ["transactional.id"]}')
    found = eosctl("doctor", tmp_path, "-o", "json").json
    assert found["not_understood"] == [str(tmp_path / "kafka.json")]
    assert (found["grade"]["letter"], found["evidence"]["complete"]) == ("B", False)
