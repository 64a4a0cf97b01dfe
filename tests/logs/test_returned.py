"""A report lists equal incidents once, however long the pauses between them are."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.incidents.joining.repeats import RETURNS, fold_returned
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.severity import Severity
from eosctl.services.log_findings import collect_log_findings

HOUR_MS = 3_600_000
REFUSED = (
    "2026-01-19 0{}:00:00,412 ERROR [main] o.a.k.c.c.i.ConsumerCoordinator - [Consumer clientId=m-1, groupId=meter] "
    "Offset commit failed on partition readings-0 at offset {}: The request timed out.\n"
)


def fault(at_ms: int, group: str, cause: str = "cause") -> Incident:
    place = (EvidenceLine("app.log", at_ms, at_ms + 1),)
    return Incident("late", cause, Severity.ERROR, 0.6, {"group": group}, at_ms, at_ms + 100, place, f"At {at_ms}.", "")


def test_equal_incidents_are_one_with_their_number() -> None:
    (one,) = fold_returned(fault(hour * HOUR_MS, "a") for hour in (2, 0, 5, 1))
    assert (one.t_start_ms, one.t_end_ms) == (0, 5 * HOUR_MS + 100)
    assert one.explanation.startswith("At 18000000. The same happened 3 times before, first at 1970-01-01T00:00:00")
    assert [place.offset for place in one.evidence] == [0, HOUR_MS, 2 * HOUR_MS, 5 * HOUR_MS]


@given(st.lists(st.tuples(st.integers(0, 10**9), st.sampled_from("ab"), st.sampled_from("xy")), max_size=20))
def test_what_differs_or_is_rare_stays_apart(found: list[tuple[int, str, str]]) -> None:
    incidents = [fault(*one) for one in found]
    folded = fold_returned(incidents)
    counts = {(group, cause): sum(one[1:] == (group, cause) for one in found) for group in "ab" for cause in "xy"}
    assert len(folded) == sum(1 if count >= RETURNS else count for count in counts.values())
    assert [one.t_start_ms for one in folded] == sorted(one.t_start_ms for one in folded)
    assert {one.t_end_ms for one in folded} <= {one.t_end_ms for one in incidents}


def test_a_fault_every_other_hour_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("".join(REFUSED.format(hour, 400 + hour) for hour in (1, 3, 5, 7, 9)))
    (one,) = collect_log_findings([tmp_path / "app.log"]).incidents
    assert one.subject["group"] == "meter"
    assert one.t_end_ms - one.t_start_ms == 8 * HOUR_MS
    assert "The same happened 4 times before" in one.explanation
