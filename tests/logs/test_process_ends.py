"""The exit code of a process and its last error are one incident, and clients that miss its host report an effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

STARTED = "node-1  | INFO  2026-07-03 09:30:10,551 [shard 0] main - application.cc:341 - Redpanda v23.2.13 - 07caacd6\n"
REFUSED = "node-1  | ERROR 2026-07-03 09:30:11,906 [shard 3] seastar - Could not setup Async I/O: not enough requests\n"
EXITED = "node-1 exited with code {}\n"
NOT_FOUND = (
    'ui-1  | {{"level":"warn","ts":"2026-07-03T09:30:{}.112Z","msg":"unable to open connection to broker","source":'
    '"kafka_client","addr":"{}:9092","err":"dial tcp: lookup {} on 127.0.0.11:53: no such host"}}\n'
)
UNIT = (
    "Jul  3 09:30:11 host-2 tiles-sink[418]: 2026-07-03 09:30:11,401 ERROR tiles.sink: cannot load the keystore for "
    "the Kafka producer: Permission denied\n"
    "Jul  3 09:30:12 host-2 systemd[1]: tiles-sink.service: Main process exited, code=exited, status=1/FAILURE\n"
)
FATAL = (
    "node-1  | [2026-07-03 09:30:11,702] ERROR Exiting Kafka due to fatal exception during startup. (kafka.Kafka$)\n"
    "node-1  | java.lang.IllegalArgumentException: requirement failed: advertised.listeners cannot use 0.0.0.0\n"
)
DATABASE = "db-1  | 2026-07-03 09:30:11,000 ERROR database: relation x does not exist\ndb-1 exited with code 1\n"


def lost(host: str) -> str:
    return "".join(NOT_FOUND.format(second, host, host) for second in (14, 16))


def test_an_unknown_error_is_quoted_with_the_exit(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"compose.log": STARTED + REFUSED + EXITED.format(1) + lost("node-1")})
    assert (one.kind, one.severity) == ("process_ended_by_an_error", Severity.CRITICAL)
    assert "Could not setup Async I/O" in one.explanation
    assert "exited with code 1" in one.explanation
    assert "Effect: ui-1 cannot resolve node-1" in one.explanation
    assert len(one.evidence) == 4


def test_another_host_is_not_an_effect(tmp_path: Path) -> None:
    found = judge(tmp_path, {"compose.log": STARTED + REFUSED + EXITED.format(1) + lost("node-2")})
    assert [one.kind for one in found] == ["process_ended_by_an_error", "host_not_resolved"]


def test_a_unit_of_systemd_ends_with_its_error(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"journal.log": UNIT})
    assert (one.kind, one.severity) == ("process_ended_by_an_error", Severity.ERROR)
    assert "Permission denied" in one.explanation


def test_an_exit_joins_the_incident_of_its_error(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"compose.log": FATAL + EXITED.format(1)})
    assert one.kind == "server_ended_by_a_fault"
    assert one.explanation.endswith("Its process exited with code 1.")


def test_a_process_that_was_started_again_works(tmp_path: Path) -> None:
    again = STARTED.replace("09:30:10", "09:30:20") + STARTED.replace("09:30:10", "09:35:10")
    (one,) = judge(tmp_path, {"compose.log": STARTED + REFUSED + EXITED.format(1) + again})
    assert one.severity is Severity.WARNING
    assert "started again" in one.explanation


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(STARTED + EXITED.format(1), id="without an error"),
        pytest.param(STARTED + EXITED.format(0), id="code 0"),
        pytest.param(STARTED + EXITED.format(143), id="SIGTERM"),
        pytest.param(STARTED + DATABASE, id="another program"),
    ],
)
def test_other_exits_cause_no_incident(tmp_path: Path, text: str) -> None:
    assert judge(tmp_path, {"compose.log": text}) == []
