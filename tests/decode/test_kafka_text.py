"""`--format kafka` prints what Kafka's dump tool printed for the same files, byte for byte."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.decode.running import run
from tests.storage.cases import FIXTURES

VERSIONS = {
    line.split("\t")[0]: line.split("\t")[1] for line in (FIXTURES / "INDEX.tsv").read_text("utf-8").splitlines()
}
LOGS = sorted(FIXTURES.glob("*/golden*/*/*.log.txt*"))
SMALL = {
    kind: sorted(FIXTURES.glob(f"*/golden*/*/*{suffix}.txt"))
    for kind, suffix in {
        "index": ".index",
        "time-index": ".timeindex",
        "txn-index": ".txnindex",
        "producer-snapshot": ".snapshot",
    }.items()
}


def golden_text(golden: Path) -> str:
    content = golden.read_bytes()
    text = (gzip.decompress(content) if golden.suffix == ".gz" else content).decode("utf-8")
    return text.removesuffix("# exit: 0\n")


def file_of(golden: Path) -> tuple[Path, str]:
    """Return the data directory and the file's path in it, as the dump tool was called."""
    root = golden.parents[1]
    name = golden.name.removesuffix(".gz").removesuffix(".txt")
    return root.parent / root.name.replace("golden", "data"), f"{golden.parent.name}/{name}"


@pytest.mark.parametrize("case", sorted({golden.parents[2].name for golden in LOGS}))
def test_logs(case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    dialect = VERSIONS[case][:3]
    for golden in (golden for golden in LOGS if golden.parents[2].name == case):
        root, name = file_of(golden)
        monkeypatch.chdir(root)
        ran = run(capsys, "decode", "segment", name, "--records", "-o", "kafka", "--kafka-version", dialect)
        assert (ran.code, ran.out + ran.err) == (0, golden_text(golden)), golden


@pytest.mark.parametrize("kind", SMALL)
def test_small_files(kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for golden in SMALL[kind]:
        root, name = file_of(golden)
        # Of a killed broker Kafka's tool also reads the zeros behind the entries, and complains about them.
        if "index" in kind and not (root / ".kafka_cleanshutdown").exists():
            continue
        version = VERSIONS[golden.parents[2].name][:3]
        dialect = ("--kafka-version", version) if kind == "producer-snapshot" else ()
        monkeypatch.chdir(root)
        ran = run(capsys, "decode", kind, name, "-o", "kafka", *dialect)
        assert (ran.code, ran.out + ran.err) == (0, golden_text(golden)), golden
        compared += 1
    assert compared > 25


def test_the_commands_for_internal_topics_print_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = FIXTURES / "k431-tv2-group-log" / "data"
    monkeypatch.chdir(root)
    for command, topic in (("txn-log", "__transaction_state"), ("offsets", "__consumer_offsets")):
        for log in sorted(root.glob(f"{topic}-*/*.log")):
            name = str(log.relative_to(root))
            assert run(capsys, "decode", command, name, "-o", "kafka") == run(
                capsys, "decode", "segment", name, "--records", "-o", "kafka"
            )
