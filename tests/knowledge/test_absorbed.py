"""The facts of Kafka's releases: the tables that are made from jars agree with each other and with what is typed."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from eosctl.knowledge.parameter_tables import load_tables, parse_release
from eosctl.knowledge.releases import kafka_releases
from eosctl.knowledge.update_modes import load_update_modes
from eosctl.model.emulation import NEWEST, RELEASES
from eosctl.sandbox.controller.features import FEATURES, METADATA_CHANGES, FeatureRange
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.schema.table import FOLDER, VersionRange, load_table

PROTOCOL: dict[str, Any] = json.loads((resources.files("eosctl.knowledge") / "protocol.json").read_text("utf-8"))
OF_KAFKA = (
    *("broker", "topic", "group", "producer", "consumer", "admin", "streams"),
    *("connect-worker", "source-connector", "sink-connector", "mirror-maker"),
)


def test_every_table_reaches_the_newest_release() -> None:
    newest = parse_release(PROTOCOL["releases"][-1])
    assert newest == kafka_releases()[-1][:2] == parse_release(NEWEST)
    lasts = {name: load_tables()[name].last for name in OF_KAFKA}
    # The repository has no connect-mirror 4.4.0.
    assert {name for name, last in lasts.items() if last != newest} == {"mirror-maker"}
    assert load_update_modes().releases == tuple(PROTOCOL["releases"])


def test_error_codes_are_those_of_the_newest_release() -> None:
    absorbed = {int(code): (row["name"], row["retriable"]) for code, row in PROTOCOL["errors"].items()}
    assert {int(code): (code.name, code.retriable) for code in ErrorCode} == absorbed


def test_api_keys_are_those_of_the_releases() -> None:
    absorbed = {row["key"]: name for name, row in PROTOCOL["apis"].items()}
    assert set(absorbed) == set(map(int, ApiKey))


@pytest.mark.parametrize("release", RELEASES)
def test_features_of_the_sandbox_are_those_of_the_release(release: str) -> None:
    absorbed = {
        name: FeatureRange(*by_release[release])
        for name, by_release in PROTOCOL["features"].items()
        if by_release.get(release, [0, 0, 0])[1]
    }
    # A cluster with fixed voters (controller.quorum.voters) begins with 0; Kafka's own default is that of moving ones.
    absorbed["kraft.version"] = absorbed["kraft.version"]._replace(default=0)
    assert FEATURES[release] == absorbed


def test_the_sandbox_lowers_metadata_versions_as_kafka() -> None:
    changing = {version["level"] for version in PROTOCOL["metadata_versions"] if version["changes_metadata"]}
    assert changing == METADATA_CHANGES


@pytest.mark.parametrize("release", RELEASES)
def test_message_tables_serve_what_the_release_serves(release: str) -> None:
    absorbed = {
        row["key"]: _range(row["versions"][release])
        for row in PROTOCOL["apis"].values()
        if row["versions"].get(release)  # some have another name in another release
    }
    tables = [load_table(path) for path in sorted((FOLDER / "api").glob("*.msg"))]
    served = {table.number: table.served[release] for table in tables if release in table.served}
    assert served == {key: versions for key, versions in absorbed.items() if key in served}
    known = {table.number for table in tables}
    assert {ApiKey(key).name for key in absorbed if key in known and key not in served} == set()


def _range(text: str) -> VersionRange:
    first, _, last = text.partition("-")
    return VersionRange(int(first), int(last or first))


def test_a_setting_backported_later_is_absent_in_between() -> None:
    setting = load_tables()["topic"].parameters["max.decompressed.message.bytes"]
    assert setting.at((4, 1)) is None
    assert setting.at((4, 2)) is not None  # a patch of 4.2 brought it
    assert setting.at((4, 3)) is None
    assert setting.at((4, 4)) is not None


@pytest.mark.parametrize(
    ("component", "name", "release", "default"),
    [
        ("streams", "enable.transactional.statestores", (4, 3), None),
        ("streams", "enable.transactional.statestores", (4, 4), "false"),
        ("streams", "statestore.uncommitted.max.bytes", (4, 4), "67108864"),
        ("streams", "default.interactive.query.isolation.level", (4, 4), "READ_UNCOMMITTED"),
        ("producer", "acks", (2, 8), "1"),
        ("producer", "acks", (3, 0), "all"),
        ("group", "streams.num.standby.replicas", (4, 4), "0"),
        ("admin", "bootstrap.resolve.timeout.ms", (4, 4), "0"),
    ],
)
def test_known_defaults(component: str, name: str, release: tuple[int, int], default: str | None) -> None:
    assert load_tables()[component].defaults(release).get(name) == default
