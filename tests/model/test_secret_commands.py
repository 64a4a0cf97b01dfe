"""Passwords in commands of Redis and SMTP are masked, and sentences with the word AUTH stay."""

from __future__ import annotations

import pytest

from eosctl.model.redaction import redact_text

COMMANDS = (
    "AUTH {}", "AUTH alice {}", "127.0.0.1:6379> AUTH {}", "127.0.0.1:6379> auth alice {}", "redis-cli -h h AUTH {}",
    "redis-cli auth default {}", '1339518083.1 [0 127.0.0.1:60866] "AUTH" "{}"', '"auth" "alice" "{}"',
    "HELLO 3 AUTH alice {} SETNAME x", "ACL SETUSER alice on >{} ~* +@all", '"ACL" "SETUSER" "alice" ">{}"',
    "*2\r\n$4\r\nAUTH\r\n$8\r\n{}\r\n", "*3\r\n$4\r\nAUTH\r\n$5\r\nalice\r\n$8\r\n{}\r\n",
    r"sent *2\r\n$4\r\nAUTH\r\n$8\r\n{}\r\n", "CONFIG SET requirepass {}", "smtp: AUTH PLAIN {}==",
    "[2026-11-01 10:00:00,123] DEBUG sending AUTH {} (a.B)",
)  # fmt: skip
SENTENCES = (
    "AUTH failed for user alice", "SASL AUTH error", "AUTH mechanism PLAIN", "No AUTH required", "AUTH PLAIN",
    "ERR AUTH called without any password configured", "AUTH SUCCESS", "AUTH and ACL", "AUTH CRAM-MD5",
    "AUTH SCRAM-SHA-256 for alice", "AUTH XOAUTH2", "AUTH LOGIN failed", "250-AUTH LOGIN PLAIN XOAUTH2", "AUTH TLS1.2",
    "AUTH timeout=30s", "AUTH denied on broker-1:9092", "the author of auth users", "auth alice failed2",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("secret", ["hunter2x", "Xk9mPq7v"])
def test_a_password_of_a_command_is_masked(command: str, secret: str) -> None:
    masked = redact_text(command.format(secret))
    assert secret not in masked
    assert masked.startswith(command.split("{}")[0])


@pytest.mark.parametrize("sentence", SENTENCES)
def test_other_words_stay(sentence: str) -> None:
    assert redact_text(sentence) == sentence


def test_the_time_is_linear() -> None:
    for hostile in ("AUTH " * 20_000, 'redis-cli "' * 10_000 + "AUTH", "SETUSER " * 10_000, '"AUTH" "\\' * 10_000):
        redact_text(hostile)
