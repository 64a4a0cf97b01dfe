"""Repeated readings of a cluster: pauses, failures, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.errors import EosctlError, ExitCode
from eosctl.services.callbacks import Callbacks
from eosctl.services.connection import Connection
from eosctl.services.gate_options import GateOptions
from eosctl.services.stopwatch import Stopwatch
from eosctl.services.watch_diagnosis import WatchRequest, watch_diagnosis
from eosctl.testing import SandboxThread

pytestmark = pytest.mark.usefixtures("own_home")
QUICK = 2_000


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Pauses:
    """A stopwatch on which every reading takes the same time."""

    def __init__(self, look_s: float) -> None:
        self.look_s, self.now = look_s, 0.0
        self.made: list[float] = []
        self.stopwatch = Stopwatch(self._time, self._pause)

    def _time(self) -> float:
        self.now += self.look_s
        return self.now

    def _pause(self, seconds: float) -> None:
        self.made.append(seconds)


@pytest.mark.parametrize(("look_s", "pause_s"), [(1, 30), (10, 40)])
def test_slow_readings_are_taken_less_often(look_s: float, pause_s: float) -> None:
    pauses = Pauses(look_s)
    with SandboxThread(brokers=1) as cluster:
        request = WatchRequest(Connection(cluster.bootstrap), count=2, second_look_after_ms=0)
        watch = watch_diagnosis(request, stopwatch=pauses.stopwatch)
        looks = list(watch.looks)
    assert len(looks) == 2
    assert pauses.made == [pause_s]
    assert watch.verdict(looks[-1]).exit_code is ExitCode.DONE


def test_a_failed_reading_is_followed_by_another_one() -> None:
    remarks: list[str] = []
    with SandboxThread(brokers=1) as cluster:
        gate = GateOptions(min_score=100)
        request = WatchRequest(
            Connection(cluster.bootstrap, timeout_ms=QUICK), gate=gate, count=3, second_look_after_ms=0
        )
        watch = watch_diagnosis(request, Callbacks(remark=remarks.append), Pauses(0).stopwatch)
        first = next(watch.looks)
        assert remarks == [f"cluster: {cluster.bootstrap}"]
    second, third = watch.looks
    assert not first.error
    assert second.error
    assert third.error
    assert third.diagnosis == first.diagnosis
    assert watch.verdict(third) == watch.verdict(first)


def test_a_cluster_that_never_answered_is_an_error() -> None:
    with SandboxThread(brokers=1) as cluster:
        gone = cluster.bootstrap
    watch = watch_diagnosis(WatchRequest(Connection(gone, timeout_ms=QUICK), count=1))
    with pytest.raises(EosctlError):
        next(watch.looks)
