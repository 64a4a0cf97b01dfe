"""What is new and what is gone since the last run; what could not be evaluated is neither."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from eosctl.checks.declaration import Case
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.errors import ConfigFileError, EosctlError, UsageError
from eosctl.findings.diagnosis import Diagnosis
from eosctl.services.run_history import compare_with_last, sentences
from tests.checks.cases import build

SLOW_QUOTA = {
    "client_quotas": [{"entity": [["user", None]], "values": [["producer_byte_rate", 1024.0]]}],
    "looks": [
        {
            "started_at_ms": 1,
            "finished_at_ms": 2,
            "transactions": [{"transactional_id": "t", "coordinator_id": 1, "state": "Empty", "producer_id": 7}],
        }
    ],
}
REFUSED = {"gaps": [{"kind": "client-quotas", "subject": "*", "reason": "not-authorized"}]}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "eosctl" / "runs"


def run(**fragment: object) -> Diagnosis:
    return diagnose(ALL_CHECKS, Case(build(fragment)))


def test_the_first_run_has_nothing_to_compare() -> None:
    found = run(**SLOW_QUOTA)
    since = compare_with_last(found, 1_000)
    assert (since.last_at_ms, since.new, since.gone) == (None, frozenset(), ())
    assert sentences(since, found)[0].startswith("since last: the first run")


def test_findings_come_and_go() -> None:
    assert compare_with_last(run(), 1_000).last_at_ms is None
    worse = run(**SLOW_QUOTA)
    since = compare_with_last(worse, 2_000)
    assert since.last_at_ms == 1_000
    assert since.new == {finding.fingerprint for finding in worse.findings}
    text = "EOS-OPS-011 Client quotas delay transactional producers: quota user <default>"
    assert f"new: {text}" in sentences(since, worse)
    assert compare_with_last(worse, 3_000).new == frozenset()
    healed = compare_with_last(run(), 4_000)
    assert text in healed.gone
    assert healed.unknown == ()
    assert compare_with_last(run(), 5_000).gone == ()


def test_what_was_not_evaluated_is_not_gone() -> None:
    compare_with_last(run(**SLOW_QUOTA), 1_000)
    blind = compare_with_last(run(**REFUSED, looks=SLOW_QUOTA["looks"]), 2_000)
    assert not [text for text in blind.gone if "EOS-OPS-011" in text]
    assert [text for text in blind.unknown if "EOS-OPS-011" in text]
    # It is remembered for a later run with the evidence.
    assert [text for text in compare_with_last(run(), 3_000).gone if "EOS-OPS-011" in text]


def test_clusters_are_kept_apart() -> None:
    compare_with_last(run(), 1_000)
    other = replace(run(**SLOW_QUOTA), cluster_id="../../other")
    assert compare_with_last(other, 2_000).last_at_ms is None


def test_files_outside_the_folder_are_never_written(state: Path) -> None:
    compare_with_last(replace(run(), cluster_id="../../../escape"), 1_000)
    (file,) = state.glob("*.json")
    assert {one.name for one in state.iterdir()} == {file.name, f".{file.name}.lock"}


def test_a_run_without_cluster_or_readable_record_is_refused(state: Path) -> None:
    with pytest.raises(UsageError):
        compare_with_last(replace(run(), cluster_id=""), 1_000)
    compare_with_last(run(), 1_000)
    (file,) = state.glob("*.json")
    for text in ("{", '{"a":' * 100_000):
        file.write_text(text, "utf-8")
        with pytest.raises(ConfigFileError, match=file.name):
            compare_with_last(run(), 2_000)
    shutil.rmtree(state)
    state.write_text("", "utf-8")
    with pytest.raises(EosctlError):
        compare_with_last(run(), 3_000)


def test_runs_at_the_same_time_each_compare_with_another() -> None:
    found = run(**SLOW_QUOTA)
    times = range(1_000, 1_016)
    with ThreadPoolExecutor(len(times)) as pool:
        compared = list(pool.map(lambda at_ms: compare_with_last(found, at_ms), times))
    assert len({one.last_at_ms for one in compared}) == len(times)
    assert [one.last_at_ms for one in compared].count(None) == 1
