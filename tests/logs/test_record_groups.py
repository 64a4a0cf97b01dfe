"""Groups of unexplained records: any division of the records gives the same groups."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.logs.incidents.remaining.record_groups import (
    QUOTED_AT_EACH_END,
    TEMPLATES_OF_A_LOGGER,
    from_json,
    group_unexplained,
    merge_groups,
    to_json,
)
from eosctl.model.log_event import UNCLASSIFIED, LogEvent

WORDS = [f"failure {chr(97 + number)}" for number in range(TEMPLATES_OF_A_LOGGER + 3)]

EVENTS = st.lists(
    st.builds(
        lambda known, level, logger, text, name, time_ms: LogEvent(
            file="a.log",
            offset=0,
            line=1,
            time_ms=time_ms,
            time_assumed=False,
            level=level,
            thread="",
            logger=logger,
            application="app",
            host="",
            category="COORDINATOR_LOAD_FAILED" if known else UNCLASSIFIED,
            fields={"transactional_id": name, "producer_id": name} if name else {},
            exception=None,
            message=text,
        ),
        st.booleans(),
        st.sampled_from(["ERROR", "FATAL"]),
        st.sampled_from(["", "a.B"]),
        st.sampled_from(WORDS),
        st.sampled_from(["", "orders", "payments"]),
        st.one_of(st.none(), st.integers(0, 20)),
    ),
    max_size=80,
).map(lambda events: [event._replace(offset=place, line=place) for place, event in enumerate(events)])


@given(EVENTS, st.integers(1, 5), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_parts_give_the_groups_of_all_records(events: list[LogEvent], count: int, chosen: random.Random) -> None:
    whole = group_unexplained(events)
    chosen.shuffle(events)
    parts = [group_unexplained(events[place::count]) for place in range(count)]
    assert merge_groups(one for part in parts for one in from_json(to_json(part))) == whole
    assert sum(one.record_count for one in whole) == len(events)
    assert len({one.key for one in whole}) == len(whole)


@given(EVENTS)
@settings(max_examples=50, deadline=None)
def test_a_group_is_bounded_in_size(events: list[LogEvent]) -> None:
    templates = Counter()  # type: Counter[tuple[str, str, bool]]
    for one in group_unexplained(events * 3):
        assert len(one.quoted) == min(one.record_count, 2 * QUOTED_AT_EACH_END)
        assert all(len(values) <= 2 for _, values in one.names)
        templates[one.key.kind, one.key.name, one.key.is_fatal] += one.key.template is not None
    assert max(templates.values(), default=0) <= TEMPLATES_OF_A_LOGGER
