"""The two binders of Spring Cloud Stream: neither reads the other's settings of Kafka's clients."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eosctl.model.deployment import Role
from eosctl.services.lint_configuration import LintRequest, lint_configuration
from eosctl.settings.deployment.deployment_files import read_components

CHANNELS: Final = "spring.cloud.stream.kafka.binder."
STREAMS: Final = "spring.cloud.stream.kafka.streams.binder."
APPLICATION: Final = f"{STREAMS}application-id=fares\n{STREAMS}configuration.num.stream.threads=2\n"
GUARANTEE: Final = "configuration.processing.guarantee=exactly_once_v2\n"


def found(folder: Path, file: str, text: str) -> dict[str, tuple[str, int]]:
    (folder / file).write_text(text)
    findings = lint_configuration(LintRequest((folder,))).found
    return {one.check_id: (one.severity.value, int(dict(one.facts)["line"])) for one in findings}


def guarantee(text: str) -> str | None:
    (streams,) = (one for one in read_components("application.properties", text) if one.role is Role.STREAMS)
    return streams.word("processing.guarantee")


@pytest.mark.parametrize(("prefix", "expected"), [(CHANNELS, "at_least_once"), (STREAMS, "exactly_once_v2")])
def test_streams_takes_the_guarantee_of_its_own_binder(prefix: str, expected: str) -> None:
    assert guarantee(f"{APPLICATION}{prefix}{GUARANTEE}") == expected


def test_streams_takes_what_boot_gives_all_clients() -> None:
    assert (
        guarantee(f"{APPLICATION}spring.kafka.properties.processing.guarantee=exactly_once_v2\n") == "exactly_once_v2"
    )


def test_clients_of_channels_take_their_binders_settings() -> None:
    text = f"{CHANNELS}configuration.isolation.level=read_committed\n{CHANNELS}brokers=k:9092\n"
    consumers = [one for one in read_components("application.properties", text) if one.role is Role.CONSUMER]
    assert [one.word("isolation.level") for one in consumers] == ["read_committed"]


def test_a_guarantee_of_the_wrong_binder_is_reported(tmp_path: Path) -> None:
    # With the guarantee, this interval would keep the application from starting (EOS-CFG-001).
    text = f"{APPLICATION}{STREAMS}configuration.commit.interval.ms=30000\n{CHANNELS}{GUARANTEE}"
    checks = found(tmp_path, "application.properties", text)
    assert "EOS-CFG-001" not in checks
    assert checks["EOS-CFG-168"] == ("warning", 4)


def test_both_in_the_right_binder_contradict_each_other(tmp_path: Path) -> None:
    text = f"{APPLICATION}{STREAMS}configuration.commit.interval.ms=60000\n{STREAMS}{GUARANTEE}"
    checks = found(tmp_path, "application.properties", text)
    assert checks["EOS-CFG-001"][0] == "critical"
    assert "EOS-CFG-168" not in checks


@pytest.mark.parametrize(
    "key",
    [
        "spring.cloud.stream.kafka.binder.configuration.processing.guarantee",
        "spring.cloud.stream.kafka.binder.processing.guarantee",
        "spring.cloud.stream.kafka.binder.producer-properties.processing.guarantee",
        "spring.cloud.stream.kafka.bindings.fares-in-0.consumer.configuration.processing.guarantee",
        "spring.cloud.stream.bindings.fares-in-0.consumer.processing.guarantee",
    ],
)
def test_the_remedy_is_the_key_of_the_streams_binder(key: str, tmp_path: Path) -> None:
    (tmp_path / "application.properties").write_text(f"{APPLICATION}{key}=exactly_once_v2\n")
    (own,) = (one for one in lint_configuration(LintRequest((tmp_path,))).found if one.check_id == "EOS-CFG-168")
    assert own.remedy == (f"Write {STREAMS}configuration.processing.guarantee.",)


def test_a_variable_of_the_wrong_binder_is_reported(tmp_path: Path) -> None:
    text = (
        "services:\n  fares:\n    image: acme/fares:1\n    environment:\n"
        "      SPRING_CLOUD_STREAM_KAFKA_STREAMS_BINDER_APPLICATIONID: fares\n"
        "      SPRING_CLOUD_STREAM_KAFKA_BINDER_CONFIGURATION_PROCESSING_GUARANTEE: exactly_once_v2\n"
    )
    assert found(tmp_path, "compose.yaml", text)["EOS-CFG-168"] == ("warning", 6)
