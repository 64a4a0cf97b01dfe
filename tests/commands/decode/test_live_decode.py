"""decode segment --topic: what leaders send decodes like the files on their disks."""

from __future__ import annotations

import json
from typing import Any

from tests.commands.conftest import eosctl, run_scenario
from tests.commands.open_transactions import unhurried
from tests.lab.scenarios.stage.zombie import run_zombie


def rows(*arguments: Any) -> list[dict[str, Any]]:
    done = eosctl("decode", "segment", *arguments, "-o", "json")
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def without_file(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in ("file", "position")} for row in found]


def test_a_topic_decodes_as_its_files_do() -> None:
    with unhurried() as cluster:
        zombie = run_scenario(cluster.bootstrap, run_zombie)
        topic, index = zombie.partition
        (segment,) = cluster.data_dir.glob(f"broker-1/{zombie.partition}/*.log")
        live = ["--topic", topic, "--partition", str(index), "-b", cluster.bootstrap]
        whole = without_file(rows(*live, "--records"))
        assert whole
        assert whole == without_file(rows(segment, "--records"))
        later = rows(*live, "--from", str(zombie.committed_offset), "--only", "data")
        assert [row["base_offset"] for row in later] == [zombie.committed_offset]
        assert without_file(rows(*live, "--from", "@-1h", "--records")) == whole
        assert rows(*live, "--from", "@now") == []
        summary = eosctl("decode", "segment", "--topic", topic, "-b", cluster.bootstrap, "--summary")
        assert (summary.code, "aborted" in summary.out) == (0, True)
        cut = eosctl("decode", "segment", *live, "--max-bytes", "1")
        assert cut.code == 0


def test_what_makes_no_sense(tmp_path: Any) -> None:
    with unhurried() as cluster:
        run_scenario(cluster.bootstrap, run_zombie)
        for wrong in (
            ["--topic", "none", "-b", cluster.bootstrap],
            ["--topic", "payments", "--partition", "77", "-b", cluster.bootstrap],
            ["--topic", "payments", "--from", "soon", "-b", cluster.bootstrap],
            ["--topic", "payments", "--from", "@soon", "-b", cluster.bootstrap],
            ["--topic", "payments", str(tmp_path), "-b", cluster.bootstrap],
            ["-b", cluster.bootstrap, str(tmp_path)],
            [],
        ):
            done = eosctl("decode", "segment", *wrong)
            assert (done.code, done.out) == (2, ""), wrong
