"""A machine's clock that is set while a coordinator runs there is the cause of the rollbacks after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident

STEPS = {
    "chronyd": "chronyd[611]: System clock was stepped by {} seconds",
    "ntpd": "ntpd[700]: time reset +{} s",
    "ntpdate": "ntpdate[700]: step time server 192.0.2.4 offset {} sec",
}
ROLLBACK = (
    "Mar  4 0{hour}:30:0{second} hub-2 kafka[90]: [2026-03-04 0{hour}:30:0{second},500] INFO [TransactionCoordinator "
    "id=2] Completed rollback of ongoing transaction for transactionalId {name} due to timeout "
    "(kafka.coordinator.transaction.TransactionCoordinator)\n"
)
REFUSED = (
    "2026-03-04 0{hour}:30:05,900 ERROR [main] o.a.k.c.p.i.TransactionManager - [Producer clientId=w, "
    "transactionalId=well-1] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an old epoch\n"
)


def journal(step: str, hour: int = 5, host: str = "hub-2") -> str:
    lines = "Mar  4 03:00:01 hub-2 CRON[4]: (root) CMD (run-parts /etc/cron.hourly)\n"
    lines += f"Mar  4 0{hour}:30:00 {host} {step}\n"
    lines += "".join(
        ROLLBACK.format(hour=hour, second=second, name=name) for second, name in ((4, "well-1"), (5, "pump-9"))
    )
    return f"{lines}Mar  4 0{hour}:31:00 hub-2 sshd[9]: Received disconnect from 192.0.2.9 port 22\n"


def judge_files(folder: Path, files: dict[str, str]) -> list[Incident]:
    for name, text in files.items():
        (folder / name).write_text(text)
    scan = scan_paths([folder])
    assert all(source.sample_unmatched_count == 0 for source in scan.sources)
    return list(judge_incidents(scan.events, scan.sources))


@pytest.mark.parametrize("service", STEPS)
def test_a_step_explains_the_rollbacks_and_refusals_after_it(service: str, tmp_path: Path) -> None:
    files = {"hub-2.syslog": journal(STEPS[service].format("7200.250000")), "wells.log": REFUSED.format(hour=5)}
    (found,) = judge_files(tmp_path, files)
    assert (found.kind, found.root_cause) == ("clock_stepped", "clock-set-forward")
    assert found.subject["host"] == "hub-2" and found.subject["broker"] == "2"
    assert found.subject["transactional.ids"] == ("pump-9", "well-1")
    assert "2 h" in found.explanation and "time source is wrong" not in found.explanation
    assert {Path(place.file).name for place in found.evidence} == {"hub-2.syslog", "wells.log"}


def test_a_step_that_is_found_wrong_has_the_time_of_the_clients(tmp_path: Path) -> None:
    text = journal(STEPS["chronyd"].format("7200.250000"))
    text += "Mar  4 05:34:00 hub-2 chronyd[611]: System clock wrong by -7200.249000 seconds\n"
    (found,) = judge_files(tmp_path, {"hub-2.syslog": text, "wells.log": REFUSED.format(hour=3)})
    assert found.kind == "clock_stepped" and "time source is wrong" in found.explanation
    assert found.t_end_ms - found.t_start_ms < 10_000
    assert "wells.log" in {Path(place.file).name for place in found.evidence}


@pytest.mark.parametrize(
    ("step", "host"),
    [(STEPS["chronyd"].format("0.812000"), "hub-2"), (STEPS["ntpd"].format("7200.25"), "web-1")],
)
def test_a_small_step_or_another_machine_explains_nothing(step: str, host: str, tmp_path: Path) -> None:
    found = judge_files(tmp_path, {"hub-2.syslog": journal(step, host=host)})
    assert {one.kind for one in found} == {"transaction_timeout"}


def test_a_step_without_rollbacks_is_not_an_incident(tmp_path: Path) -> None:
    text = journal(STEPS["chronyd"].format("7200.250000"))
    assert judge_files(tmp_path, {"messages.log": "\n".join(text.split("\n")[:2]) + "\n"}) == []
