"""What the long runs judge by, and a few moments of each of them: growth, and kill -9 of a whole sandbox."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from hypothesis import given
from hypothesis import strategies as st

from eosctl.lab.verify.play import NemesisKind
from eosctl.lab.verify.report import Verdict
from eosctl.sandbox.process.spec import SandboxSpec
from scripts.endurance.growth import BOUNDS, MIB, Sample, judge_growth
from scripts.endurance.kill_nine import kill_often
from scripts.endurance.rounds import Round, Work
from scripts.endurance.sandbox_process import SandboxProcess, free_ports
from scripts.endurance.soak import replicas_of

HOUR_S = 3_600


def samples(leak_per_hour: int, noise: list[int], quantity: str = "resident") -> list[Sample]:
    """An hour of samples every ten seconds, in waves as rounds make them; one quantity leaks."""
    steady = Sample(0.0, 80 * MIB, 100, 300, 20 * MIB)
    return [
        steady._replace(
            at_s=float(at_s),
            **{quantity: getattr(steady, quantity) + noise[at_s // 10 % len(noise)] + leak_per_hour * at_s // HOUR_S},
        )
        for at_s in range(0, HOUR_S, 10)
    ]


@pytest.mark.parametrize("quantity", list(BOUNDS))
@given(noise=st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_waves_are_not_growth_but_a_leak_is(quantity: str, noise: list[int]) -> None:
    bound = BOUNDS[quantity]
    unit = max(1, bound // 20)  # waves of up to a quarter of what is allowed
    noise = [size * unit for size in noise]
    steady = judge_growth(samples(0, noise, quantity), HOUR_S / 4)
    assert all(one.holds for one in steady)
    # Half an hour lies between the middles of the first and the last third of the 45 minutes that count.
    leaking = judge_growth(samples(3 * bound, noise, quantity), HOUR_S / 4)
    assert [one.quantity for one in leaking if not one.holds] == [quantity]


def test_growth_in_the_warm_up_does_not_count() -> None:
    filled = [
        one if one.at_s >= HOUR_S / 4 else one._replace(resident=int(one.resident * one.at_s / HOUR_S))
        for one in samples(0, [0])
    ]
    assert all(one.holds for one in judge_growth(filled, HOUR_S / 4))


def test_a_few_samples_decide_nothing() -> None:
    with pytest.raises(ValueError, match="decide nothing"):
        judge_growth(samples(0, [0])[:5], 0)


def test_a_cluster_that_contradicts_itself_is_seen() -> None:
    partition = {"topic": "a", "partition": 0, "leader": 1, "leader_epoch": 0, "isr": [1]}
    offsets = {"last_stable_offset": 5, "high_watermark": 4, "log_end_offset": 6}
    (seen,) = replicas_of({"partitions": [{**partition, **offsets}, partition]}, 0)
    assert (seen.last_stable_offset, seen.high_watermark, seen.log_end_offset) == (5, 4, 6)


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few of the proof's thousand kills, some of them in a start."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    spec = SandboxSpec("killed", str(tmp_path / "data"), port_base=free_ports(1), fast=True)
    sandbox = SandboxProcess(spec)
    sandbox.start()
    try:
        work = Work(duration_s=2, rate_per_s=5, nemeses=(NemesisKind.BROKERS,), gap_ms=400, seed=7)
        rounds: list[Round] = []
        # One round; more on a machine on which a start takes longer than the transactions have.
        while not any(done.verdict is Verdict.CLEAN for done in rounds):
            rounds += asyncio.run(kill_often(sandbox, work, sandbox.kill_count + 2))
            assert {(done.anomaly_counts, done.findings) for done in rounds} == {((), ())}
    finally:
        sandbox.stop()
    assert sandbox.kill_count >= 2
    assert {done.verdict for done in rounds} <= {Verdict.CLEAN, Verdict.UNDECIDED}


def test_a_topic_that_was_made_anew_survives_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start replays the metadata log, in which the topic before it is created and deleted."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    sandbox = SandboxProcess(SandboxSpec("anew", str(tmp_path / "data"), port_base=free_ports(1), fast=True))
    sandbox.start()
    try:
        servers = {"bootstrap.servers": f"127.0.0.1:{sandbox.spec.port_base}"}
        admin = AdminClient(servers)
        for count in (3, 7):
            admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result()
            producer = Producer(servers)
            for _ in range(count):
                producer.produce("orders", b"x", partition=0)
            assert producer.flush(60) == 0
            if count == 3:
                admin.delete_topics(["orders"])["orders"].result()
        for _ in range(2):
            sandbox.kill()
            sandbox.start()
            consumer = Consumer(servers | {"group.id": "readers"})
            assert consumer.get_watermark_offsets(TopicPartition("orders", 0), 60) == (0, 7)
            consumer.close()
    finally:
        sandbox.stop()
