"""A hunt for secrets: canaries planted wherever secrets live, and no output and no file repeats one."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from typer.main import get_command

from eosctl.cli import app
from eosctl.command_line.lazy import load_command
from eosctl.commands.registry import COMMANDS
from tests.commands.conftest import eosctl

CANARY = re.compile(r"canary-\w+")
APPLICATION = """\
bootstrap.servers=kafka-1:9093
transactional.id=payments-1
enable.idempotence=false
security.protocol=SASL_SSL
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="canary-jaas";
ssl.key.password=canary-key
ssl.truststore.password=canary-trust
ssl.keystore.key=-----BEGIN PRIVATE KEY----- canary-pem -----END PRIVATE KEY-----
basic.auth.user.info=me:canary-registry
confluent.license=canary-licensed
schema.registry.url=https://me:canary-url@registry:8081
"""
SPRING = """\
spring:
  kafka:
    bootstrap-servers: kafka-1:9093
    producer:
      transaction-id-prefix: payments-
      properties:
        sasl.jaas.config: 'Login required password="canary-spring";'
    ssl: {key-store-password: canary-store}
"""
ONE_LINE = (
    '{"name":"c","config":{"connector.class":"io.debezium.connector.mysql.MySqlConnector","producer.override.acks":"1",'
    '"database.password":"canary-line","confluent.license":"canary-license","producer.override.bootstrap.servers":"k:9",'
    '"exactly.once.support":"required","producer.override.enable.idempotence":"true","tasks.max":"1"}}'
)
LOG = """\
2026-11-21 12:00:01,123 ERROR [main] com.acme.Pay: ProducerFencedException at https://me:canary-proxy@proxy:80/topics
2026-11-21 12:00:02,123 INFO [main] ProducerConfig: ProducerConfig values:
\tsasl.jaas.config = Login required password="canary-logged";
\tssl.key.password = canary-dumped
2026-11-21 12:00:03,123 ERROR [main] com.acme.Pay: ProducerFencedException, Authorization: Bearer canary-bearer-token
"""


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of configuration and logs full of canaries, below a home of its own."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("KAFKA_PASSWORD", "canary-environment")
    files = tmp_path / "files"
    files.mkdir()
    (files / "producer.properties").write_text(APPLICATION)
    (files / "connect.json").write_text(ONE_LINE)
    (files / "application.yaml").write_text(SPRING)
    (files / "app.log").write_text(LOG)
    monkeypatch.chdir(files)
    return tmp_path


def written(folder: Path, but: Path) -> Iterator[tuple[Path, str]]:
    """Yield what the program has written, archives unpacked."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_relative_to(but):
            continue
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    yield path / name, archive.read(name).decode(errors="replace")
        else:
            yield path, path.read_text(errors="replace")


FINDING_FORMATS = ("table", "wide", "json", "yaml", "sarif", "github", "markdown")


@pytest.mark.parametrize(
    "command",
    [
        *(("config", "lint", ".", "-o", output) for output in FINDING_FORMATS),
        *(("doctor", ".", "-o", output) for output in (*FINDING_FORMATS, "html", "junit", "prometheus")),
        ("doctor", ".", "--logs", "app.log", "--report", "../out/report.html", "-o", "wide"),
        ("config", "diff", "producer.properties", "application.yaml", "-o", "json"),
        ("config", "diff", "producer.properties", "connect.json"),
        ("config", "fix", "producer.properties"),
        ("config", "fix", "connect.json"),
        ("config", "upgrade", "--from-version", "3.9", "--to-version", "4.3", "."),
        *(("logs", "report", "app.log", "-o", output) for output in ("table", "json", "html", "markdown")),
        ("logs", "exceptions", "app.log", "-o", "json"),
        ("--debug", "doctor", "--snapshot", "producer.properties"),
    ],
    ids=" ".join,
)
def test_no_output_repeats_a_secret(planted: Path, command: tuple[str, ...]) -> None:
    (planted / "out").mkdir()
    try:
        done = eosctl(*command)
        assert done.out + done.err, "it said nothing, so nothing was shown"
        assert CANARY.findall(done.out + done.err) == []
    except Exception as error:
        if "--debug" not in command or isinstance(error, AssertionError):
            raise
        assert CANARY.findall(repr(error) + str(error)) == []
    found = {str(path): CANARY.findall(text) for path, text in written(planted, planted / "files")}
    assert {path: canaries for path, canaries in found.items() if canaries} == {}


def test_the_hunt_itself_finds_what_is_planted(planted: Path) -> None:
    (planted / "out").mkdir()
    with zipfile.ZipFile(planted / "out" / "bundle.zip", "w") as archive:
        archive.writestr("snapshot.json", '{"password": "canary-kept"}')
    found = {canary for _, text in written(planted, planted / "home") for canary in CANARY.findall(text)}
    assert {"canary-kept", "canary-jaas", "canary-spring", "canary-logged"} <= found


SECRET_WORDS = re.compile(r"password|passphrase|secret|token|credential|private", re.IGNORECASE)


def options(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, click.Parameter]]:
    """Yield every option of a command and of those below it, with the words that lead there."""
    for parameter in command.params:
        yield " ".join(path), parameter
    for name, child in getattr(command, "commands", {}).items():
        yield from options(child, (*path, name))


def test_no_option_takes_a_secret_as_a_word() -> None:
    """Arguments are seen by every user of a machine: what is secret comes from a file, or by a reference."""
    found = [
        f"{path} {parameter.opts[0]}"
        for entry in COMMANDS
        for path, parameter in options(load_command(entry), (entry.name,))
        if any(SECRET_WORDS.search(name) for name in parameter.opts)
        and (parameter.metavar or "") not in ("FILE", "PATH", "REFERENCE")
        and not isinstance(parameter.type, click.Path)
    ]
    assert found == []
    assert get_command(app).name == "eosctl"


def test_what_eosctl_writes_of_its_own_is_for_its_user_alone(planted: Path) -> None:
    added = eosctl("profile", "add", "prod", "-b", "kafka-1:9093", "-X", "sasl.password=${env:KAFKA_PASSWORD}")
    assert added.code == 0, added.err
    files = [path for path in (planted / "home").rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if path.stat().st_mode & 0o077] == []
    refused = eosctl("profile", "add", "again", "-b", "kafka-1:9093", "-X", "sasl.password=canary-word")
    assert refused.code == 2
    assert CANARY.findall(refused.out + refused.err) == []
