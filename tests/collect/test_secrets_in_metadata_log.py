"""Secrets of the metadata log are in no decoder's output and in no bundle; everything else of it stays."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.analysis.record_redactor import is_sensitive, redact_metadata_value
from eosctl.collect.bundles.bundle_parts import data_dir_parts
from eosctl.model.bundle import MissingPart
from eosctl.storage.scan import LogBatch, scan_log
from eosctl.wire.errors import WireError
from eosctl.wire.internal.metadata import decode_record, encode_record
from eosctl.wire.messages.internal.metadata.config_record import ConfigRecord
from eosctl.wire.messages.internal.metadata.delegation_token_record import DelegationTokenRecord
from eosctl.wire.messages.internal.metadata.no_op_record import NoOpRecord
from eosctl.wire.messages.internal.metadata.remove_delegation_token_record import RemoveDelegationTokenRecord
from eosctl.wire.messages.internal.metadata.topic_record import TopicRecord
from eosctl.wire.messages.internal.metadata.user_scram_credential_record import UserScramCredentialRecord
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record
from tests.commands.conftest import eosctl

FIXTURE = Path(__file__).parents[1] / "fixtures" / "metadata-log"
BROKER = FIXTURE / "broker-1"
LOG = BROKER / "__cluster_metadata-0" / "00000000000000000000.log"
SNAPSHOT = LOG.with_name("00000000000000000287-0000000001.checkpoint")
FILES = (LOG, SNAPSHOT, BROKER / "bootstrap.checkpoint")
TOPIC, BROKER_RESOURCE, GROUP = 2, 4, 32


def secrets() -> list[bytes]:
    """Return the secrets of the fixture in every form in which a decoder can print them."""
    truth = json.loads((FIXTURE / "truth.json").read_text())
    stored = [text.encode() for text in truth["texts"]] + [b64decode(text) for text in truth["bytes"]]
    plain = [*stored, b"planted"]
    return [form for one in plain for form in (one, one.hex().encode(), b64encode(one))]


def batches(path: Path) -> list[LogBatch]:
    found = list(scan_log(path))
    assert all(isinstance(item, LogBatch) and item.crc_valid for item in found)
    return [item for item in found if isinstance(item, LogBatch)]


def bundled(directory: Path, target: Path) -> tuple[Path, list[MissingPart]]:
    """Write what a bundle holds of a data directory; return where, and what it does not hold."""
    missing: list[MissingPart] = []
    for part in data_dir_parts([directory], missing):
        path = target / part.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(part.pieces))
    return target / "data-dirs" / f"000-{directory.name}", missing


def test_the_fixture_holds_the_secrets() -> None:
    data = b"".join(path.read_bytes() for path in FILES)
    assert [secret for secret in secrets()[::3] if secret not in data] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("output", ["table", "json", "tsv"])
def test_the_decoder_of_the_metadata_log_masks_them(path: Path, output: str) -> None:
    done = eosctl("decode", "metadata-log", path, "-o", output)
    assert (done.code, done.err) == (0, "")
    assert [secret for secret in secrets() if secret in done.out.encode()] == []
    for kept in ("UserScramCredentialRecord", "[hidden]", "alice", "4096"):
        assert kept in done.out


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("is_renamed", [False, True])
def test_the_decoder_of_segments_masks_them(path: Path, is_renamed: bool, tmp_path: Path) -> None:
    if is_renamed:
        (tmp_path / "copy.bin").write_bytes(path.read_bytes())
        path = tmp_path / "copy.bin"
    for output in ("table", "json", "tsv", "kafka"):
        for form in ("utf8", "hex", "base64", "json"):
            done = eosctl("decode", "segment", path, "--records", "-o", output, "--values", form)
            assert done.code == 0, done.err
            assert [secret for secret in secrets() if secret in done.out.encode()] == [], (output, form)


def test_settings_that_are_not_secret_are_shown() -> None:
    rows = {
        (row["value"]["resourceName"], row["value"]["name"]): row["value"]["value"]
        for line in eosctl("decode", "metadata-log", LOG, "-o", "json").out.splitlines()
        if (row := json.loads(line))["record"] == "ConfigRecord"
    }
    assert rows["orders", "retention.ms"] == "123456"
    assert rows["", "min.insync.replicas"] == "1"
    assert rows["1", "custom.setting"] == "[hidden]"


@pytest.mark.parametrize(
    ("resource_type", "name", "expected"),
    [
        (BROKER_RESOURCE, "ssl.keystore.password", True),
        (BROKER_RESOURCE, "ssl.keystore.key", True),
        (BROKER_RESOURCE, "listener.name.external.ssl.truststore.password", True),
        (BROKER_RESOURCE, "listener.name.external.ssl.keystore.location", False),
        (BROKER_RESOURCE, "listener.name.x.scram-sha-256.sasl.jaas.config", True),
        (BROKER_RESOURCE, "log.retention.ms", False),
        (BROKER_RESOURCE, "custom.setting", True),
        (TOPIC, "retention.ms", False),
        (TOPIC, "custom.setting", True),
        (GROUP, "consumer.session.timeout.ms", True),
    ],
)
def test_sensitive_is_what_kafka_takes_for_sensitive(resource_type: int, name: str, expected: bool) -> None:
    assert is_sensitive(resource_type, name) is expected


def test_a_bundle_masks_them_and_still_decodes(tmp_path: Path) -> None:
    copy, missing = bundled(BROKER, tmp_path)
    assert missing == []
    for path in sorted(copy.rglob("*")):
        if path.is_file():
            assert [secret for secret in secrets() if secret in path.read_bytes()] == [], path
    for path in FILES:
        masked = copy / path.relative_to(BROKER)
        assert masked.read_bytes() != path.read_bytes()
        before, after = batches(path), batches(masked)
        assert [(b.header.base_offset, b.header.last_offset, b.header.max_timestamp) for b in before] == [
            (b.header.base_offset, b.header.last_offset, b.header.max_timestamp) for b in after
        ]
        assert [[(r.offset, r.timestamp) for r in b.records()] for b in before] == [
            [(r.offset, r.timestamp) for r in b.records()] for b in after
        ]
        outputs = [eosctl("decode", "metadata-log", one, "-o", "tsv").out.partition("\t")[2] for one in (path, masked)]
        assert outputs[0].replace(str(path), "") == outputs[1].replace(str(masked), "")
    assert eosctl("fsck", copy).code == eosctl("fsck", BROKER).code == 0


def write_log(directory: Path, values: Sequence[bytes | None], codec: Compression = Compression.NONE) -> Path:
    records = [Record(number, 1_795_168_800_000 + number, None, value, ()) for number, value in enumerate(values)]
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "00000000000000000007.log"
    path.write_bytes(encode_batch(records, base_offset=7, partition_leader_epoch=3, codec=codec))
    return path


SCRAM = encode_record(UserScramCredentialRecord("bob", 1, b"CANARY", b"CANARY", b"CANARY", 4096), 0)
PLAIN = encode_record(TopicRecord("orders", bytes(range(16))), 0)
UNKNOWN = bytes((1, 120, 0)) + b"CANARY"


def test_what_cannot_be_decoded_is_left_out_and_named(tmp_path: Path) -> None:
    log = write_log(tmp_path / "dd" / "__cluster_metadata-0", [PLAIN, UNKNOWN, SCRAM, SCRAM + b"CANARY", None, PLAIN])
    whole = log.read_bytes()
    log.write_bytes(whole + b"CANARY" * 20)
    (log.parent / "notes.txt").write_text("CANARY")
    for name in ("00000000000000000008-0000000001-77.checkpoint.part", "00000000000000000001.log.deleted"):
        (log.parent / name).write_bytes(whole[:-1] + bytes((whole[-1] ^ 1,)))
    copy, missing = bundled(tmp_path / "dd", tmp_path / "out")
    assert [path.name for path in copy.rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()] == []
    (batch,) = batches(copy / "__cluster_metadata-0" / log.name)
    assert [(record.offset, type(decode_record(record.value or b"")).__name__) for record in batch.records()] == [
        (7, "TopicRecord"),
        (9, "UserScramCredentialRecord"),
        (12, "TopicRecord"),
    ]
    assert batch.header.last_offset == 12
    named = "\n".join(f"{one.what}: {one.reason}" for one in missing)
    for what in ("at offset 8", "at offset 10", "at offset 11", "from byte", "notes.txt", ".part", ".deleted"):
        assert what in named, what
    assert "CANARY" not in named


@pytest.mark.parametrize("output", ["table", "json", "tsv", "kafka"])
def test_an_undecodable_metadata_record_is_not_printed(output: str, tmp_path: Path) -> None:
    log = write_log(tmp_path / "__cluster_metadata-0", [UNKNOWN, SCRAM[:-3], b"CANARY", PLAIN])
    for command in ("segment", "metadata-log") if output != "kafka" else ("segment",):
        done = eosctl("decode", command, log, "-o", output, *(["--records"] if command == "segment" else []))
        assert "CANARY" not in done.out + done.err
        assert "orders" in done.out


def test_a_snapshot_is_not_taken_for_a_text_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000008-0000000001.checkpoint"
    path.write_text("0\nCANARY\n")
    done = eosctl("decode", "checkpoint", path)
    assert (done.code, "CANARY" in done.out + done.err) == (1, False)
    assert "eosctl decode metadata-log" in done.err
    assert "eosctl decode metadata-log" in eosctl("decode", path).err


def test_records_of_others_are_printed_as_they_are(tmp_path: Path) -> None:
    log = write_log(tmp_path / "orders-0", [b"CANARY", b"\x01\x04CANARY", PLAIN, SCRAM + b"."])
    values = [json.loads(line)["value"] for line in eosctl(
        "decode", "segment", log, "--records", "-o", "json"
    ).out.splitlines()[1:]]  # fmt: skip
    assert ["CANARY" in value for value in values] == [True, True, False, True]


SECRET = st.text(st.characters(codec="utf-8"), max_size=30).map(lambda text: f"CANARY{text}CANARY")
NAMES = ("ssl.keystore.password", "listener.name.x.ssl.keystore.key", "sasl.jaas.config", "of.a.later.release")
SECRET_RECORDS = st.one_of(
    st.builds(lambda name, value: ConfigRecord(4, "1", name, value), st.sampled_from(NAMES), SECRET),
    st.builds(lambda value: ConfigRecord(16, "m", "match", value), SECRET),
    st.builds(lambda value: ConfigRecord(4, "1", "ssl.keystore.location", f"https://me:{value[:6]}@h/k"), SECRET),
    st.builds(lambda value: UserScramCredentialRecord("bob", 1, *[value.encode()] * 3, 4096), SECRET),
    st.builds(lambda value: DelegationTokenRecord("User:a", "User:a", [], 1, 2, 3, value), SECRET),
    st.builds(RemoveDelegationTokenRecord, SECRET),
    st.builds(lambda value: NoOpRecord(unknown_tags=((5, value.encode()),)), SECRET),
)


@given(st.lists(SECRET_RECORDS, min_size=1, max_size=6), st.sampled_from(Compression))
@settings(max_examples=60, deadline=None)
def test_no_secret_of_any_record_reaches_a_bundle(
    tmp_path_factory: pytest.TempPathFactory, records: list[object], codec: Compression
) -> None:
    folder = tmp_path_factory.mktemp("masked")
    values = [encode_record(record, 0) for record in records]
    assert all(b"CANARY" in value for value in values)
    log = write_log(folder / "dd" / "__cluster_metadata-0", values, codec)
    copy, missing = bundled(folder / "dd", folder / "out")
    assert missing == []
    (before,), (after,) = batches(log), batches(copy / "__cluster_metadata-0" / log.name)
    assert (after.header.codec, after.header.last_offset) == (before.header.codec, before.header.last_offset)
    for old, new in zip(before.records(), after.records(), strict=True):
        assert (old.offset, old.timestamp) == (new.offset, new.timestamp)
        assert type(decode_record(old.value or b"")) is type(decode_record(new.value or b""))
        assert b"CANARY" not in (new.value or b"")


def test_masking_twice_changes_nothing() -> None:
    once = redact_metadata_value(SCRAM)
    assert once != SCRAM
    assert redact_metadata_value(once) == once
    assert redact_metadata_value(PLAIN) is PLAIN
    with pytest.raises(WireError):
        redact_metadata_value(SCRAM + b"x")


def connect_records() -> list[Record]:
    """Return records of Connect's topic of settings, and one of an application."""
    settings = {
        "name": "orders",
        "database.password": "planted one two",
        "connection.url": "jdbc:postgresql://h/db?user=a&password=planted",
        "transforms.header": "Authorization: Bearer planted-planted",
        "tasks.max": "2",
    }
    stored = json.dumps({"properties": settings}).encode()
    key = json.dumps({"key": "planted", "algorithm": "HmacSHA256"}).encode()
    wrapped = json.dumps({"schema": {}, "payload": {"properties": settings}}).encode()
    pairs = [(b"connector-orders", stored), (b"task-orders-0", wrapped), (b"session-key", key), (b"order-1", stored)]
    return [Record(offset, 0, key, value, ()) for offset, (key, value) in enumerate(pairs)]


@pytest.mark.parametrize("output", ["table", "json", "tsv", "kafka"])
def test_settings_of_connectors_are_masked(tmp_path: Path, output: str) -> None:
    log = tmp_path / "connect-configs-0" / "00000000000000000000.log"
    log.parent.mkdir()
    *connect, other = connect_records()
    log.write_bytes(encode_batch(connect))
    done = eosctl("decode", "segment", log, "--records", "-o", output)
    assert done.code == 0, done.err
    assert "planted" not in done.out
    assert "tasks.max" in done.out
    log.write_bytes(encode_batch([other]))  # values of applications are shown as they are stored
    assert "planted" in eosctl("decode", "segment", log, "--records", "-o", output).out
