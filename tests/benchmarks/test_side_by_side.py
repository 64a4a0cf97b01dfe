"""Side-by-side measurements: what is printed and kept, what is refused, and engines that fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from benchmarks import side_by_side
from benchmarks.peers import measuring, rivals
from benchmarks.peers.measuring import Clocks, Rival, Sample, Shape, alternate, process_cpu_s, run_once, spread
from benchmarks.peers.report import BenchRun, render_bench
from eosctl.errors import EosctlError
from eosctl.lab.workloads.latency import Percentiles
from eosctl.lab.workloads.load import Load, LoadReport, Profile

CLOCKS = Clocks(lambda: 0, lambda: 0.0)
CLOSED, OPEN = Shape(Profile.TV1, 16, 1), Shape(Profile.TV2, 64, 4, 1_000.0)


def report(shape: Shape, completed: int, backlog: int = 0, errors: dict[str, int] | None = None) -> LoadReport:
    load = Load(shape.profile, "t", shape.connections, shape.ids, rate_per_s=shape.rate_per_s)
    waits = Percentiles(completed, 1.0, 2.0, 3.0, 4.0, 5.0)
    return LoadReport(load, 1_000.0, completed, waits, waits, 0, errors or {}, backlog, 20.0)


def test_the_sandbox_is_measured_and_the_result_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kept = tmp_path / "result.json"
    # Long enough for a busy machine: processor time is counted in ticks of 10 ms.
    load = ("--profile", "tv2", "--shape", "2x2", "--rounds", "1", "--seconds", "1")
    code = side_by_side.main(("--engine", "sandbox", *load, "--save", str(kept)))
    shown = capsys.readouterr()
    assert code == 0, shown.err
    (result,) = json.loads(kept.read_text())["results"]
    assert (result["engine"], result["load"], result["runs"]) == ("sandbox", "TV2 2x2", 1)
    assert result["errors"] == []
    assert result["server_cpu_us"]["median"] > 0
    assert result["rate_per_s"]["median"] > 0
    assert "TV2 2x2" in shown.out
    assert "round 1 of 1: TV2 2x2 on sandbox" in shown.err


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--profile", "TV9"), "TV9"),
        (("--shape", "16"), "16x4"),
        (("--shape", "0x4"), "0x4"),
        (("--engine", "sandbux"), "sandbox"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    options: tuple[str, ...], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert side_by_side.main(options) == 2
    shown = capsys.readouterr()
    assert word in shown.err
    assert "starting" not in shown.err


def test_loads_alternate_and_first_runs_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[str, str]] = []

    def run(rival: Rival, shape: Shape, duration_ms: int, prefix: str, clocks: Clocks) -> Sample:
        runs.append((rival.name, prefix))
        return Sample(float(len(runs)), report(shape, 1_000))

    monkeypatch.setattr(measuring, "run_once", run)
    both = [Rival("a", "a:1", 1), Rival("b", "b:1", 2)]
    samples = alternate(both, [CLOSED, OPEN], 2, 500, CLOCKS, lambda _: None)
    assert runs[:2] == [("a", "warm-up"), ("b", "warm-up")]
    assert [name for name, _ in runs[2:]] == ["a", "b"] * 4
    assert [sample.server_cpu_us for sample in samples["a", CLOSED]] == [3.0, 7.0]
    assert len({prefix for name, prefix in runs if name == "a"}) == 5  # ids of their own


@pytest.mark.parametrize(
    ("completed", "backlog", "is_held"), [(1_000, 0, True), (995, 99, True), (980, 0, False), (1_000, 100, False)]
)
def test_an_open_loop_is_held_when_rate_and_backlog_are(completed: int, backlog: int, is_held: bool) -> None:
    assert Sample(1.0, report(OPEN, completed, backlog)).is_held is is_held


def test_a_closed_loop_holds_nothing() -> None:
    assert Sample(1.0, report(CLOSED, 1_000)).is_held is None


def test_a_cluster_that_does_not_answer_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise EosctlError("Nobody answers.", "", "")

    monkeypatch.setattr(measuring, "connect", refuse)
    assert run_once(Rival("a", "127.0.0.1:1", 1), CLOSED, 200, "p", CLOCKS) == Sample(0.0, None, "Nobody answers.")


def test_failures_are_in_the_table_and_the_exit_code() -> None:
    good = side_by_side._item("good", OPEN, [Sample(100.0, report(OPEN, 1_000)), Sample(300.0, report(OPEN, 900, 500))])
    bad = side_by_side._item("bad", OPEN, [Sample(0.0, report(OPEN, 0, errors={"X": 2}), "X x2")])
    run = BenchRun(
        "1", "c0ffee00", False, "3.11", "Linux", 2, 0.5, 0.7, 2, 5.0, {"kfake": "there is no go"}, (good, bad)
    )
    text = render_bench(run)
    assert "200 (100-300)" in text
    assert "1 of 2" in text
    assert "failed: X x2" in text
    assert "kfake was left out: there is no go" in text


@contextmanager
def broken(engine: str, directory: Path, kafka: str, rng: Random) -> Iterator[Rival]:
    if engine == "kfake":
        raise EosctlError("kfake does not compile.", "", "")
    yield Rival(engine, "here:1", 1)


def test_a_failing_engine_is_skipped_unless_requested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(rival: Rival, shape: Shape, duration_ms: int, prefix: str, clocks: Clocks) -> Sample:
        return Sample(100.0, report(shape, 1_000))

    monkeypatch.setattr(measuring, "run_once", run)
    monkeypatch.setattr(rivals, "running", broken)
    monkeypatch.setattr(rivals, "missing_for", lambda engine: "java" if engine == "apache" else "")
    result = side_by_side.measure(side_by_side.parse_options(("--shape", "1x1", "--rounds", "1")))
    assert {found.engine for found in result.results} == {"sandbox"}
    assert result.left_out == {"apache": "there is no java", "kfake": "kfake does not compile."}
    assert side_by_side.main(("--engine", "kfake")) == 1
    assert "kfake does not compile." in capsys.readouterr().err


def test_an_engine_without_its_tools_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert rivals.missing_for("apache") == "java, mvn"
    assert rivals.missing_for("kfake") == "go"
    assert rivals.missing_for("sandbox") == ""


def test_cpu_time_of_a_process_that_has_ended_is_an_error() -> None:
    with pytest.raises(EosctlError, match="has ended"):
        process_cpu_s(2**22 + 1)


def test_spread() -> None:
    assert spread([3.0, 1.0, 2.0]) == (2.0, 1.0, 3.0)
