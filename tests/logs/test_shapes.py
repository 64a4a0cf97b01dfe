"""Prefixes that tools of builds and development print before each line are found by their shape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths

SPRING = (
    (
        "2026-03-04 07:11:01.103  INFO 1 --- [main] o.a.k.c.p.internals.TransactionManager : "
        "[Producer clientId=billing-1, transactionalId=billing-tx-1] ProducerId set to 88 with epoch 2"
    ),
    "2026-03-04 07:12:41.310 ERROR 1 --- [main] o.s.k.core.DefaultKafkaProducerFactory : commitTransaction failed",
    "org.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an error state",
    "\tat com.acme.billing.Billing.close(Billing.java:77)",
    "Caused by: org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same id",
    "",
)
RDKAFKA = (
    "%7|1772608261.103|TXNSTATE|rdkafka#producer-1| [thrd:main]: Transaction state change Ready -> InTransaction",
    (
        "%1|1772608361.310|TXNERR|rdkafka#producer-1| [thrd:main]: Fatal transaction error: Producer fenced by newer "
        "instance: Broker: There is a newer producer with the same transactionalId which fences this one (_FENCED)"
    ),
)
LOGS = {"spring": SPRING, "rdkafka": RDKAFKA}

PREFIXES: dict[str, Callable[[int], str]] = {
    "ant": lambda n: "     [java] ",
    "sbt": lambda n: "[info] ",
    "maven": lambda n: "[INFO] [stdout] ",
    "gitlab": lambda n: f"2026-03-04T09:30:0{n}.123456Z 01O ",
    "github": lambda n: f"build\tRun tests\t2026-03-04T09:30:0{n}.1234567Z ",
    "jenkins": lambda n: f"[integration] [2026-03-04T09:30:0{n}.123Z] ",
    "teamcity": lambda n: f"[09:30:0{n}] : [Step 1/2] ",
    "foreman": lambda n: f"09:30:0{n} web.1   | ",
    "concurrently": lambda n: "[0] ",
    "turborepo": lambda n: "@acme/billing:test: ",
    "tilt": lambda n: "billing \u2502 ",
    "go test": lambda n: "    producer_test.go:45: ",
    "xunit": lambda n: f"[xUnit.net 00:00:0{n}.23]     ",
    "docker build": lambda n: f"#12 {n}.231 ",
    "standard output": lambda n: "STDOUT: ",
    "both streams": lambda n: "STDOUT: " if n % 2 else "STDERR: ",
}


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("tool", PREFIXES)
def test_records_are_complete_behind_a_prefix(tool: str, log: str, tmp_path: Path) -> None:
    lines = LOGS[log]
    (tmp_path / "billing.log").write_text("\n".join(f"{PREFIXES[tool](n)}{line}" for n, line in enumerate(lines)))
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "billing.log").write_text("\n".join(lines))
    events = scan_paths([tmp_path / "billing.log"]).events
    plain = scan_paths([tmp_path / "plain" / "billing.log"]).events
    assert [event.category for event in events] == [event.category for event in plain]
    assert [(e.time_ms, e.exception, e.fields, e.application) for e in events] == [
        (e.time_ms, e.exception, e.fields, e.application) for e in plain
    ]


def test_programs_with_prefixes_are_distinct(tmp_path: Path) -> None:
    lines = [
        *(f"[billing] {line}" for line in SPRING),
        *(f"[cart]    {line}" for line in SPRING),
    ]
    (tmp_path / "dev.log").write_text("\n".join(lines))
    events = scan_paths([tmp_path]).events
    assert {event.application for event in events if event.category == "PRODUCER_FENCED"} == {"billing", "cart"}


def test_a_record_without_a_time_has_the_time_of_its_prefix(tmp_path: Path) -> None:
    lines = ("[main] ERROR a.B - cannot commit", "java.lang.IllegalStateException: failed", "[main] ERROR a.B - again")
    text = "\n".join(f"[it] [2026-03-04T09:30:0{n}.123Z] {line}" for n, line in enumerate(lines))
    (tmp_path / "app.log").write_text(text)
    first, second = scan_paths([tmp_path]).events
    assert (second.time_ms - first.time_ms, first.exception is not None) == (2000, True)


def test_output_of_a_container_in_a_tests_log_is_its_own(tmp_path: Path) -> None:
    head = "07:11:01.123 [docker-java-stream-7] INFO  tc.kafka - STDOUT: "
    own = "07:11:02.500 [main] ERROR c.a.BillingTest - commit refused"
    broker = (
        (
            "[2026-03-04 07:11:02,103] ERROR [ReplicaManager broker=1] Error processing append operation on partition"
            " a-1 (kafka.server.ReplicaManager)"
        ),
        "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR",
        "[2026-03-04 07:11:03,103] INFO done (a.B)",
    )
    (tmp_path / "test.log").write_text("\n".join((*(head + line for line in broker[:2]), own, head + broker[2])))
    found = {event.category: event.application for event in scan_paths([tmp_path]).events}
    assert found == {"NOT_ENOUGH_REPLICAS": "container", "UNCLASSIFIED": "test"}


def test_levels_before_timestamps_are_not_a_prefix(tmp_path: Path) -> None:
    lines = (f"INFO  2026-03-04 07:11:0{n},103 [shard 0:main] cluster - feature.cc:77 - ready" for n in range(9))
    (tmp_path / "redpanda.log").write_text("\n".join(lines))
    assert scan_paths([tmp_path]).sources[0].layout == "redpanda"


def test_a_test_may_print_less_than_its_runner(tmp_path: Path) -> None:
    runner = ("> Task :billing:test", "", "BillingTest > commits() STANDARD_OUT", *(f"    {line}" for line in SPRING))
    after = ("", "BillingTest > commits() FAILED", "1 test completed, 1 failed", "BUILD FAILED in 12s")
    (tmp_path / "build.log").write_text("\n".join((*runner, *after)))
    events = scan_paths([tmp_path]).events
    assert [event.category for event in events][:2] == ["INIT_PRODUCER_ID", "PRODUCER_FENCED"]
