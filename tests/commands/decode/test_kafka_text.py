"""`--format kafka` prints what Kafka's dump tool printed for the same files, byte for byte."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from tests.commands.decode.running import run
from tests.storage.cases import FIXTURES

VERSIONS = {
    line.split("\t")[0]: line.split("\t")[1] for line in (FIXTURES / "INDEX.tsv").read_text("utf-8").splitlines()
}
LOGS = sorted(FIXTURES.glob("*/golden*/*/*.log.txt*"))
REMARK = re.compile(r"Non-consecutive offsets in |  -?\d+ is followed by ")
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


def printed(goldens: list[Path]) -> tuple[str, str]:
    """Return what the dump tool wrote to standard output and to standard error for some files, one after the other."""
    lines = "".join(golden_text(golden) for golden in goldens).splitlines(keepends=True)
    remarks = [line for line in lines if REMARK.match(line)]
    return "".join(line for line in lines if not REMARK.match(line)), "".join(remarks)


@pytest.mark.parametrize("root", sorted({golden.parents[1] for golden in LOGS}), ids=lambda path: path.parent.name)
def test_logs(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    goldens = [golden for golden in LOGS if golden.parents[1] == root]
    names = [file_of(golden)[1] for golden in goldens]
    monkeypatch.chdir(file_of(goldens[0])[0])
    dialect = VERSIONS[root.parent.name][:3]
    ran = run(capsys, "decode", "segment", *names, "--records", "-o", "kafka", "--kafka-version", dialect)
    assert ran == (0, *printed(goldens))


@pytest.mark.parametrize("kind", SMALL)
def test_small_files(kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for root in sorted({golden.parents[1] for golden in SMALL[kind]}):
        goldens = [golden for golden in SMALL[kind] if golden.parents[1] == root]
        directory = file_of(goldens[0])[0]
        # Of a killed broker Kafka's tool also reads the zeros behind the entries, and complains about them.
        if "index" in kind and not (directory / ".kafka_cleanshutdown").exists():
            continue
        version = VERSIONS[root.parent.name][:3]
        dialect = ("--kafka-version", version) if kind == "producer-snapshot" else ()
        monkeypatch.chdir(directory)
        ran = run(capsys, "decode", kind, *(file_of(golden)[1] for golden in goldens), "-o", "kafka", *dialect)
        assert ran == (0, *printed(goldens))
        compared += len(goldens)
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
