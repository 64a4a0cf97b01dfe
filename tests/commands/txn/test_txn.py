"""txn: lists, lives and verdicts from a snapshot."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.commands.conftest import eosctl
from tests.render.unhappy_cluster import HOSTILE_ID

ROOT = Path(__file__).parents[3]


def check_schema(name: str, value: object) -> None:
    jsonschema.validate(value, json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text()))


def listed(snapshot: Path, *options: str) -> list[str]:
    done = eosctl("txn", "list", "--snapshot", snapshot, *options, "-o", "json")
    assert done.code == 0
    check_schema("transactions", done.json)
    return [item["transactional_id"] for item in done.json["items"]]


def test_list_and_its_filters(snapshot_file: Path) -> None:
    assert listed(snapshot_file) == ["order-app", HOSTILE_ID]
    assert listed(snapshot_file, "--state", "empty") == ["order-app"]
    assert listed(snapshot_file, "--producer-id", "4001") == [HOSTILE_ID]
    assert listed(snapshot_file, "--transactional-id-pattern", "^order") == ["order-app"]
    assert listed(snapshot_file, "--open") == []


def test_what_filters_cannot_mean(snapshot_file: Path) -> None:
    unknown = eosctl("txn", "list", "--snapshot", snapshot_file, "--state", "open")
    assert (unknown.code, "Unknown state 'open'." in unknown.err, "PrepareCommit" in unknown.err) == (2, True, True)
    idle = eosctl("txn", "list", "--snapshot", snapshot_file, "--state", "empty", "--open")
    assert (idle.code, "Leave one of the filters out" in idle.err) == (2, True)
    assert eosctl("txn", "list", "--snapshot", snapshot_file, "--running-longer-than", "soon").code == 2


def test_a_bad_pattern_is_a_usage_error(snapshot_file: Path) -> None:
    done = eosctl("txn", "list", "--snapshot", snapshot_file, "--transactional-id-pattern", "(")
    assert (done.code, done.out) == (2, "")


def test_incomplete_evidence_is_shown_and_can_fail(snapshot_file: Path) -> None:
    done = eosctl("txn", "list", "--snapshot", snapshot_file, "--require-complete")
    assert done.code == 4
    assert "INCOMPLETE" in done.out


@pytest.mark.parametrize(
    "command", [("txn", "list"), ("txn", "hanging", "--all"), ("txn", "producers"), ("group", "lag"), ("doctor",)]
)
def test_rows_alone_never_hide_that_evidence_is_missing(snapshot_file: Path, command: tuple[str, ...]) -> None:
    rows = eosctl(*command, "--snapshot", snapshot_file, "-o", "tsv")
    assert "incomplete: " in rows.err
    assert "incomplete: " not in rows.out
    assert "incomplete: " not in eosctl(*command, "--snapshot", snapshot_file, "-o", "json").err


def test_describe_shows_the_life_of_an_id(snapshot_file: Path) -> None:
    done = eosctl("txn", "describe", "order-app", "--snapshot", snapshot_file, "-o", "json")
    check_schema("transaction-lives", done.json)
    (life,) = done.json["items"]
    assert [step["state"] for step in life["history"]] == ["Ongoing", "PrepareAbort", "CompleteAbort", "Empty"]
    assert life["producers"][0]["producer_epoch"] == 1
    short = eosctl("txn", "describe", "order-app", "--snapshot", snapshot_file, "-o", "json", "--last", "1")
    assert [step["state"] for step in short.json["items"][0]["history"]] == ["Empty"]
    none = eosctl("txn", "describe", "order-app", "--snapshot", snapshot_file, "-o", "json", "--last", "0")
    assert none.json["items"][0]["history"] == []


def test_describe_for_people(snapshot_file: Path) -> None:
    done = eosctl("txn", "describe", "order-app", "--snapshot", snapshot_file)
    assert done.out.startswith("order-app  Empty\n")
    assert "PrepareAbort" in done.out


def test_unknown_ids_fail_and_known_ones_are_shown_all_the_same(snapshot_file: Path) -> None:
    done = eosctl("txn", "describe", "order-app", "nobody", "--snapshot", snapshot_file)
    assert done.code == 2
    assert "order-app" in done.out
    assert "Unknown transactional id 'nobody'" in done.err


def test_hanging_names_cause_and_blast_radius(snapshot_file: Path) -> None:
    done = eosctl("txn", "hanging", "--snapshot", snapshot_file, "-o", "json")
    assert done.code == 3
    check_schema("open-transactions", done.json)
    (item,) = done.json["items"]
    assert (item["topic"], item["partition"], item["status"]) == ("payments", 1, "hanging")
    assert (item["cause"], item["can_abort"]) == ("partition-not-in-transaction", True)
    assert (item["first_offset"], item["invisible_records"], item["groups"]) == (88, 1_200, ["settle<ment>"])


def test_hanging_for_people_says_what_to_do(snapshot_file: Path) -> None:
    done = eosctl("txn", "hanging", "--snapshot", snapshot_file)
    assert "$ eosctl txn abort --topic payments --partition 1 --producer-id 4001" in done.out


@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "tsv"])
def test_every_format(output: str, snapshot_file: Path) -> None:
    for command in (["list"], ["hanging"], ["describe", "order-app"]):
        done = eosctl("txn", *command, "--snapshot", snapshot_file, "-o", output)
        assert done.out
        has_no_room = output == "tsv" or (command[0] == "describe" and output in ("table", "wide"))
        assert done.err.startswith("incomplete: ") if has_no_room else done.err == ""


def test_abort_wants_a_confirmation_that_agrees() -> None:
    done = eosctl("txn", "abort", "--topic", "a", "--partition", "1", "--confirm", "a-2", "-b", "127.0.0.1:1")
    assert done.code == 2
    assert "the target is a-1" in done.err
