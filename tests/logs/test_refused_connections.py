"""Errors of TLS and SASL that clients report as connections that fail, and a corrupt record that ends a thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

EXPIRED = "x509: certificate has expired or is not yet valid"
CORRUPT = "is invalid, cause: Record is corrupt (stored crc = 2713012087, computed crc = 901223114)"
REFUSED = "kafka server: SASL Authentication failed"


def categories(tmp_path: Path, line: str) -> set[str]:
    """Return the categories of a log of one line."""
    (tmp_path / "app.log").write_text(f"{line}\n")
    return {event.category for event in scan_paths([tmp_path]).events}


@pytest.mark.parametrize(
    ("category", "fields"),
    [
        ("TLS_FAILED", '"msg":"unable to open connection to broker","addr":"k1:9093","err":"tls: failed: x509: bad"'),
        ("CERTIFICATE_EXPIRED", f'"msg":"commit failed","error":"unable to dial: tls: failed to verify: {EXPIRED}"'),
        ("CERTIFICATE_EXPIRED", f'"msg":"unable to fetch from broker","broker":"3","err":"{EXPIRED}"'),
        (
            "TLS_FAILED",
            f'"msg":"broker 3 failed","err":"{EXPIRED}: current time 2025-01-01T00:00:00Z is before 2025-12-01"',
        ),
    ],
)
def test_a_certificate_in_a_field_of_json_is_the_cause(tmp_path: Path, category: str, fields: str) -> None:
    line = f'{{"level":"warn","ts":"2025-12-01T00:00:02.000Z","logger":"kgo",{fields}}}'
    assert categories(tmp_path, line) == {category}


@pytest.mark.parametrize(
    "text",
    [
        f"unable to end transaction kafka: client has run out of available brokers to talk to: {REFUSED}",
        f"client/metadata got error from broker -1 while fetching metadata: {REFUSED}",
        "[58] SASL Authentication Failed: SASL Authentication failed.",
        "KafkaJSSASLAuthenticationError: SASL SCRAM SHA512 authentication failed: refused",
        "aiokafka.errors.AuthenticationFailedError: AuthenticationFailedError: refused",
    ],
)
def test_refused_credentials_outrank_lost_brokers(tmp_path: Path, text: str) -> None:
    assert categories(tmp_path, f"[sarama] 2025/08/14 09:30:04 {text}") == {"AUTHENTICATION_FAILED"}


def test_brokers_without_an_error_of_tls_are_unreached(tmp_path: Path) -> None:
    text = '"msg":"unable to open connection to broker","addr":"k1:9093","err":"dial tcp 10.0.0.1:9093: i/o timeout"'
    line = f'{{"level":"warn","ts":"2025-12-01T00:00:02.000Z","logger":"kgo",{text}}}'
    assert categories(tmp_path, line) == {"BROKERS_UNREACHED"}


def test_a_corrupt_record_is_the_cause_of_dead_threads(tmp_path: Path) -> None:
    head = "ERROR [shop-StreamThread-1] o.a.k.s.KafkaStreams : stream-client [shop] Encountered the following exception"
    again = "during processing and the registered exception handler opted to SHUTDOWN_CLIENT."
    below = (
        "org.apache.kafka.streams.errors.StreamsException: org.apache.kafka.common.KafkaException: Received exception",
        "\tat a.b.C(C.java:1)",
        f"Caused by: org.apache.kafka.common.KafkaException: Record batch for partition clicks-9 at offset 5 {CORRUPT}",
    )
    (incident,) = judge(tmp_path, {"app.log": "\n".join((f"2025-08-05T19:44:02.551Z {head} {again}", *below, ""))})
    assert (incident.kind, incident.severity) == ("corrupt_records", "critical")
    assert incident.subject["topic-partition"] == "clicks-9"


REFUSED = (
    "2024-08-02T07:15:{:02} [DEBUG] sasl reauth failed, retrying once on new connection; broker: 2, err: Cannot change "
    "principals during re-authentication from A to B: SASL_AUTHENTICATION_FAILED: SASL Authentication failed.\n"
)
ADMITTED = "2024-08-02T07:15:{:02} [DEBUG] sasl has a limited lifetime; broker: {}, session_lifetime: 15m0s\n"


@pytest.mark.parametrize(
    ("later", "severity"),
    [
        (ADMITTED.format(4, 2), "info"),
        (ADMITTED.format(4, 3), "error"),
        ("", "error"),
        (ADMITTED.format(4, 2) + REFUSED.format(40), "error"),
    ],
    ids=["same", "another-broker", "none", "refused-again"],
)
def test_a_renewal_on_a_new_connection_is_not_a_fault(later: str, severity: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"app.log": ADMITTED.format(0, 2) + REFUSED.format(4) + later})
    assert (one.kind, one.severity) == ("authentication_failed", severity)
    assert ("authenticated with it on a new connection" in one.explanation) == (severity == "info")
