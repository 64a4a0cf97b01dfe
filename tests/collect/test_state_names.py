"""States in another spelling are judged as Kafka's own; those of a newer broker stay."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.collect.bundles.snapshot_text import decode_snapshot, encode_snapshot
from tests.commands.conftest import eosctl

SAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.json.gz"))


def upper_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def respelled(text: str, spell: Callable[[str], str]) -> str:
    return re.sub(r'(?<="state": ")[A-Za-z]+(?=")', lambda found: spell(found[0]), text)


@pytest.mark.parametrize("spell", [str.lower, str.upper, upper_case])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_snapshot_reads_alike_in_each_spelling(sample: Path, spell: Callable[[str], str]) -> None:
    text = gzip.decompress(sample.read_bytes()).decode()
    whole = decode_snapshot(text.encode())
    assert encode_snapshot(decode_snapshot(respelled(text, spell).encode())) == encode_snapshot(whole)


def test_the_verdict_is_the_same(tmp_path: Path) -> None:
    sample = next(path for path in SAMPLES if path.name.startswith("hanging"))
    text = gzip.decompress(sample.read_bytes()).decode()
    (tmp_path / "lower.json").write_text(changed := respelled(text, str.lower), "utf-8")
    assert changed != text
    verdicts = [
        eosctl("doctor", "--snapshot", path, "-o", "json").json["grade"] for path in (sample, tmp_path / "lower.json")
    ]
    assert verdicts[0] == verdicts[1]


def test_a_state_of_a_newer_broker_stays() -> None:
    text = gzip.decompress(SAMPLES[0].read_bytes()).decode()
    newer = json.loads(respelled(text, lambda _: "PrepareSomethingNew"))
    assert b"PrepareSomethingNew" in encode_snapshot(decode_snapshot(json.dumps(newer).encode()))
