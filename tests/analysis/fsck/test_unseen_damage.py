"""The same kinds of damage in other places: found wherever the log is not compacted, and nothing else is blamed."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from eosctl.model.fsck import FsckSeverity
from tests.analysis.fsck.damage import DAMAGES, Damage
from tests.analysis.fsck.test_recorded_cases import FOLLOWERS, check
from tests.storage.cases import FIXTURES

#: Partitions without compaction or deletion, written by three releases and two clients.
CASES = [
    FIXTURES / name / "data"
    for name in (
        "k392-tv0-transactions",
        "k431-tv1-librdkafka-transactions",
        "k431-tv2-transactions",
        "k392-tv0-codecs",
        "fenced-1",
        "timed-out-1",
        "producer-id-rotation-1",
    )
]
ROUNDS = 4


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_named(damage: Damage, tmp_path: Path) -> None:
    chance = random.Random(damage.__name__)
    tried = 0
    for case in CASES:
        partitions = sorted(path for path in case.glob("*-*/") if not path.name.startswith("__"))
        for number in range(ROUNDS):
            copy = tmp_path / f"{case.parent.name}-{number}" / "data"
            source = chance.choice(partitions)
            for path in (source, *case.glob("__transaction_state-*")):
                shutil.copytree(path, copy / path.name, copy_function=shutil.copyfile)
            (copy / source.name).chmod(0o755)
            before = {(finding.kind, finding.file) for finding in check(copy)}
            wanted = damage(copy / source.name, chance)
            if wanted is None:
                continue
            tried += 1
            kind, place = wanted
            found = [finding for finding in check(copy) if (finding.kind, finding.file) not in before]
            hits = [f for f in found if f.kind == kind and (place is None or place in (f.position, f.entry))]
            assert hits, (source, wanted, found)
            others = [f for f in found if f.kind != kind and f.severity is not FsckSeverity.INFO]
            in_log = any(hit.file.endswith(".log") for hit in hits)
            blamed = [f for f in others if not (in_log and f.file.endswith(FOLLOWERS))]
            blamed = [f for f in blamed if (f.kind, damage.__name__) != ("hanging-transaction", "tear_the_end")]
            assert blamed == [], (source, wanted)
    assert tried >= 2
