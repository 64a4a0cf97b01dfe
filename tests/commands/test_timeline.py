"""timeline: everything that happened to an id, a partition or a group, in lanes."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from eosctl.client import Client
from eosctl.client.producer import TransactionalProducer
from eosctl.client.transactions import GroupIdentity, OffsetToCommit, wait_until_ended
from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.callbacks import system_now_ms
from tests.commands.conftest import eosctl, run_scenario
from tests.commands.open_transactions import leave_open, on, unhurried
from tests.commands.txn.test_txn import check_schema
from tests.lab.scenarios.stage.zombie import run_zombie


@pytest.fixture(scope="module")
def cluster() -> Any:
    with unhurried() as running:
        zombie = run_scenario(running.bootstrap, lambda stage: run_zombie(stage, transactional_id="shop"))

        async def commit(client: Client) -> None:
            producer = TransactionalProducer(client, "reader", now_ms=system_now_ms)
            await producer.init_transactions()
            await producer.send_offsets(GroupIdentity("billing"), {zombie.partition: OffsetToCommit(4)})
            await producer.commit()
            await wait_until_ended(client, "reader")
            await leave_open(client, "left", topic="other")

        on(running.bootstrap, commit)
        yield running, zombie


def lanes(*arguments: str | Path) -> dict[str, list[dict[str, Any]]]:
    done = eosctl("timeline", *arguments, "-o", "json")
    assert done.code == 0, done.err
    check_schema("timeline", done.json)
    return {lane["name"]: lane["marks"] for lane in done.json["items"]}


def test_an_id_in_lanes(cluster: Any) -> None:
    running, zombie = cluster
    found = lanes("--transactional-id", "shop", "-b", running.bootstrap)
    partition = next(name for name in found if name.startswith(str(zombie.partition)))
    assert set(found) == {"shop", partition}
    tones = [mark["tone"] for mark in found["shop"] if mark["until_ms"] is not None]
    assert tones == ["commit", "abort", "commit"]
    assert [mark["label"].split(":")[0] for mark in found["shop"] if mark["tone"] == "takeover"] == ["newer-instance"]
    assert [mark["tone"] for mark in found[partition]] == ["plain", "commit", "plain", "abort", "plain", "commit"]


def test_a_partition_a_group_and_a_window(cluster: Any) -> None:
    running, zombie = cluster
    by_partition = lanes("--topic-partition", str(zombie.partition), "-b", running.bootstrap)
    assert "shop" in by_partition
    assert "left" not in by_partition
    by_group = lanes("--group", "billing", "-b", running.bootstrap)
    assert "group billing" in by_group
    assert "reader" in by_group
    assert "shop" not in by_group
    everything = lanes("--from=-1h", "-b", running.bootstrap)
    assert {"shop", "reader", "left"} <= set(everything)
    assert [mark["tone"] for mark in everything["left"] if mark["until_ms"] is not None] == ["open"]
    assert lanes("--from", "now", "--transactional-id", "shop", "-b", running.bootstrap) == {}


def test_from_files_and_with_logs(cluster: Any, tmp_path: Path) -> None:
    running, zombie = cluster
    live = lanes("--transactional-id", "shop", "-b", running.bootstrap)
    log = tmp_path / "till.log"
    log.write_text(
        "[2026-11-21 09:00:00,000] ERROR [Producer clientId=till-7, transactionalId=shop] Transiting to fatal error "
        "state due to org.apache.kafka.common.errors.ProducerFencedException (o.a.k.c.p.i.TransactionManager)\n" * 3
    )
    filed = lanes("--transactional-id", "shop", "--data-dir", running.data_dir, "--logs", log)
    assert filed["shop"] == live["shop"]
    assert str(zombie.partition) in filed
    assert filed["log of till-7"][0]["tone"] == "warning"


class Page(HTMLParser):
    """Collects tags and content that would need a network or a script."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outside += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_page_stands_alone_and_escapes_names(cluster: Any, tmp_path: Path) -> None:
    running, _ = cluster
    evil = '<script>alert("x")</script>'
    on(running.bootstrap, lambda client: leave_open(client, evil, topic="other"))
    file = tmp_path / "timeline.html"
    done = eosctl("timeline", "--from=-1h", "-b", running.bootstrap, "-o", "html", "--output-file", file)
    assert (done.code, done.out) == (0, ""), done.err
    page = Page()
    page.feed(file.read_text())
    assert "script" not in page.tags
    assert page.outside == []
    assert {"svg", "rect", "polygon", "table"} <= set(page.tags)


def test_missing_evidence_is_an_exit_code_where_it_is_asked_for(tmp_path: Path) -> None:
    gap = EvidenceGap(EvidenceKind.TRANSACTIONS, "broker 2", GapReason.UNREACHABLE)
    codes = []
    for name, gaps in (("whole", ()), ("partial", (gap,))):
        file = tmp_path / name
        save_snapshot(ClusterSnapshot(1_000, "cluster", gaps=gaps), file)
        for more in ([], ["--require-complete"], ["--require-complete", "-o", "html", "--output-file", f"{file}.html"]):
            codes.append(eosctl("timeline", "--from", "0", "--snapshot", file, *more).code)
    assert codes == [0, 0, 0, 0, 4, 4]


def test_what_makes_no_sense(cluster: Any) -> None:
    bootstrap = cluster[0].bootstrap
    for more in (
        ["--topic-partition", "orders"],
        ["--from", "yesterday"],
        ["--from=-1m", "--to=-2m"],
        ["--topic-partition", "no-9"],
    ):
        assert eosctl("timeline", *more, "-b", bootstrap).code == 2, more
    for option, kind in (("--transactional-id", "transactional id"), ("--group", "group")):
        unknown = eosctl("timeline", option, "nope", "-b", bootstrap)
        assert (unknown.code, f"Unknown {kind} 'nope'." in unknown.err) == (2, True)
    within = eosctl("timeline", "--transactional-id", "nope", "--from=-1h", "-b", bootstrap)
    assert (within.code, "Nothing is known" in within.out) == (0, True)


def test_a_snapshot_without_group_commits_refuses_no_group(tmp_path: Path) -> None:
    file = tmp_path / "snapshot"
    save_snapshot(ClusterSnapshot(1_000, "cluster"), file)
    assert eosctl("timeline", "--group", "nope", "--snapshot", file).code == 0
    assert eosctl("timeline", "--transactional-id", "nope", "--snapshot", file).code == 2


def test_logs_in_which_nothing_is_recognized_are_named(cluster: Any, tmp_path: Path) -> None:
    running, _ = cluster
    file = tmp_path / "services"
    file.write_text("ssh 22/tcp\n" * 50)
    given = ("--from=-1h", "-b", running.bootstrap, "--logs", file)
    done = eosctl("timeline", *given)
    assert (done.code, f"No log record was recognized in {file}" in done.out) == (0, True)
    assert eosctl("timeline", *given, "--require-complete").code == 4
    refused = eosctl("timeline", "--logs", file)
    assert (refused.code, "No log record was recognized" in refused.err) == (2, True)
