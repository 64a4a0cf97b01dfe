"""The command: formats, exit codes, the plan; and that it changes nothing."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from eosctl.storage.survey import PartitionFacts, survey_partition
from tests.commands.decode.running import run
from tests.storage.cases import FIXTURES


def test_machine_output_names_kind_file_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "fsck", FIXTURES / "damaged-bitflip-payload" / "data", "-o", "json")
    result = json.loads(ran.out)
    assert ran.code == 3
    assert result["schema"] == "eosctl.fsck"
    (item,) = [item for item in result["items"] if item["severity"] == "error"]
    assert (item["kind"], item["file"], item["position"], item["offset"], item["producer_id"]) == (
        "crc-mismatch",
        "transfers-0/00000000000000000000.log",
        978,
        6,
        None,
    )
    assert item["on_restart"]


def test_a_healthy_directory_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "fsck", FIXTURES / "k431-tv2-state-log-live" / "data")
    assert (ran.code, ran.out) == (0, "Healthy: 2 partitions.\n")


def test_several_brokers_are_judged_together(capsys: pytest.CaptureFixture[str]) -> None:
    case = FIXTURES / "marker-skipped-3"
    apart = json.loads(run(capsys, "fsck", case / "data-broker-2", "-o", "json").out)
    assert [item["kind"] for item in apart["items"]] == ["open-transaction-undecided"]
    together = run(capsys, "fsck", case / "data", case / "data-broker-2", "-o", "json")
    (item,) = json.loads(together.out)["items"]
    assert (item["kind"], item["transactional_id"]) == ("hanging-transaction", "relay-1")
    assert item["directory"] == str(case / "data-broker-2")


def test_ids_distinguish_replicas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = FIXTURES / "damaged-bitflip-payload" / "data"
    copies = [shutil.copytree(case, tmp_path / name) for name in ("one", "two")]
    items = json.loads(run(capsys, "fsck", *copies, "-o", "json").out)["items"]
    assert len({item["id"] for item in items}) == len(items)
    assert {item["id"] for item in items if item["kind"] == "crc-mismatch"} == {
        f"crc-mismatch:{copy}/transfers-0/00000000000000000000.log:978" for copy in copies
    }


def test_the_plan_names_files_and_steps_and_touches_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    directory = FIXTURES / "damaged-snapshot-wrong-sequence" / "data"
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.rglob("*") if path.is_file()}
    ran = run(capsys, "fsck", directory, "--repair-plan")
    assert ran.code == 3
    assert "move the snapshot aside" in ran.out
    assert "00000000000000000044.snapshot" in ran.out
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before}


def test_a_vanished_file_is_reported_and_the_rest_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def survey(path: Path, **how: Any) -> PartitionFacts:
        if path.name == "transfers-0":
            raise FileNotFoundError(2, "No such file", str(path / "00000000000000000000.log"))
        return survey_partition(path, **how)

    directory = FIXTURES / "k431-tv2-transactions" / "data"
    monkeypatch.setattr("eosctl.collect.data_dirs.survey_partition", survey)
    result = json.loads(run(capsys, "fsck", directory, "-o", "json").out)
    assert [(item["kind"], item["partition"]) for item in result["items"]] == [("changed-while-read", "transfers-0")]


def test_a_path_without_data_directory_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fsck", tmp_path).code == 2
    assert run(capsys, "fsck", tmp_path / "absent").code == 2


def test_what_is_not_a_partition_is_not_healthy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = shutil.copytree(FIXTURES / "k431-tv2-state-log-live" / "data", tmp_path / "data")
    for name in ("remote-log-index-cache", "orders-0.0123456789abcdef0123456789abcdef-delete"):
        (data / name).mkdir()
    assert run(capsys, "fsck", data).code == 0
    (data / "lost+found").mkdir()
    (data / "orders-99999999999").mkdir()
    (data / "orders-1").symlink_to("nowhere")
    ran = run(capsys, "fsck", data, "-o", "json")
    found = [(item["kind"], item["partition"]) for item in json.loads(ran.out)["items"]]
    names = ("lost+found", "orders-1", "orders-99999999999")
    assert (ran.code, found) == (3, [("changed-while-read", name) for name in names])


def test_a_file_that_cannot_be_read_hides_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = shutil.copytree(FIXTURES / "damaged-bitflip-payload" / "data", tmp_path / "data")
    whole = shutil.copytree(FIXTURES / "k431-tv2-transactions" / "data" / "transfers-0", data / "whole-0")
    (whole / "leader-epoch-checkpoint").unlink()
    os.mkfifo(whole / "leader-epoch-checkpoint")
    broken = shutil.copytree(whole, data / "broken-0", ignore=shutil.ignore_patterns("leader-epoch-checkpoint"))
    (broken / "00000000000000099999.log").mkdir()
    ran = run(capsys, "fsck", data, "-o", "json")
    items = [(item["kind"], item["severity"]) for item in json.loads(ran.out)["items"]]
    wanted = {("crc-mismatch", "error"), ("checkpoint-malformed", "error"), ("changed-while-read", "error")}
    assert (ran.code, wanted - set(items)) == (3, set())
