"""A pasted session of a shell: what a command prints is not a part of the record above its prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths

LOG = "[2026-05-06 08:26:17,600] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
TIMED_OUT = "Timeout expired after 60000 milliseconds while awaiting InitProducerId\n"
ENDED = "[2026-05-06 08:27:17,600] INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{LOG}\n$ ksql\n{TIMED_OUT}", [("BROKER_START", 1), ("TIMEOUT_INIT_PID", 3)]),
        (f"{LOG}\n$ ksql\n{TIMED_OUT}{ENDED}", [("BROKER_START", 1), ("TIMEOUT_INIT_PID", 3), ("BROKER_STOPPED", 5)]),
        (f"$ tail server.log\n{LOG}{ENDED}", [("BROKER_START", 2), ("BROKER_STOPPED", 3)]),
    ],
    ids=["last", "between", "before"],
)
def test_a_prompt_ends_the_record_above_it(text: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    (tmp_path / "session.txt").write_text(text)
    events = scan_paths([tmp_path]).events
    assert [(event.category, event.line) for event in events] == expected
    assert [event.application == "shell" for event in events] == [name == "TIMEOUT_INIT_PID" for name, _ in expected]


def test_a_price_in_a_message_is_not_a_prompt(tmp_path: Path) -> None:
    below = "java.lang.IllegalStateException: amount\n  $ 12 is too much\n$12 as well\n"
    (tmp_path / "server.log").write_text(LOG.replace("INFO", "ERROR").replace("started", "failed\n" + below) + ENDED)
    assert all(event.application != "shell" for event in scan_paths([tmp_path]).events)


def test_each_of_many_equal_sessions_is_read(tmp_path: Path) -> None:
    (tmp_path / "session.txt").write_text(f"{LOG}\n$ ksql\n{TIMED_OUT}" * 9)
    events = scan_paths([tmp_path]).events
    assert sum(event.category == "TIMEOUT_INIT_PID" for event in events) == 9
