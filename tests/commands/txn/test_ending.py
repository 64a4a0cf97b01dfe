"""txn complete and txn fence on clusters where the wrong word would destroy committed records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, TV2, wait_until_ended
from eosctl.errors import ClusterUnreachable
from eosctl.model.transaction import TopicPartition
from eosctl.services import change_transaction
from eosctl.services.callbacks import system_now_ms
from eosctl.testing import SandboxThread
from tests.command_line.terminal import ask_and_type
from tests.commands.conftest import eosctl, run_scenario
from tests.commands.open_transactions import Opened, leave_open, on, record, skip_marker, unhurried
from tests.commands.txn.test_txn import check_schema
from tests.lab.scenarios.stage.hanging import run_hanging


def target(opened: Opened) -> list[str]:
    return ["--topic", opened.partition.topic, "--partition", str(opened.partition.partition)]


def hands(cluster: SandboxThread) -> tuple[str, Any, Any]:
    return cluster.bootstrap, cluster.stop_broker, cluster.start_broker


def committed_count(bootstrap: str, opened: Opened) -> int:
    async def read(client: Any) -> int:
        reader = await Reader.open(client, [opened.partition], isolation=IsolationLevel.READ_COMMITTED)
        return len((await reader.drain(10_000)).get(opened.partition, []))

    count: int = on(bootstrap, read)
    return count


def audit(home: Path) -> list[str]:
    lines = (home / "state" / "eosctl" / "audit.jsonl").read_text().splitlines()
    return [json.loads(line)["action"] for line in lines]


@pytest.mark.parametrize("dialect", [TV1, TV2])
def test_a_skipped_commit_is_completed_and_never_aborted(
    dialect: Any, three_brokers: SandboxThread, own_home: Path
) -> None:
    bootstrap = three_brokers.bootstrap
    opened = skip_marker(*hands(three_brokers), committed=True, dialect=dialect)
    assert committed_count(bootstrap, opened) == 0
    (hung,) = eosctl("txn", "hanging", "-b", bootstrap, "-o", "json").json["items"]
    assert (hung["producer_id"], hung["can_abort"]) == (opened.producer_id, False)

    refused = eosctl("txn", "abort", *target(opened), "-b", bootstrap, "--yes")
    assert refused.code == 1
    assert "KAFKA-20734" in refused.err
    plan = eosctl("txn", "complete", *target(opened), "-b", bootstrap, "-o", "json")
    assert plan.code == 0, plan.err
    check_schema("complete", plan.json)
    assert (plan.json["items"][0]["marker"], plan.json["items"][0]["carried_out"]) == ("COMMIT", False)
    assert plan.json["items"][0]["coordinator_epoch"] == max(hung["coordinator_epoch"], 0)
    assert committed_count(bootstrap, opened) == 0

    done = eosctl("txn", "complete", *target(opened), "-b", bootstrap, "--confirm", str(opened.partition), "-o", "json")
    assert done.code == 0, done.err
    assert done.json["items"][0]["verified"] is True
    assert committed_count(bootstrap, opened) == 2
    assert audit(own_home)[-2:] == ["txn complete begun", "txn complete done"]


@pytest.mark.parametrize("dialect", [TV1, TV2])
def test_a_skipped_abort_is_aborted_and_never_completed(dialect: Any, three_brokers: SandboxThread) -> None:
    bootstrap = three_brokers.bootstrap
    opened = skip_marker(*hands(three_brokers), committed=False, dialect=dialect)
    refused = eosctl("txn", "complete", *target(opened), "-b", bootstrap, "--yes")
    assert refused.code == 1
    assert "decided to abort" in refused.err
    done = eosctl("txn", "abort", *target(opened), "-b", bootstrap, "--yes", "-o", "json")
    assert done.code == 0, done.err
    assert done.json["items"][0]["verified"] is True
    assert committed_count(bootstrap, opened) == 0


def test_late_records_are_not_completed() -> None:
    with unhurried(**{"transaction.partition.verification.enable": "false"}) as cluster:
        hanging = run_scenario(cluster.bootstrap, run_hanging)
        where = ["--topic", hanging.partition.topic, "--partition", str(hanging.partition.partition)]
        refused = eosctl("txn", "complete", *where, "-b", cluster.bootstrap, "--yes")
        assert refused.code == 1
        assert "arrived after their transaction had ended" in refused.err
        assert f"eosctl txn abort -b {cluster.bootstrap} {' '.join(where)}" in refused.err
        script = eosctl("txn", "abort", *where, "-b", cluster.bootstrap, "--script", "/nonexistent/abort.sh")
        assert script.code == 1


def described(bootstrap: str, transactional_id: str) -> dict[str, Any]:
    done = eosctl("txn", "describe", transactional_id, "-b", bootstrap, "-o", "json")
    assert done.code == 0, done.err
    found: dict[str, Any] = done.json["items"][0]["transaction"]
    return found


def test_a_live_transaction_is_fenced_and_keeps_its_timeout(one_broker: SandboxThread, own_home: Path) -> None:
    bootstrap = one_broker.bootstrap
    opened = on(bootstrap, lambda client: leave_open(client, "shop-0", timeout_ms=123_000))
    before = described(bootstrap, "shop-0")
    plan = eosctl("txn", "fence", "shop-0", "-b", bootstrap, "-o", "json", "--script", own_home / "fence.sh")
    assert plan.code == 0, plan.err
    check_schema("fence", plan.json)
    assert (plan.json["items"][0]["carried_out"], plan.json["items"][0]["timeout_ms"]) == (False, 123_000)
    assert "forceTerminateTransaction --transactionalId shop-0" in (own_home / "fence.sh").read_text()
    assert described(bootstrap, "shop-0")["producer_epoch"] == before["producer_epoch"]

    done = eosctl("txn", "fence", "shop-0", "-b", bootstrap, "--yes", "-o", "json")
    assert done.code == 0, done.err
    assert done.json["items"][0]["verified"] is True
    after = described(bootstrap, "shop-0")
    assert (after["state"], after["timeout_ms"]) == ("Empty", 123_000)
    assert after["producer_epoch"] > opened.producer_epoch
    assert audit(own_home) == [f"txn fence {step}" for step in ("planned", "declined", "planned", "begun", "done")]


@pytest.mark.parametrize(
    ("typed", "ended", "steps"),
    [
        (b"\n", 0, ["declined"]),
        (b"shop-1\n", 0, ["declined"]),
        (b"\x03", 130, ["declined"]),
        (b"shop-0\n", 0, ["begun", "done"]),
    ],
    ids=["enter", "another id", "ctrl-c", "its id"],
)
def test_a_terminal_shows_the_plan_in_color_and_asks(
    typed: bytes,
    ended: int,
    steps: list[str],
    one_broker: SandboxThread,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    bootstrap = one_broker.bootstrap
    opened = on(bootstrap, lambda client: leave_open(client, "shop-0"))
    asked = ("-m", "eosctl", "txn", "fence", "shop-0", "-b", bootstrap)
    code, shown = ask_and_type(asked, b"press Enter to leave it: ", typed)
    assert code == ended, shown
    assert audit(own_home) == [f"txn fence {step}" for step in ("planned", *steps)]
    assert ("'shop-1' was typed, not 'shop-0'" in shown) is (typed == b"shop-1\n")
    assert "\x1b[1mPLAN: fence one transactional id\x1b[0m" in shown
    assert "\\x1b" not in shown
    assert "--yes" not in shown.partition("Type shop-0")[0]
    assert (described(bootstrap, "shop-0")["producer_epoch"] > opened.producer_epoch) is ("done" in steps)


def test_an_attempt_that_nothing_decides_is_audited(
    one_broker: SandboxThread, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(*_: object) -> None:
        raise ClusterUnreachable("The leader does not answer.", "It is paused.", "Start it.")

    monkeypatch.setattr(change_transaction, "collect_snapshot", silent)
    on_orders = ("--topic", "orders", "--partition", "0", "--yes")
    assert eosctl("txn", "abort", *on_orders, "-b", one_broker.bootstrap).code == 1
    assert audit(own_home) == ["txn abort refused"]


@pytest.mark.parametrize("dialect", [TV1, TV2])
def test_an_own_fence_is_reported_as_such(dialect: Any, own_home: Path) -> None:
    with unhurried() as cluster:
        bootstrap = cluster.bootstrap
        on(bootstrap, lambda client: leave_open(client, "shop-0", dialect=dialect))
        assert eosctl("txn", "fence", "shop-0", "-b", bootstrap, "--yes").code == 0
        line = json.loads((own_home / "state" / "eosctl" / "audit.jsonl").read_text().splitlines()[-1])
        who = f"{line['user']} on {line['host']}"
        saved = own_home / "evidence.json"

        def fenced(*source: str | Path) -> dict[str, Any]:
            found = eosctl("check", "run", "EOS-TXN-004", *source, "-o", "json", "--exit-zero").json["items"]
            (item,) = found
            return dict(item)

        own = fenced("-b", bootstrap, "--save-snapshot", saved)
        assert (own["severity"], own["confidence"], own["facts"]["fenced_by"]) == ("info", "certain", who)
        assert f"eosctl txn fence, run by {who} at 2" in own["message"]
        (blamed,) = eosctl("txn", "blame", "shop-0", "-b", bootstrap, "-o", "json").json["items"]
        assert (blamed["cause"], blamed["confidence"]) == ("admin-fence", "certain")
        assert who in blamed["explanation"]

        # The snapshot carries the fences; on another machine, neither it nor the cluster gets others.
        (own_home / "state" / "eosctl" / "audit.jsonl").unlink()
        assert fenced("--snapshot", saved) == own
        assert fenced("-b", bootstrap)["severity"] == "warning"
        (blamed,) = eosctl("txn", "blame", "shop-0", "-b", bootstrap, "-o", "json").json["items"]
        assert "eosctl" not in blamed["explanation"]


def test_a_fence_with_nothing_open_is_explained_too(one_broker: SandboxThread) -> None:
    bootstrap = one_broker.bootstrap

    async def commit(client: Any) -> None:
        await ensure_topic(client, "orders", partition_count=1)
        owner = TransactionalProducer(client, "shop-0", now_ms=system_now_ms, dialect=TV1)
        await owner.init_transactions()
        await owner.send(TopicPartition("orders", 0), [record("a")])
        await owner.commit()
        await wait_until_ended(client, "shop-0")

    on(bootstrap, commit)
    assert eosctl("txn", "fence", "shop-0", "-b", bootstrap, "--yes").code == 0
    assert eosctl("check", "run", "EOS-TXN-004", "-b", bootstrap).code == 0
    (blamed,) = eosctl("txn", "blame", "shop-0", "-b", bootstrap, "-o", "json").json["items"]
    assert (blamed["cause"], blamed["confidence"]) == ("admin-fence", "certain")
    assert "with nothing open" in blamed["explanation"]


def test_what_must_not_be_fenced(one_broker: SandboxThread) -> None:
    bootstrap = one_broker.bootstrap
    on(bootstrap, lambda client: leave_open(client, "sink-0-7"))
    unknown = eosctl("txn", "fence", "nobody", "-b", bootstrap, "--yes")
    assert unknown.code == 2
    assert "would create it" in unknown.err
    assert "nobody" not in eosctl("txn", "list", "-b", bootstrap).out

    refused = eosctl("txn", "fence", "sink-0-7", "-b", bootstrap, "--yes")
    assert refused.code == 1
    assert "--accept-data-loss sink-0-7" in refused.err
    assert eosctl("txn", "fence", "sink-0-7", "-b", bootstrap, "--yes", "--accept-data-loss", "sink-0").code == 1
    assert described(bootstrap, "sink-0-7")["state"] == "Ongoing"
    accepted = eosctl("txn", "fence", "sink-0-7", "-b", bootstrap, "--yes", "--accept-data-loss", "sink-0-7")
    assert accepted.code == 0, accepted.err
    assert described(bootstrap, "sink-0-7")["state"] == "Empty"


def test_producers_are_listed_with_their_ids(one_broker: SandboxThread) -> None:
    opened = on(one_broker.bootstrap, lambda client: leave_open(client, "shop-0"))
    done = eosctl("txn", "producers", "--topic", "orders", "--open", "-b", one_broker.bootstrap, "-o", "json")
    check_schema("producers", done.json)
    (row,) = done.json["items"]
    assert (row["transactional_id"], row["open_since_offset"]) == ("shop-0", opened.first_offset)
    assert eosctl("txn", "producers", "--topic", "none", "-b", one_broker.bootstrap).code == 2
