"""Any message that a version can carry comes back from its bytes."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eosctl.wire.codec import load_message
from tests.wire.strategies import Subject, plain, subjects
from tests.wire.vectors import MESSAGES

SUBJECTS = subjects()


def draw_cases(subject: Subject) -> st.SearchStrategy[tuple[int, Any]]:
    return st.one_of([st.tuples(st.just(version), subject.values(layout)) for version, layout in subject.layouts])


def test_every_message_is_a_subject() -> None:
    assert set(SUBJECTS) == set(MESSAGES)


@pytest.mark.parametrize("name", sorted(SUBJECTS))
def test_messages_round_trip(name: str) -> None:
    """The profile `prove` draws a hundred times as many."""
    subject = SUBJECTS[name]
    many = settings.default.max_examples // 100

    @settings(
        max_examples=many * (8 + 2 * len(subject.layouts)), suppress_health_check=list(HealthCheck), database=None
    )
    @given(draw_cases(subject), st.binary(max_size=3), st.binary(max_size=3))
    def check(case: tuple[int, Any], before: bytes, after: bytes) -> None:
        version, message = case
        decode, encode = load_message(MESSAGES[name], version)
        wire = encode(message)
        decoded, end = decode(before + wire + after, len(before))
        assert plain(decoded) == plain(message)
        assert end == len(before) + len(wire)
        assert encode(decoded) == wire

    check()
