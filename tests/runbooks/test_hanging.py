"""hanging-transaction, from the injected fault to the end, on the ways that it can take."""

from __future__ import annotations

import json

from eosctl.runbooks.journal import journal_path, list_runs, only_run
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.runbooks.conftest import BLOCKED, NO_ACTION, VERIFIED, item_of, play, run


def open_items(bootstrap: str) -> list[object]:
    return list(eosctl("txn", "hanging", "-b", bootstrap, "-o", "json").json["items"])


def test_a_hanging_transaction_is_ended_and_its_cause_removed() -> None:
    with SandboxThread(fast=False) as cluster:
        report = play(cluster.bootstrap, run_hanging, switch_verification_off=True)

        planned = run(cluster.bootstrap, "hanging-transaction")
        assert (planned.code, item_of(planned)["outcome"]) == (0, "planned"), planned.err
        assert "ABORT marker" in item_of(planned)["message"]
        assert list_runs() == ()
        assert len(open_items(cluster.bootstrap)) == 1

        with only_run(item_of(planned)["cluster_id"], "another"):
            second = run(cluster.bootstrap, "hanging-transaction", "--yes", "--confirm", str(report.partition))
        assert (second.code, "another is running on cluster" in second.err) == (2, True), second.err
        assert list_runs() == ()

        unasked = run(cluster.bootstrap, "hanging-transaction", "--yes")
        assert (unasked.code, item_of(unasked)["outcome"]) == (BLOCKED, "blocked"), unasked.err
        assert f"--confirm '{report.partition}'" in unasked.err
        assert len(open_items(cluster.bootstrap)) == 1

        done = run(cluster.bootstrap, "hanging-transaction", "--yes", "--confirm", str(report.partition))
        assert (done.code, item_of(done)["outcome"]) == (VERIFIED, "verified"), done.err
        assert open_items(cluster.bootstrap) == []
        checks = eosctl("check", "run", "EOS-TXN-001", "EOS-BRK-002", "-b", cluster.bootstrap)
        assert checks.code == 0, checks.out

        again = run(cluster.bootstrap, "hanging-transaction", "--yes")
        assert (again.code, item_of(again)["outcome"]) == (NO_ACTION, "no-action"), again.err

        journal = eosctl("runbook", "journal", item_of(done)["run"], "-o", "json")
        events = [event["event"] for event in journal.json["items"]]
        assert events[0] == "started"
        assert events.index("evidence") < events.index("confirmed") < events.index("acting") < events.index("ended")
        listed = eosctl("runbook", "journal", "-o", "tsv")
        assert len(listed.rows) == 3  # blocked, verified, no-action; the dry run has none

        lines = journal_path(item_of(done)["run"]).read_text().splitlines()
        entry = json.loads(lines[3])
        entry["time_ms"] += 1
        journal_path(item_of(done)["run"]).write_text("\n".join([*lines[:3], json.dumps(entry), *lines[4:]]) + "\n")
        tampered = eosctl("runbook", "journal", item_of(done)["run"])
        assert (tampered.code, tampered.out) == (2, "")
        assert "Line 4" in tampered.err
