"""Secrets in text are masked wherever they stand, in time that is linear in the length of the text."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings

from eosctl.collect.bundles.redaction import redacted_lines
from eosctl.model.redaction import redact_address, redact_line, redact_text
from tests.commands.conftest import eosctl
from tests.security.positions import BARE, BOUNDED, CANARY, IN_ADDRESSES, pem, planted


@given(planted())
@settings(max_examples=600, deadline=None)
def test_a_secret_is_masked_in_every_position(chosen: tuple[str, str]) -> None:
    position, text = chosen
    assert CANARY in text
    masked = redact_text(text)
    assert CANARY not in masked, position
    assert "[hidden]" in masked
    assert CANARY.encode() not in redact_line(text.encode())


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('failed: password="two words" (a.B)', 'failed: password="[hidden]" (a.B)'),
        (r'{"m":"x password=\"two \\\"w\\\" s\" y","z":1}', r'{"m":"x password=\"[hidden]\" y","z":1}'),
        ("url https://me:p@ss/w@host:80/x?y=1 down", "url https://me:[hidden]@host:80/x?y=1 down"),
        ("a://u:p@h1:1,b://v:q@h2:2 x", "a://u:[hidden]@h1:1,b://v:[hidden]@h2:2 x"),
        ("failed: password = two words (a.B)", "failed: password = [hidden] (a.B)"),
        ("failed: password = two words, user = me", "failed: password = [hidden], user = me"),
        ("IDENTIFIED BY 'a b' x", "IDENTIFIED BY '[hidden]' x"),
        ("alter user bob identified by x", "alter user bob identified by [hidden]"),
        ("pass\u200bword\u00a0=\u00a0x y", "pass\u200bword\u00a0=\u00a0[hidden]"),
        ("curl -u me:x http://h", "curl -u me:[hidden] http://h"),
        ("a: 1\npassword: |\n  x\n  y\nb: 2", "a: 1\npassword: [hidden]\nb: 2"),
        ("k = -----BEGIN EC PRIVATE KEY----- MI -----END EC PRIVATE KEY----- (a.B)", "k = [hidden] (a.B)"),
        ("\tssl.key.password = two words\n\tacks = all", "\tssl.key.password = [hidden]\n\tacks = all"),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, masked: str) -> None:
    assert redact_text(text) == masked
    assert redact_text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "\tssl.key.password = null",
        "sasl.jaas.config = [hidden]",
        "org.apache.kafka.common.errors.DelegationTokenExpiredException: Delegation Token is expired.",
        "at com.acme.SecretStore.load(SecretStore.java:10)",
        "http://host:8080/path?mail=me@example.org",
        "controller.quorum.voters=1@localhost:9093,2@localhost:9094",
        "basic authentication failed for java.lang.Object@1f2e3d",
        "user name and password authentication failed, with password of length 8",
        "the password is not set; bypass=true; 12 partitions were assigned: sign=1",
        "kafka-topics -p 3 -u me -a",
        "the member identified by group.instance.id shop-1 was identified as a leader",
        "Initialized transactionalId shop-0 with producerId 4 and epoch 0",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert redact_text(text) == text


def test_an_address_keeps_its_user_and_host() -> None:
    assert redact_address("alice:p@ss:w/x@host:9092") == "alice:[hidden]@host:9092"
    assert redact_address("kafka://token@host:9092") == "kafka://[hidden]@host:9092"
    assert redact_address("host:9092") == "host:9092"


HOSTILE = (
    "password=", 'password="', "password: 'x ", "token=[", 'token={"', "secret\\", '"\\', "secret.", "<password>",
    "password</a><a>", "--password ", "http://a:", "http://a:1/", "eyJ-", "eyJaaaaaaaaa.", "jdbc:oracle:x:a/", "@a:1",
    "a:b@h:1", "password = ", "password: |\n a\n", "password: |\n", "  a\n", ";password=a ",
    "and password ", "password is ", "identified by ", "!a ", " -p", "mysql -pa", " -u a:",
    " -u", "\u200b", "pass\u200bword=", "\u00a0", "\\\n",
    "-----END KEY-----", "aaaaaaaaaaaaaaaaaaaa\\n", "http://a@b ", "sig=a&", "-----BEGIN KEY-----", "-----",
    "basic a", "x", "password  ", "=@",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    def processor_time(size: int) -> float:
        text = unit * (size // len(unit)) + "@"
        started = time.process_time()
        redact_text(text)
        return time.process_time() - started

    small, large = (min(processor_time(size) for _ in range(3)) for size in (25_000, 200_000))
    # Eight times the text: eight times the time, where quadratic would be 64 times.
    assert large < 24 * max(small, 0.001)


def test_values_of_several_lines_vanish_from_a_log(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    body = pem("x", "\n").partition("\n")[2]
    values = (
        f"password: |\n  {CANARY}\n  {CANARY}\nnext", f"password=\\\n   {CANARY}\nnext",
        f"a: b \\\n  c password = a \\\n  {CANARY}\nnext", f"failed: {CANARY * 4}\n{body} (a.B)\nnext",
    )  # fmt: skip
    log.write_text("".join(f"before\n{value}\n" for value in values))
    text = b"".join(redacted_lines(log, 1 << 20)).decode()
    assert CANARY not in text
    assert (text.count("before"), text.count("next")) == (len(values), len(values))
    assert text.count("\n") == log.read_text().count("\n")


def test_pem_blocks_of_several_lines_vanish_from_a_log(tmp_path: Path) -> None:
    block = pem("x", "\n").replace("-----END", "another thread logs (a.B)\n-----END")
    wrapped = "".join(f'{{"log":"{line}\\n","stream":"stdout"}}\n' for line in pem("y", "\n").splitlines())
    log = tmp_path / "app.log"
    log.write_text(f"before\nkey: {block} after\n{wrapped}behind\n")
    text = b"".join(redacted_lines(log, 1 << 20)).decode()
    assert CANARY not in text
    assert [word in text for word in ("before", "another thread logs", " after", "behind")] == [True] * 4
    assert text.count("\n") == log.read_text().count("\n")
    cut = b"".join(redacted_lines(log, log.stat().st_size - 48)).decode()
    assert CANARY not in cut
    assert "another thread logs" in cut


TEXTS = (
    *(position(f'{CANARY} two "quoted" \\ {CANARY}') for position in BOUNDED.values()),
    *(position(f"{CANARY}-{CANARY}") for position in BARE.values()),
    *(position(f"{CANARY}p@ss/w:{CANARY}") for position in IN_ADDRESSES.values()),
)
FORMATS = ("table", "wide", "json", "yaml", "tsv", "html", "markdown")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of errors with a secret in each position, in messages and in the lines that follow."""
    path = tmp_path_factory.mktemp("logs") / "app.log"
    fenced = "org.apache.kafka.common.errors.ProducerFencedException"
    with path.open("w") as file:
        for number, text in enumerate(TEXTS):
            head = f"2026-11-21 12:00:{number % 60:02d},000 ERROR [Producer clientId=a, transactionalId=t-{number % 3}]"
            file.write(f"{head} Error: {text}\n{fenced}: refused\n")
            file.write(f"{head} failed\n{fenced}: {text}\n\tat a.B.c(B.java:1)\nCaused by: a.BException: {text}\n")
            file.write(f"{head} {fenced}: {text}\n")
    return path


@pytest.mark.parametrize(
    "command",
    [
        *(("logs", "report", "LOG", "-o", form) for form in FORMATS),
        *(("logs", "scan", "LOG", "-o", form) for form in ("table", "wide", "json", "tsv")),
        *(("logs", "exceptions", "LOG", "-o", form) for form in ("table", "json", "tsv")),
        *(("doctor", "--logs", "LOG", "-o", form) for form in ("wide", "json", "html", "markdown", "sarif")),
    ],
    ids=" ".join,
)
def test_no_command_repeats_a_secret_of_a_log(log: Path, command: tuple[str, ...]) -> None:
    done = eosctl(*(log if word == "LOG" else word for word in command))
    assert done.code in (0, 3), done.err
    assert done.out
    assert CANARY not in done.out + done.err


@pytest.mark.parametrize(
    "command",
    [
        ("logs", "report", "kafka://alice:CANARYpw@127.0.0.1:1/logs"),
        ("logs", "report", "kafka://alice:CANARY@pw@127.0.0.1/logs?x=y"),
        ("logs", "scan", "kafka://alice:CANARYpw@127.0.0.1:1"),
        ("logs", "report", "https://alice:CANARYpw@127.0.0.1:1/logs"),
        ("doctor", "-b", "alice:CANARY/pw@broker"),
        ("doctor", "-b", "alice:CANARYpw@broker:9092,other:9092", "-o", "json"),
        ("txn", "list", "-b", "SASL_SSL://alice:CANARYpw@broker:9092"),
        ("doctor", "--jmx", "http://alice:CANARYpw@broker:9404/metrics"),
        ("decode", "segment", "https://alice:CANARYpw@broker/x.log"),
        ("config", "lint", "https://alice:CANARYpw@broker/x.properties"),
        ("snapshot", "show", "https://alice:CANARYpw@broker/x.zip"),
    ],
    ids=" ".join,
)
def test_no_error_repeats_a_password_of_the_command_line(command: tuple[str, ...]) -> None:
    done = eosctl(*command)
    assert done.code in (1, 2, 4)
    assert done.err
    assert CANARY not in done.out + done.err
