"""What the decoders show: formats, filters, damage with its place, exit codes."""

from __future__ import annotations

import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands.decode.running import Ran, run
from tests.storage.cases import FIXTURES, expected_log

TRANSACTIONS = FIXTURES / "k431-tv2-transactions" / "data"
GROUPS = FIXTURES / "k431-tv2-group-log" / "data"


def objects(ran: Ran) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.out.splitlines()]


def test_json_lines_hold_every_field_that_kafka_knows(capsys: pytest.CaptureFixture[str]) -> None:
    golden = FIXTURES / "k392-tv0-transactions/golden/transfers-0/00000000000000000000.log.expected.json.gz"
    expected = expected_log(golden)["batches"]
    log = FIXTURES / "k392-tv0-transactions/data/transfers-0/00000000000000000000.log"
    lines = objects(run(capsys, "decode", "segment", log, "-r", "-o", "json", "--keys", "base64", "--values", "base64"))
    batches = [line for line in lines if line["kind"] == "batch"]
    records = [line for line in lines if line["kind"] == "record"]
    assert [
        (b["position"], b["base_offset"], b["last_offset"], b["crc"], b["producer_id"], b["base_sequence"])
        for b in batches
    ] == [
        (b["position"], b["baseOffset"], b["lastOffset"], b["crc"], b["producerId"], b["baseSequence"])
        for b in expected
    ]
    assert [(r["offset"], r["timestamp"], r["key"], r["value"], r.get("control")) for r in records] == [
        (r["offset"], r["timestamp"], r["key"], r["value"], r.get("control", {}).get("type"))
        for b in expected
        for r in b["records"]
    ]


def test_outcomes_follow_the_markers(capsys: pytest.CaptureFixture[str]) -> None:
    def offsets(only: str) -> set[int]:
        lines = objects(run(capsys, "decode", "segment", TRANSACTIONS / "transfers-0", "--only", only, "-o", "json"))
        return {line["base_offset"] for line in lines if line["kind"] == "batch"}

    assert 42 in offsets("open")  # the transaction that open-dev left
    assert {0, 6} <= offsets("aborted")  # as the recorded .txnindex has them
    assert {2} <= offsets("committed")
    assert {5, 8} <= offsets("control")
    assert not offsets("aborted") & offsets("committed")


def test_an_outcome_may_lie_in_a_later_segment(capsys: pytest.CaptureFixture[str]) -> None:
    first = sorted((TRANSACTIONS / "journal-0").glob("*.log"))[0]
    lines = objects(run(capsys, "decode", "segment", first, "--outcomes", "-o", "json"))
    assert {line["state"] for line in lines} <= {"committed", "aborted", "COMMIT", "ABORT", "plain"}


@pytest.mark.parametrize(
    ("option", "value", "kept"),
    [
        ("--producer-id", "14", lambda b: b["producer_id"] == 14),
        ("--offset", "5:9", lambda b: b["last_offset"] >= 5 and b["base_offset"] <= 9),
        ("--time", "1795253419700:", lambda b: b["max_timestamp"] >= 1795253419700),
    ],
)
def test_filters(option: str, value: str, kept: Any, capsys: pytest.CaptureFixture[str]) -> None:
    everything = objects(run(capsys, "decode", "segment", TRANSACTIONS / "transfers-0", "-o", "json"))
    chosen = objects(run(capsys, "decode", "segment", TRANSACTIONS / "transfers-0", "-o", "json", option, value))
    assert chosen == [batch for batch in everything if kept(batch)]
    assert 0 < len(chosen) < len(everything)


def test_records_within_a_batch_are_filtered_by_offset(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "decode", "segment", TRANSACTIONS / "transfers-0", "-r", "--offset", "3", "-o", "json")
    assert [line["offset"] for line in objects(ran) if line["kind"] == "record"] == [3]


@pytest.mark.parametrize(
    ("case", "kind", "position"),
    [
        ("damaged-length-tiny", "bad-length", 900),
        ("damaged-bad-magic", "bad-magic", 900),
        ("damaged-bitflip-payload", "crc-mismatch", 978),
        ("damaged-torn-mid-batch", "torn-batch", 5384),
        ("damaged-zero-tail", "zero-tail", 5603),
    ],
)
def test_damage_names_file_and_byte_and_reading_continues(
    case: str, kind: str, position: int, capsys: pytest.CaptureFixture[str]
) -> None:
    log = FIXTURES / case / "data" / "transfers-0" / "00000000000000000000.log"
    ran = run(capsys, "decode", "segment", log, "-o", "json")
    lines = objects(ran)
    assert ran.code == 1
    assert [(line["damage"], line["position"]) for line in lines if line["kind"] == "damage"] == [(kind, position)]
    assert f"{log}: byte {position}: {kind}" in ran.err
    before = [line for line in lines if line["kind"] == "batch" and line["position"] < position]
    behind = [line for line in lines if line["kind"] == "batch" and line["position"] > position]
    assert before
    assert bool(behind) == (kind in ("bad-length", "bad-magic", "crc-mismatch"))
    strict = objects(run(capsys, "decode", "segment", log, "-o", "json", "--strict"))
    assert not [line for line in strict if line["position"] > position]


def test_summary_counts(capsys: pytest.CaptureFixture[str]) -> None:
    log = TRANSACTIONS / "transfers-0" / "00000000000000000000.log"
    (summary,) = objects(run(capsys, "decode", "segment", log, "--summary", "-o", "json"))
    assert summary["last_offset"] == 43
    assert summary["size_bytes"] == log.stat().st_size
    assert (summary["transactions_open"], summary["damaged"], summary["gap_count"]) == (1, 0, 0)
    assert (
        summary["transactions_aborted"]
        == (TRANSACTIONS / "transfers-0" / log.with_suffix(".txnindex")).stat().st_size // 34
    )


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    log = TRANSACTIONS / "transfers-0" / "00000000000000000000.log"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(log.read_bytes())))
    piped = run(capsys, "decode", "segment", "-", "-o", "tsv")
    assert piped.out == run(capsys, "decode", "segment", log, "-o", "tsv").out.replace(str(log), "-")


def test_the_life_of_a_transactional_id(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "decode", "txn-log", TRANSACTIONS, "--states-of", "open-dev", "-o", "json")
    steps = objects(ran)
    assert [step["state"] for step in steps] == ["Empty", "Ongoing", "Ongoing"]
    assert steps[-1]["partitions"] == ["transfers-0", "__consumer_offsets-1"]
    assert steps[1]["after"] == "13 ms"
    table = run(capsys, "decode", "txn-log", TRANSACTIONS, "--states-of", "open-dev")
    assert "Ongoing" in table.out
    assert table.code == 0


def test_an_unknown_transaction_state_is_damage(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "decode", "txn-log", FIXTURES / "damaged-state-status" / "data", "-o", "json")
    assert ran.code == 1
    assert "record at offset 130: transaction status 99 is not a state" in ran.err


def test_offsets_know_what_their_transaction_became(capsys: pytest.CaptureFixture[str]) -> None:
    rows = objects(run(capsys, "decode", "offsets", GROUPS, "-o", "json"))
    live = objects(run(capsys, "decode", "offsets", FIXTURES / "k392-tv1-logs" / "data", "-o", "json"))
    states = {row["state"] for row in [*rows, *live]}
    assert states == {"committed", "aborted", "pending", "tombstone", "group"}
    pending = [(row["group"], row["committed_offset"]) for row in rows if row["state"] == "pending"]
    assert ("etl-dev", 1000) in pending
    chosen = objects(run(capsys, "decode", "offsets", GROUPS, "-o", "json", "--group", "etl-dev"))
    assert chosen == [row for row in rows if row["group"] == "etl-dev"]


@pytest.mark.parametrize("command", ["index", "time-index", "txn-index", "producer-snapshot", "checkpoint"])
@pytest.mark.parametrize("form", ["table", "json", "tsv"])
def test_small_files_in_every_format(command: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "decode", command, TRANSACTIONS, "-o", form)
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out.splitlines()) > 5


@pytest.mark.parametrize(
    ("command", "case", "what"),
    [
        ("index", "damaged-index-stray-bytes", "byte 24: an entry of 8 bytes was expected, 3 are left"),
        ("producer-snapshot", "damaged-snapshot-bad-crc", "byte 2: checksum"),
        ("producer-snapshot", "damaged-snapshot-version", "version 7, known is 1"),
        ("checkpoint", "damaged-leader-epoch-count", "line 2: 2 entries, the count says 4"),
    ],
)
def test_damaged_small_files(command: str, case: str, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "decode", command, FIXTURES / case / "data", "-o", "json")
    assert ran.code == 1
    assert what in ran.err


def test_keys_and_values_in_the_form_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    log = TRANSACTIONS / "transfers-0"

    def first_key(form: str) -> Any:
        lines = objects(run(capsys, "decode", "segment", log, "-r", "-o", "json", "--keys", form))
        return next(line["key"] for line in lines if line["kind"] == "record")

    assert first_key("utf8") == "transfers-0"
    assert bytes.fromhex(first_key("hex")) == base64.b64decode(first_key("base64")) == b"transfers-0"
    assert first_key("none") is None


def test_what_is_not_there_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "decode", "segment", tmp_path / "absent.log").code == 2
    assert run(capsys, "decode", "segment", tmp_path).code == 2
    assert run(capsys, "decode", "segment", TRANSACTIONS, "--offset", "a:b").code == 2
