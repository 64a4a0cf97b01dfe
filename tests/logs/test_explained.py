"""Explanations between incidents follow the rules for each pair, without a check of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.hot_paths import bytecodes
from eosctl.logs.incidents.explained import AFTER_MS, CERTAIN, EXPLANATIONS, Causes, Explains, spans_of
from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity

KINDS = sorted({kind for rule in EXPLANATIONS for kind in (rule.cause, *rule.consequences, *rule.echoes)})
NAMES = ("transactional.id", "group", "application.id", "producerId")


def incident(
    kind: str,
    start_ms: int,
    end_ms: int,
    subject: dict[str, str | tuple[str, ...]],
    cause: str,
    confidence: float = 1.0,
) -> Incident:
    return Incident(kind, cause, Severity.ERROR, confidence, subject, start_ms, end_ms, (), "", "")


subjects = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(("a", "b", "a-1", "a-1-2", "b-1")), max_size=2)
times = st.integers(0, 60).map(lambda seconds: 1_000 * seconds)
incidents = st.lists(
    st.builds(
        lambda kind, start_ms, length_ms, subject, cause, confidence: incident(
            kind, start_ms, start_ms + length_ms, subject, cause, confidence
        ),
        st.sampled_from(KINDS),
        times,
        times,
        subjects,
        st.sampled_from(("duplicate-transactional-id", "another")),
        st.sampled_from((0.5, CERTAIN, 1.0)),
    ),
    max_size=12,
)


def explains(cause: Incident, one: Incident) -> bool:
    """Return whether the rules for a pair explain an incident."""
    if one.root_cause == "duplicate-transactional-id" and one.confidence >= CERTAIN:
        return False
    rule = next((rule for rule in EXPLANATIONS if rule.cause == cause.kind), None)
    is_own = one.confidence >= CERTAIN or one.root_cause == "duplicate-transactional-id"
    if rule is None or one.kind not in (rule.consequences if is_own else explained_in_doubt(rule)):
        return False
    if not cause.t_start_ms - rule.before_ms <= one.t_start_ms <= cause.t_end_ms + AFTER_MS:
        return False
    return not rule.same_subject or share(cause, one)


def explained_in_doubt(rule: Explains) -> frozenset[str]:
    return rule.consequences | rule.echoes


def share(cause: Incident, one: Incident) -> bool:
    owners = [
        {side.subject[name] for name in ("application.id", "group") if name in side.subject} for side in (cause, one)
    ]
    owner = cause.subject.get("application.id") or cause.subject.get("group")
    threads = str(one.subject.get("transactional.id", "")).startswith(f"{owner}-") or any(
        str(cause.subject.get("transactional.id", "")).startswith(f"{other}-") for other in owners[1]
    )
    same = any(name in cause.subject and cause.subject[name] == one.subject.get(name) for name in NAMES)
    return same or bool(owners[0] & owners[1]) or threads


@given(incidents)
def test_an_incident_is_explained_by_the_rules_of_pairs(found: Sequence[Incident]) -> None:
    causes = Causes(found)
    for one in found:
        assert causes.explain(one) == any(explains(other, one) for other in found)


@given(incidents, times, times)
def test_intervals_return_the_incidents_that_overlap(found: Sequence[Incident], start_ms: int, length_ms: int) -> None:
    end_ms = start_ms + length_ms
    wanted = [one for one in found if one.t_start_ms <= end_ms and one.t_end_ms >= start_ms]
    spans = spans_of(found)
    assert sorted(map(id, spans.touching(start_ms, end_ms))) == sorted(map(id, wanted))
    assert spans.has(start_ms, end_ms) == bool(wanted)


@pytest.mark.parametrize(
    ("cause", "consequence"), [("producer_fenced", "unclean_stop"), ("not_enough_replicas", "broker_crash")]
)
def test_twice_as_many_incidents_are_twice_as_much_work(cause: str, consequence: str) -> None:
    """All incidents overlap, each with its own id: a check of every pair would take four times the work."""

    def work(count: int) -> int:
        found = [
            incident(kind, 0, 0, {"transactional.id": f"t{number}"}, "")
            for number in range(count)
            for kind in (cause, consequence, "record_too_large")
        ]

        def explain_all() -> None:
            causes = Causes(found)
            assert sum(map(causes.explain, found)) == count

        return bytecodes(explain_all)

    assert work(400) < 2.2 * work(200)


def test_twice_the_rejected_producers_take_twice_the_work(tmp_path: Path) -> None:
    def work(count: int) -> int:
        path = tmp_path / f"relay-{count}.log"
        refused = (
            "2026-11-21 09:29:{:02d},000 ERROR [main] a.Relay - [Producer clientId=p, transactionalId=t-{}] failed\n"
            "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer.\n"
        )
        path.write_text("".join(refused.format(number % 60, number) for number in range(count)))
        scan = scan_paths([path])
        (found,) = judge_incidents(scan.events, scan.sources)
        assert f"{count} transactional ids" in found.explanation
        return bytecodes(lambda: judge_incidents(scan.events, scan.sources))

    assert work(300) < 2.2 * work(150)


def test_a_late_corrupt_store_explains_the_earlier_stop() -> None:
    subject = {"application.id": "totals"}
    stop, corrupt = (
        incident(kind, at, at, subject, "") for kind, at in (("unclean_stop", 0), ("task_corrupted", 7_000))
    )
    assert Causes([stop, corrupt]).explain(stop)
