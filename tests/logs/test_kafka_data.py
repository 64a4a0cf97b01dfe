"""Transactions read from Kafka's files, compared with Kafka's own dumps, fsck's verdicts, and producers' results."""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.cli import main
from eosctl.client import Client, connect
from eosctl.client.topics import ensure_topic
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.lab.workloads.transactional import Fate as Known
from eosctl.model.kafka_data import DataSummary, Fate, PartitionTransaction
from eosctl.render.schemas import schema_of
from eosctl.sandbox.core import ClusterShape
from eosctl.wire.records.record import Record
from spark_log_analytics.kafka_data.business_key import BusinessKeyError, parse_business_key
from spark_log_analytics.kafka_data.facts import Tally
from spark_log_analytics.kafka_data.job import share_out
from spark_log_analytics.kafka_data.local import summarize_here
from spark_log_analytics.kafka_data.partition import read_partition
from spark_log_analytics.kafka_data.plan import plan_partitions
from spark_log_analytics.kafka_data.spread import bucket_of, spread_of
from tests.lab.workloads.applications import WriterPlan, WriterResult, run_writer

STORAGE = Path(__file__).parents[1] / "fixtures" / "storage"
HEALTHY = [
    one.name for one in sorted(STORAGE.iterdir()) if (one / "golden").is_dir() and not one.name.startswith("damaged-")
]
TRANSACTIONS = STORAGE / "k431-tv2-transactions" / "data"


def summary_of(*paths: Path, business_key: str | None = None) -> DataSummary:
    return summarize_here(plan_partitions(paths), None if business_key is None else parse_business_key(business_key))


class Golden(NamedTuple):
    """The result of Kafka's record classes: (producer id, first offset, fate) of transactions, and keys for readers."""

    transactions: set[tuple[int, int, str]]
    visible_keys: list[str]


def golden_of(folder: Path) -> Golden:
    """Read Kafka's own dump of a partition."""
    started: dict[int, tuple[int, list[str]]] = {}
    transactions: set[tuple[int, int, str]] = set()
    visible: list[str] = []
    for file in sorted(folder.glob("*.log.expected.json*")):
        content = file.read_bytes()
        for batch in json.loads(gzip.decompress(content) if file.suffix == ".gz" else content)["batches"]:
            producer_id = batch["producerId"]
            keys = [base64.b64decode(record["key"]) if record.get("key") else b"" for record in batch["records"]]
            if batch["isControl"]:
                outcomes = [int.from_bytes(key[2:4], "big") for key in keys]
                if outcomes and outcomes[0] in (0, 1) and producer_id in started:
                    first, hidden = started.pop(producer_id)
                    transactions.add((producer_id, first, "committed" if outcomes[0] else "aborted"))
                    visible += hidden if outcomes[0] else []
            elif batch["isTransactional"]:
                _, hidden = started.setdefault(producer_id, (batch["baseOffset"], []))
                hidden += [key.decode(errors="backslashreplace") for key in keys]
            else:
                visible += [key.decode(errors="backslashreplace") for key in keys]
    left_open = {(producer_id, first, "open") for producer_id, (first, _) in started.items()}
    return Golden(transactions | left_open, visible)


@pytest.mark.parametrize("case", HEALTHY)
def test_transactions_are_those_of_kafkas_own_dump(case: str) -> None:
    data, golden = STORAGE / case / "data", STORAGE / case / "golden"
    partitions = [path for path in data.iterdir() if (golden / path.name).is_dir()]
    assert partitions
    for directory in partitions:
        facts = [fact for fact in read_partition(directory) if isinstance(fact, PartitionTransaction)]
        mine = {(fact.producer_id, fact.first_offset, str(fact.fate)) for fact in facts}
        assert mine == golden_of(golden / directory.name).transactions, directory


@pytest.mark.parametrize(
    "case", [one.name for one in sorted(STORAGE.iterdir()) if (one / "expected-findings.json").is_file()]
)
def test_the_breaks_of_the_files_are_found(case: str) -> None:
    expected = json.loads((STORAGE / case / "expected-findings.json").read_text())
    wanted = sorted(
        (one["kind"], one["file"].split("/")[0], one["offset"])
        for one in expected
        if one["kind"] in ("sequence-gap", "duplicate-batch")
    )
    summary = summary_of(STORAGE / case / "data")
    assert sorted((one.kind, f"{one.topic}-{one.partition}", one.offset) for one in summary.breaks) == wanted
    broken = {"crc-mismatch", "bad-magic", "bad-length", "torn-batch"} & {one["kind"] for one in expected}
    assert {one.kind for one in summary.damages} == broken


def test_the_coordinator_shows_the_duration_of_transactions() -> None:
    summary = summary_of(STORAGE / "k431-tv2-state-log-live" / "data")
    invoices = next(one for one in summary.ids if one.transactional_id == "invoices-writer")
    assert (invoices.committed_count, invoices.aborted_count, invoices.abort_ratio) == (2, 1, 1 / 3)
    # Ongoing at ...418967, CompleteCommit at ...418984: the longest of the three.
    assert invoices.duration.known_count == 3
    assert 10 <= invoices.duration.max_ms <= 20
    assert invoices.ending.known_count == 3


def test_a_hang_is_open_in_the_partition_only() -> None:
    summary = summary_of(STORAGE / "hanging-late-produce-1" / "data")
    (hanging,) = summary.open_transactions
    assert hanging.fate == Fate.OPEN
    assert not summary.unfinished


def test_a_marker_in_damaged_bytes_leaves_the_outcome_unknown(tmp_path: Path) -> None:
    source = STORAGE / "hanging-late-produce-1" / "data"
    (directory,) = (
        directory
        for directory in plan_partitions([source]).directories
        if any(isinstance(fact, PartitionTransaction) and fact.fate == Fate.OPEN for fact in read_partition(directory))
    )
    copy = tmp_path / directory.name
    copy.mkdir()
    for log in directory.glob("*.log"):
        (copy / log.name).write_bytes(log.read_bytes())
    last = sorted(copy.glob("*.log"))[-1]
    last.write_bytes(last.read_bytes() + b"\xff" * 30)
    (left,) = summary_of(copy).open_transactions
    assert left.fate == Fate.UNKNOWN


def test_a_sandbox_holds_what_its_writers_know(tmp_path: Path) -> None:
    results: list[WriterResult] = []

    async def run() -> None:
        async with (
            simulate(ClusterShape(fast=True), tmp_path, seed=7) as simulation,
            connect(simulation.config, connector=simulation.network, chance=random.Random(7)) as client,
        ):
            results.extend([await _write(client, f"writer-{number}", simulation.now_ms) for number in range(3)])

    async def _write(client: Client, name: str, now_ms: object) -> WriterResult:
        topic = await ensure_topic(client, "events", partition_count=2)
        partitions = tuple(one.partition for one in topic.partitions)
        plan = WriterPlan(name, partitions, transaction_count=25, abort_share=0.3)
        return await run_writer(client, plan, chance=random.Random(name), now_ms=now_ms)  # type: ignore[arg-type]

    run_virtual(run(), 7)
    summary = summary_of(tmp_path, business_key="key")
    assert {one.transactional_id for one in summary.ids} == {f"writer-{number}" for number in range(3)}
    for number, result in enumerate(results):
        counts = next(one for one in summary.ids if one.transactional_id == f"writer-{number}")
        fates = Counter(one.fate for one in result.transactions if one.values)
        assert (counts.committed_count, counts.aborted_count) == (fates[Known.COMMITTED], fates[Known.ABORTED])
        assert counts.duration.known_count == counts.committed_count + counts.aborted_count
    events = next(one for one in summary.topics if one.topic == "events")
    assert events.record_count == sum(len(one.values) for result in results for one in result.transactions)
    assert events.open_count == 0
    assert not summary.breaks


@given(st.lists(st.integers(min_value=0, max_value=10**9), min_size=1))
def test_a_spread_is_right_within_two_percent(durations: list[int]) -> None:
    spread = spread_of(Counter(map(bucket_of, durations)))
    ordered = sorted(durations)
    for estimate, percent in ((spread.p50_ms, 50), (spread.p99_ms, 99)):
        true = ordered[-(-len(ordered) * percent // 100) - 1]
        assert true <= estimate <= true * 1.02
    assert ordered[-1] <= spread.max_ms <= ordered[-1] * 1.02


@given(st.lists(st.integers(min_value=0, max_value=10**12), max_size=40), st.integers(min_value=1, max_value=9))
def test_every_partition_is_given_to_one_task(sizes: list[int], task_count: int) -> None:
    plan = plan_partitions([])._replace(
        directories=tuple(Path(f"t-{number}") for number in range(len(sizes))), size_bytes=tuple(sizes)
    )
    shares = share_out(plan, task_count)
    assert sorted(one for share in shares for one in share) == sorted(plan.directories)
    assert len(shares) == min(task_count, len(sizes))


@pytest.mark.parametrize("expression", ["", "keys", "header:", "value:", "value:a..b", "value:.a", "key:x"])
def test_an_invalid_business_key_is_refused(expression: str) -> None:
    with pytest.raises(BusinessKeyError):
        parse_business_key(expression)


def test_business_keys_are_taken_from_key_header_or_json() -> None:
    record = Record(0, 0, b"k", b'{"order": {"id": 7}, "none": null}', (("id", b"a"), ("id", b"b")))
    assert parse_business_key("key")(record) == b"k"
    assert parse_business_key("header:id")(record) == b"b"
    assert parse_business_key("header:no")(record) is None
    assert parse_business_key("value:order.id")(record) == b"7"
    assert parse_business_key("value:order.id.x")(record) is None
    assert parse_business_key("value:none")(record) is None
    assert parse_business_key("value:a")(record._replace(value=b"\xff")) is None
    assert parse_business_key("value:a")(record._replace(value=b"[" * 100_000)) is None


def test_duplicates_are_records_that_readers_get_twice() -> None:
    summary = summary_of(TRANSACTIONS, business_key="key")
    expected: Counter[tuple[str, str]] = Counter()
    for folder in (TRANSACTIONS.parent / "golden").iterdir():
        if not folder.name.startswith("__"):
            expected.update((folder.name.rpartition("-")[0], key) for key in golden_of(folder).visible_keys)
    twice = {place: count for place, count in expected.items() if count > 1}
    assert {(one.topic, one.key): one.record_count for one in summary.duplicates} == twice
    assert summary.duplicate_key_count == len(twice)


def test_the_most_advanced_replica_is_read(tmp_path: Path) -> None:
    source = TRANSACTIONS / "journal-0"
    for broker, kept in (("1", 0.5), ("2", 1.0), ("3", 0.7)):
        directory = tmp_path / broker / "journal-0"
        directory.mkdir(parents=True)
        for log in source.glob("*.log"):
            data = log.read_bytes()
            (directory / log.name).write_bytes(data[: int(len(data) * kept)])
    plan = plan_partitions([tmp_path])
    assert [one.parent.name for one in plan.directories] == ["2"]
    assert sorted(one.parent.name for one in plan.other_replicas) == ["1", "3"]


def test_the_command_prints_all_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "data", str(TRANSACTIONS), "--business-key", "key", "-o", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    jsonschema.validate(result, schema_of("kafka-data"))
    transfers = next(one for one in result["topics"] if one["topic"] == "transfers")
    assert (transfers["committed_count"], transfers["aborted_count"], transfers["open_count"]) == (12, 12, 1)
    assert transfers["marker_bytes"] == 24 * 78
    assert transfers["duration"]["known_count"] == 24
    assert result["open_transactions"][0]["first_offset"] == 42
    assert result["duplicate_keys"][0]["first"]["partition"] == 2
    assert main(["logs", "data", str(TRANSACTIONS), "--topic", "transfers"]) == 0
    out = capsys.readouterr().out
    assert "open in the partition" in out
    assert "journal" not in out


def test_damage_is_reported_with_its_position(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "data", str(STORAGE / "damaged-bitflip-payload" / "data")]) == 4
    done = capsys.readouterr()
    assert "crc-mismatch" in done.out
    assert "byte 978" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/nowhere-at-all"], "does not exist"),
        ([str(STORAGE.parent / "configs")], "no partition directory"),
        ([str(TRANSACTIONS), "--business-key", "kex"], "does not name a part of a record"),
        ([str(TRANSACTIONS), "--topic", "absent"], "no partition of topic 'absent'"),
        ([str(TRANSACTIONS), str(STORAGE / "k392-tv0-group-log" / "data")], "2 clusters"),
    ],
)
def test_unreadable_input_is_refused_with_the_reason(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logs", "data", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_tallies_do_not_depend_on_the_order_of_facts() -> None:
    facts = [fact for directory in plan_partitions([TRANSACTIONS]).directories for fact in read_partition(directory)]
    assert sum(isinstance(fact, Tally) for fact in facts) > 7
    from spark_log_analytics.kafka_data.summary import Summarizer

    summaries = set()
    for seed in range(3):
        random.Random(seed).shuffle(facts)
        summarizer = Summarizer()
        for fact in facts:
            summarizer.add(fact)
        summaries.add(repr(summarizer.finish()))
    assert len(summaries) == 1
