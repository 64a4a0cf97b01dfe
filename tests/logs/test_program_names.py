"""The names of programs in texts: a name from the log, or the file, but never a file's stem as a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

FENCED = (
    "2026-11-21 09:29:35.437 ERROR [main] c.s.Relay - org.apache.kafka.common.errors.ProducerFencedException: "
    "There is a newer producer with the same transactionalId which fences the current one.\n"
)
NAMED = (
    "2026-11-21 09:29:30.437 INFO  [main] o.a.k.c.producer.KafkaProducer - [Producer clientId={}] "
    "Instantiated an idempotent producer.\n"
)
HANDLE = (
    "%1|1795259395.542|TXNERR|{}| [thrd:main]: Fatal transaction error: Failed to end transaction: Local: "
    "This instance has been fenced by a newer instance (_FENCED)\n"
)


def text_of(folder: Path, files: dict[str, str]) -> str:
    return " ".join(one.explanation for one in judge(folder, files))


@pytest.mark.parametrize("name", ["r01.txt", "payments.log", "r02.log.1"])
def test_a_file_is_not_presented_as_a_program(name: str, tmp_path: Path) -> None:
    text = text_of(tmp_path, {name: FENCED})
    assert text.startswith(f"The program of {name} was fenced")


def test_a_client_id_in_the_log_names_its_program(tmp_path: Path) -> None:
    text = text_of(tmp_path, {"r01.txt": NAMED.format("pay-svc") + FENCED})
    assert text.startswith("pay-svc was fenced")
    assert "r01" not in text


def test_a_generated_client_id_names_no_program(tmp_path: Path) -> None:
    assert text_of(tmp_path, {"r01.txt": NAMED.format("producer-1") + FENCED}).startswith("The program of r01.txt")


def test_two_client_ids_of_a_log_name_no_program(tmp_path: Path) -> None:
    log = NAMED.format("pay-svc") + NAMED.format("mail-svc") + FENCED
    assert text_of(tmp_path, {"r01.txt": log}).startswith("The program of r01.txt")


@pytest.mark.parametrize(
    ("handle", "who"), [("pay-svc#producer-1", "pay-svc"), ("rdkafka#producer-1", "The program of r01.txt")]
)
def test_the_handle_of_librdkafka_names_a_program(handle: str, who: str, tmp_path: Path) -> None:
    text = text_of(tmp_path, {"r01.txt": HANDLE.format(handle)})
    assert text.startswith(f"{who} was fenced")


def test_the_subject_keeps_the_application_of_a_file(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"r01.txt": NAMED.format("pay-svc") + FENCED})
    assert found.subject["application"] == "r01"


def test_a_container_is_a_program(tmp_path: Path) -> None:
    folder = "shop_relay-7d9f-x2_8d0a4d55-5b5c-4a39-8a65-4d1c3c2b9d11/relay/0.log"
    text = text_of(tmp_path, {folder: FENCED})
    assert text.startswith("relay was fenced")
