"""A configuration file that ends within a line never counts as judged in full."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.settings.formats.properties_file import cut_line
from tests.commands.conftest import eosctl

BODIES = {
    "app.properties": "bootstrap.servers=a:9092\ntransactional.id=x\nacks=all\n",
    "app.conf": "bootstrap.servers=a:9092\ntransactional.id=x\nacks=all\n",
    "app.ini": "[kafka]\nbootstrap.servers=a:9092\ntransactional.id=x\nacks=all\n",
    "app.yaml": "spring:\n  kafka:\n    bootstrap-servers: a:1\n    producer:\n      transaction-id-prefix: x\n",
    "app.json": '{"bootstrap.servers": "a:1", "transactional.id": "x", "acks": "all", ',
    "app.env": "KAFKA_BOOTSTRAP_SERVERS=a:9092\nKAFKA_TRANSACTIONAL_ID=x\n",
    "app.toml": "[kafka]\nbootstrap_servers = 'a:9092'\ntransactional_id = 'x'\n",
    "app.hocon": "kafka { bootstrap.servers = a\n transactional.id = x\n",
}
ENDS = {"app.yaml": "      ac", "app.json": '"enable.i', "app.hocon": " enable.i"}


@pytest.mark.parametrize("name", BODIES)
def test_a_file_that_ends_within_a_name_is_incomplete(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(BODIES[name] + ENDS.get(name, "enable.i"), "utf-8")
    done = eosctl("config", "lint", file, "--require-complete")
    assert done.code in (2, 4), done.out
    assert str(file) in done.out + done.err
    diagnosed = eosctl("doctor", file)
    assert "Grade A" not in diagnosed.out


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("acks=all\nenable.i", 2), ("acks=all\r\nenable.i", 2), ("a=b\nretries=\\", 2), ("a=b\n  retries  ", 2),
        ("", None), ("a=b", None), ("a=b\nretries=", None), ("a=b\nretries 3", None), ("a=b\n# retries", None),
        ("a=b\nretries\n", None), ("[kafka]", None), ("a=b,\\\n  c", None), ("a=b\n}", None), ("a=b\n\n", None),
        ("a=b\nc\\\\", None),
    ],
)  # fmt: skip
def test_only_what_cannot_be_whole_is_cut(text: str, line: int | None) -> None:
    assert cut_line(text) == line
