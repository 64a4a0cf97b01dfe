"""Several programs that write into one file without a label: each has its own ids, and its own faults."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

LINE = "2026-11-21 09:29:{} {} [{}] {} - {}\n"
TOO_LARGE = (
    "org.apache.kafka.common.errors.RecordTooLargeException: The message is 2097240 bytes when serialized which is "
    "larger than 1048576, which is the value of the max.request.size configuration.\n"
)
FENCED = "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer.\n"


def named(second: str, transactional_id: str, thread: str, text: str = "ProducerId set to 7 with epoch 0") -> str:
    message = f"[Producer clientId=c-{transactional_id}, transactionalId={transactional_id}] {text}"
    return LINE.format(second, "INFO", thread, "o.a.k.clients.producer.KafkaProducer", message)


def failed(second: str, thread: str, logger: str, cause: str) -> str:
    return LINE.format(second, "ERROR", thread, logger, "cannot go on") + cause


def test_each_thread_has_the_id_that_it_named(tmp_path: Path) -> None:
    text = (
        named("01.000", "pay-1", "pay") + named("02.000", "bill-1", "bill") + failed("05.000", "pay", "a.P", TOO_LARGE)
    )
    (found,) = judge(tmp_path, {"all.log": text})
    assert (found.kind, found.subject["transactional.id"]) == ("record_too_large", "pay-1")


def test_two_programs_with_the_same_fault_are_two_incidents(tmp_path: Path) -> None:
    fault = "cannot go on, transactional.id={}"
    text = "".join(
        LINE.format(second, "ERROR", "main", "a.Pay", fault.format(one)) + TOO_LARGE
        for second, one in (("05.000", "pay-1"), ("05.100", "bill-1"))
    )
    found = judge(tmp_path, {"all.log": text})
    assert [one.subject["transactional.id"] for one in found] == ["pay-1", "bill-1"]


def test_two_instances_of_one_id_that_share_a_log(tmp_path: Path) -> None:
    started = "Instantiated a transactional producer."
    first = named("01.000", "pay-1", "main", started) + named("02.000", "pay-1", "io")
    second = named("11.000", "pay-1", "main", started) + named(
        "12.000", "pay-1", "io", "ProducerId set to 7 with epoch 1"
    )
    refused = failed("15.000", "main", "a.Pay", FENCED)
    (found,) = judge(tmp_path / "both live", {"all.log": first + second + refused})
    assert (found.kind, found.root_cause) == ("producer_fenced", "duplicate-transactional-id")
    assert found.confidence > 0.9
    closed = named("10.000", "pay-1", "main", "Closing the Kafka producer with timeoutMillis = 5000 ms.")
    (found,) = judge(tmp_path / "one ended", {"all.log": first + closed + second + refused})
    assert found.confidence == 0.5


def test_streams_starts_the_producer_of_a_thread_anew(tmp_path: Path) -> None:
    own = "clicks-2e7be7ea-b0ce-40d3-b1a6-96ec9321eae9-1"
    started = "Instantiated a transactional producer."
    text = named("01.000", own, "main", started) + named("11.000", own, "main", started)
    found = judge(tmp_path, {"all.log": text + failed("15.000", "main", "a.Pay", FENCED)})
    assert "producer_fenced" not in [one.kind for one in found]


def test_a_group_of_another_program_is_not_the_victims(tmp_path: Path) -> None:
    group = LINE.format("03.000", "INFO", "loop", "a.Other", "joined, transactional.id=bill-1 group.id=bills")
    text = named("01.000", "pay-1", "pay") + group + failed("05.000", "pay", "a.Pay", FENCED)
    (found,) = judge(tmp_path, {"all.log": text})
    assert (found.subject["transactional.id"], found.subject.get("group")) == ("pay-1", None)


def test_streams_that_share_a_log_fail_each_for_itself(tmp_path: Path) -> None:
    thread = "{}-2e7be7ea-b0ce-40d3-b1a6-96ec9321eae9-StreamThread-1"
    death = "stream-client [{}] Encountered the following exception during processing and the registered exception "
    death += "handler opted to REPLACE_THREAD."
    text = "".join(
        LINE.format(second, "ERROR", thread.format(one), "o.a.k.s.KafkaStreams", death.format(thread.format(one)))
        for second, one in (("05.000", "clicks"), ("05.100", "views"))
    )
    found = judge(tmp_path, {"all.log": text})
    assert [one.subject["application.id"] for one in found] == ["clicks", "views"]
