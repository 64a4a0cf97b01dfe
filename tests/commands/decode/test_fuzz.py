"""Mutated files never crash, hang or fill the memory of the decoders and of fsck.

`EOSCTL_FUZZ_FILES` says how many files are made, 3,000 when it is not set (`make prove fuzz-files`: a million).
"""

from __future__ import annotations

import os
import random
import resource
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from eosctl.analysis.decode.entries import metadata_row
from eosctl.analysis.decode.selection import Selection
from eosctl.analysis.fsck.data_set import DataSetCheck
from eosctl.render.decode.batches import log_writer
from eosctl.render.decode.formats import BytesForm, DecodeFormat, KafkaDialect
from eosctl.render.decode.kafka_text import dump_writer
from eosctl.render.decode.rows import OFFSET_COLUMNS, TRANSACTION_COLUMNS, RowText
from eosctl.render.decode.state_lines import OffsetLines, TransactionLines
from eosctl.services.decode_input import DamageLog, Source
from eosctl.services.decode_logs import dump_logs, stream_logs, stream_rows, summarize
from eosctl.services.decode_topics import offset_rows, transaction_rows
from eosctl.storage.scan import LogBatch, scan_log
from eosctl.storage.survey import survey_data_dir, survey_partition
from eosctl.wire.errors import WireError
from eosctl.wire.records.record import Record
from tests.storage.cases import FIXTURES

FILES = int(os.environ.get("EOSCTL_FUZZ_FILES", "3000"))
SEEDS = 10
#: Files of a partition directory that are mutated for each run of fsck.
FILES_A_RUN = 8
MEMORY_GROWTH_BYTES = 300 << 20

PARTITIONS = [
    FIXTURES / case / "data" / partition
    for case, partition in (
        ("k431-tv1-librdkafka-transactions", "transfers-0"),
        ("k392-tv0-transactions", "transfers-2"),
        ("k431-tv2-group-log", "__consumer_offsets-0"),
        ("hanging-late-produce-1", "__transaction_state-1"),
        ("hanging-late-produce-1", "payments-1"),
        ("k431-tv2-share-log", "__share_group_state-0"),
    )
]


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Change some bytes: single bits, lengths, copies of other places, cuts, noise, zeros."""
    content = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content) + 1)
        match chance.randrange(7):
            case 0 if at < len(content):
                content[at] ^= 1 << chance.randrange(8)
            case 1:
                content[at : at + 4] = chance.choice((0, 1, -1, 0x7FFFFFFF, 61, 1 << 26)).to_bytes(
                    4, "big", signed=True
                )
            case 2:
                start = chance.randrange(len(content) + 1)
                content[at:at] = content[start : start + chance.randrange(200)]
            case 3:
                del content[at : at + chance.randrange(100)]
            case 4:
                content[at : at + 8] = chance.randbytes(8)
            case 5:
                content += bytes(chance.randrange(200))
            case _:
                content[at : at + 1] = chance.randbytes(1)
    return bytes(content)


def mutated(source: Path, target: Path, chance: random.Random) -> list[Path]:
    """Copy a partition directory and mutate some of its files."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    files = sorted(source.iterdir())
    chosen = set(chance.sample(files, min(FILES_A_RUN, len(files))))
    for file in files:
        content = file.read_bytes().rstrip(b"\0") + b"\0" * 8
        (target / file.name).write_bytes(mutate(content, chance) if file in chosen else content)
    return [target / file.name for file in sorted(chosen)]


TRANSACTION_ROWS = transaction_rows(), RowText(TRANSACTION_COLUMNS, DecodeFormat.TSV)
OFFSET_ROWS = offset_rows(), RowText(OFFSET_COLUMNS, DecodeFormat.TSV)


def note(text: str) -> None:
    """Drop what is reported; how it is counted is what matters here."""


def exhaust(pieces: Iterable[object]) -> None:
    for _ in pieces:
        pass


def read_rows(path: Path, row: Callable[[Record, LogBatch], object]) -> None:
    for fact in scan_log(path):
        if isinstance(fact, LogBatch):
            try:
                records = fact.records()
            except WireError:
                continue
            for record in records:
                try:
                    row(record, fact)
                except WireError:
                    continue


def decode_in_every_way(path: Path) -> None:
    source = [Source(path, path.name)]
    forms = (
        (DecodeFormat.TABLE, BytesForm.JSON),
        (DecodeFormat.JSON, BytesForm.JSON),
        (DecodeFormat.TSV, BytesForm.UTF8),
    )
    for form, values in forms:
        writer = log_writer(form, BytesForm.UTF8, values)
        damage = DamageLog(note, strict=False)
        exhaust(stream_logs(source, Selection(), writer, damage, deep=True, with_outcomes=True))
    exhaust(dump_logs(source, DamageLog(note, strict=False), dump_writer(KafkaDialect.KAFKA_4_3), note, deep=True))
    exhaust(dump_logs(source, DamageLog(note, strict=False), dump_writer(KafkaDialect.KAFKA_3_9), note, deep=True))
    summarize(source, Selection(), DamageLog(note, strict=False))
    damage = DamageLog(note, strict=False)
    exhaust(stream_rows(source, Selection(), *TRANSACTION_ROWS, damage, TransactionLines()))
    exhaust(stream_rows(source, Selection(), *OFFSET_ROWS, damage, OffsetLines()))
    read_rows(path, lambda record, batch: metadata_row(record))


@pytest.mark.timeout(600 + FILES // 200)  # a starved machine is not what is tested
@pytest.mark.parametrize("seed", range(SEEDS))
def test_mutated_files(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    made = 0
    while made < FILES // SEEDS:
        source = chance.choice(PARTITIONS)
        files = mutated(source, tmp_path / "data" / source.name, chance)
        made += len(files)
        check = DataSetCheck()
        exhaust(check.check_directory(survey_data_dir(tmp_path / "data"), survey_partition))
        exhaust(check.check_together())
        for file in files:
            if file.suffix == ".log" and chance.random() < 0.3:
                decode_in_every_way(file)
        shutil.rmtree(tmp_path / "data")
        capsys.readouterr()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert after - before < MEMORY_GROWTH_BYTES
